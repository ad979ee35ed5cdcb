"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Final, TypeVar

import anyio
from anyio.lowlevel import checkpoint
from anyio.to_thread import current_default_thread_limiter

from gateway.clock import SystemClock
from tests.kit.loops import TidyLoop

START: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MOST_ROUNDS: Final = 10_000
T = TypeVar("T")


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

    def jump(self, by: timedelta) -> None:
        """Set the wall clock forward or back; what is waited for is no nearer."""
        self._start += by

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
        """Advance the clock; whoever wakes runs at its own moment, before this returns."""
        await self._settle()
        until = self._passed + seconds
        await self._wake_all(until)
        self._passed = until
        await self._settle()

    async def _wake_all(self, until: float) -> None:
        while self._sleepers and self._sleepers[0][0] <= until:
            self._passed, _, woken = heappop(self._sleepers)
            woken.set()
            await self._settle()

    async def _settle(self) -> None:
        await settle()


class RestingClock(ManualClock):
    """A manual clock for what talks over sockets: time passes only while nothing is on its way.

    The sockets must be this process's own, and the store in memory: its thread is not seen. What
    asks another process, such as a database, says so with `errand`.
    """

    async def run(self, work: Awaitable[T], most: float = 3600.0) -> T:
        """Advance the clock until some work is done, by `most` seconds at most."""
        task = asyncio.ensure_future(work)
        until = self._passed + most
        try:
            await self._settle()
            while not task.done():
                if self._sleepers and self._sleepers[0][0] <= until:
                    await self._wake_all(self._sleepers[0][0])
                else:
                    assert not self._sleepers, f"it takes more than {most} seconds"
                    await asyncio.wait([task], timeout=0.01)
            return task.result()
        finally:
            task.cancel()

    async def advance_to_next(self, most: float) -> None:
        """Wake whoever wakes next, if that is in `most` seconds or less."""
        await self._settle()
        if self._sleepers and self._sleepers[0][0] <= self._passed + most:
            await self._wake_all(self._sleepers[0][0])
        else:
            await asyncio.sleep(0.002)

    async def _settle(self) -> None:
        await rest()


class QuickClock(SystemClock):
    """A clock of the real time for which every wait is short, and which can jump."""

    def __init__(self) -> None:
        self._off = timedelta()

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        return super().now() + self._off

    async def sleep(self, seconds: float) -> None:
        """Wait hardly at all."""
        await super().sleep(min(seconds, 0.003))

    def jump(self, by: timedelta) -> None:
        """Set the clock forward or back."""
        self._off += by


_errands: Final[set[object]] = set()


@contextmanager
def errand() -> Iterator[None]:
    """Have no time pass in a `RestingClock` until another process has answered."""
    key = object()
    _errands.add(key)
    try:
        yield
    finally:
        _errands.remove(key)


async def settle() -> None:
    """Have every other task run until it waits for something.

    anyio's `wait_all_tasks_blocked` does the same with real sleeps in between.
    """
    own = asyncio.current_task()
    for _ in range(MOST_ROUNDS):
        await checkpoint()
        others = (task for task in asyncio.all_tasks() if task is not own)
        if all(_waits(task) for task in others):
            return
    raise AssertionError("the tasks of this test never come to rest")


async def rest() -> None:
    """Have every other task run until nothing is on its way, over this process's sockets either."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, TidyLoop), "time can stand still only on the loop of the tests"
    limiter = current_default_thread_limiter()
    await loop.idle(lambda: bool(_errands or limiter.borrowed_tokens))


def _waits(task: asyncio.Task[object]) -> bool:
    waiter = getattr(task, "_fut_waiter", None)
    return waiter is not None and not waiter.done()
