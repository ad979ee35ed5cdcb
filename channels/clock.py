"""Clocks: UTC dates for timestamps, and monotonic seconds for measuring waits."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

import anyio


class Clock(Protocol):
    """The clock that is passed to all code that reads the time or waits."""

    def now(self) -> datetime:
        """Return the current time in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""

    async def sleep(self, seconds: float) -> None:
        """Sleep for a number of monotonic seconds."""


class SystemClock:
    """The operating system's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


async def wait_at_most(clock: Clock, seconds: float, wait: Callable[[], Awaitable[object]]) -> None:
    """Run `wait`, and cancel it if it takes longer than `seconds` on the clock."""
    async with anyio.create_task_group() as group:

        async def time_out() -> None:
            await clock.sleep(seconds)
            group.cancel_scope.cancel()

        group.start_soon(time_out)
        await wait()
        group.cancel_scope.cancel()


def seconds_ahead(date: str) -> float | None:
    """Return by how much this machine's clock is ahead of a server's, from its `Date` header.

    The header must just have arrived; None if it says no date.
    """
    try:
        theirs = parsedate_to_datetime(date)
    except ValueError:
        return None
    theirs = theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)
    return round((datetime.now(UTC) - theirs).total_seconds(), 1)
