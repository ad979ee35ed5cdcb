"""Trying again what must be written down, for as long as the database is away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from gateway.clock import Clock
from gateway.logs import get_log
from tape.errors import StoreUnavailable

T = TypeVar("T")

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 15.0


async def until_stored(clock: Clock, what: str, write: Callable[[], Awaitable[T]]) -> T:
    """Write, and again with growing waits while the store is unavailable; told once an outage."""
    wait = FIRST_WAIT
    while True:
        try:
            return await write()
        except StoreUnavailable as cause:
            if wait == FIRST_WAIT:
                get_log().error("store.unavailable", waiting=what, why=str(cause))
            await clock.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)
