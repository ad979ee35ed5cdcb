"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Final

import anyio
from anyio.lowlevel import checkpoint

START: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MOST_ROUNDS: Final = 10_000


class ManualClock:
    """Time that passes only in `advance`; satisfies the gateway's and the channels' Clock."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._passed = 0.0
        self._order = 0
        self._sleepers: list[tuple[float, int, anyio.Event]] = []

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        """Return the seconds that were advanced."""
        return self._passed

    async def sleep(self, seconds: float) -> None:
        """Wait until so many seconds were advanced."""
        if seconds <= 0:
            await checkpoint()
            return
        self._order += 1
        woken = anyio.Event()
        heappush(self._sleepers, (self._passed + seconds, self._order, woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        """Let time pass; whoever wakes runs at its own moment, before this returns."""
        await settle()
        until = self._passed + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            moment, _, woken = heappop(self._sleepers)
            self._passed = moment
            woken.set()
            await settle()
        self._passed = until
        await settle()


async def settle() -> None:
    """Let every other task run until it waits for something.

    anyio's `wait_all_tasks_blocked` does the same with real sleeps in between.
    """
    own = asyncio.current_task()
    for _ in range(MOST_ROUNDS):
        await checkpoint()
        others = (task for task in asyncio.all_tasks() if task is not own)
        if all(_waits(task) for task in others):
            return
    raise AssertionError("the tasks of this test never come to rest")


def _waits(task: asyncio.Task[object]) -> bool:
    waiter = getattr(task, "_fut_waiter", None)
    return waiter is not None and not waiter.done()
