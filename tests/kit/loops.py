"""The event loop of the tests: it knows when it is idle, and closes what a test leaves open.

A loop asks its selector to wait when no callback is ready; the selector here notes that.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

LEFT: list[str] = []
"""The connections that were open when their loop ended, since the last test."""

QUIET_ROUNDS: Final = 3
"""Idle turns of the loop after which no socket can hold anything any more.

What is sent on this machine has arrived when the loop looks again, however busy the machine is.
"""


class _Selector(selectors.DefaultSelector):
    """Says when its loop would wait, and no socket has anything for it."""

    def __init__(self) -> None:
        super().__init__()
        self.busy: Callable[[], bool] = bool
        """Whether something is on its way that no socket shows, such as a thread's result."""
        self.waiting: list[asyncio.Future[None]] = []
        """Who waits until the loop is idle."""
        self._quiet = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not self.waiting or (timeout is not None and timeout <= 0) or self.busy():
            self._quiet = 0
            return super().select(timeout)
        events = super().select(0)
        self._quiet = 0 if events else self._quiet + 1
        if self._quiet == QUIET_ROUNDS:
            self._quiet = 0
            for one in self.waiting:
                if not one.done():
                    one.set_result(None)
            self.waiting.clear()
        return events


class _Threads(ThreadPoolExecutor):
    """The loop's threads, with what they work on until the loop has its result."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(thread_name_prefix="watched")
        self.busy: set[Future[Any]] = set()
        self._loop = loop

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run work in a thread, which counts as busy until the loop has heard of its end."""
        future = Future[Any]()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    result = work(*args, **kwargs)
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self.busy.discard, future)

        self.busy.add(future)
        super().submit(run)
        return future


class TidyLoop(asyncio.SelectorEventLoop):
    """Ends connections that nobody ended, and knows when it has nothing to do.

    A task that is cancelled in the very moment in which its connection is made loses it. Python
    would complain whenever it collects garbage, in a test that has nothing to do with it.
    """

    def __init__(self) -> None:
        self._watched = _Selector()
        super().__init__(self._watched)
        self._threads = _Threads(self)
        self.set_default_executor(self._threads)

    async def idle(self, busy: Callable[[], bool]) -> None:
        """Wait until nothing is ready, no thread works, no socket has anything, and not busy."""
        waiter = self.create_future()
        self._watched.busy = lambda: bool(self._threads.busy) or busy()
        self._watched.waiting.append(waiter)
        await waiter

    def close(self) -> None:
        if not self.is_closed():
            transports: Any = self._transports  # type: ignore[attr-defined]
            for one in list(transports.values()):
                if not one.is_closing():
                    LEFT.append(str(one.get_extra_info("peername")))
                one.abort()
            self.run_until_complete(asyncio.sleep(0))  # they end in the loop's next round
        super().close()
