"""The two read connections of a store; each SQLite connection belongs to one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Generic, TypeVar

from tape.database.connection import Reader
from tape.errors import StoreUnavailable

R = TypeVar("R", bound=Reader)
T = TypeVar("T")

MAX_INLINE_ENTRIES: Final = 1000  # maximum limit with which a query runs on the event loop's thread


class ReaderPair(Generic[R]):
    """A reader on the event loop's thread for short reads, and one in a thread for long reads."""

    def __init__(self, open_reader: Callable[[], R]) -> None:
        self._open = open_reader
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="tape-reader")
        self._inline: R | None = None
        self._threaded: R | None = None
        self.closed = False

    @property
    def inline(self) -> R:
        self.require_open()
        if self._inline is None:
            self._inline = self._open()
        return self._inline

    async def in_thread(self, read: Callable[[R], T]) -> T:
        self.require_open()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._read, read)

    def require_open(self) -> None:
        """Raise StoreUnavailable if the store is closed."""
        if self.closed:
            raise StoreUnavailable("the tape store is closed: open it again")

    async def close(self) -> None:
        """Wait for a read that is running, then close both readers."""
        self.closed = True
        await asyncio.get_running_loop().run_in_executor(self._executor, self._close_threaded)
        self._executor.shutdown()
        if self._inline is not None:
            self._inline.close()

    def _read(self, read: Callable[[R], T]) -> T:
        if self._threaded is None:
            self._threaded = self._open()
        return read(self._threaded)

    def _close_threaded(self) -> None:
        if self._threaded is not None:
            self._threaded.close()
