"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Any, Final, TypeVar

import anyio
from anyio.lowlevel import checkpoint
from anyio.to_thread import current_default_thread_limiter

from gateway.clock import SystemClock

START: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MOST_ROUNDS: Final = 10_000
QUIET_ROUNDS: Final = 3
"""Idle turns of the loop after which no socket can hold anything any more.

What is sent on this machine has arrived when the loop looks again, however busy the machine is.
"""

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


class _Threads(ThreadPoolExecutor):
    """The loop's threads, which tell whether any of them works."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="watched")
        self.busy: set[Future[Any]] = set()

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(*args, **kwargs)
        self.busy.add(future)
        future.add_done_callback(self.busy.discard)
        return future


_errands: Final[dict[object, anyio.Event]] = {}


@contextmanager
def errand() -> Iterator[None]:
    """Have no time pass in a `RestingClock` until another process has answered."""
    key, done = object(), anyio.Event()
    _errands[key] = done
    try:
        yield
    finally:
        del _errands[key]
        done.set()


def _watched_threads() -> _Threads:
    loop = asyncio.get_running_loop()
    found = getattr(loop, "_default_executor", None)
    if not isinstance(found, _Threads):
        found = _Threads()
        loop.set_default_executor(found)
    return found


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
    threads = _watched_threads()
    ready: Sized = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    limiter = current_default_thread_limiter()
    quiet = 0
    while quiet < QUIET_ROUNDS:
        # Each turn of the loop also looks at the sockets; anyio's checkpoint would take longer
        # than the rest of it.
        await asyncio.sleep(0)
        if _errands:
            await next(iter(_errands.values())).wait()
        quiet = 0 if _errands or ready or threads.busy or limiter.borrowed_tokens else quiet + 1


def _waits(task: asyncio.Task[object]) -> bool:
    waiter = getattr(task, "_fut_waiter", None)
    return waiter is not None and not waiter.done()
