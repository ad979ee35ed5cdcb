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


class Persist:
    """Knows whether anything waits for the database, and since when."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting = 0
        self._since = 0.0

    def away_for(self) -> float | None:
        """Return for how many seconds the database has been away; None while it is there."""
        return self._clock.monotonic() - self._since if self._waiting else None

    async def until_stored(self, what: str, write: Callable[[], Awaitable[T]]) -> T:
        """Write, and again with growing waits while the store is unavailable."""
        try:
            return await write()
        except StoreUnavailable as cause:
            get_log().error("store.unavailable", waiting=what, why=str(cause))
        if not self._waiting:
            self._since = self._clock.monotonic()
        self._waiting += 1
        try:
            return await self._again(what, write)
        finally:
            self._waiting -= 1

    async def _again(self, what: str, write: Callable[[], Awaitable[T]]) -> T:
        wait = FIRST_WAIT
        while True:
            await self._clock.sleep(wait)
            try:
                done = await write()
            except StoreUnavailable:
                wait = min(wait * 2, LONGEST_WAIT)
            else:
                get_log().info("store.back", written=what)
                return done
