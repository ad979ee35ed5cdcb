"""Work in order for each key, side by side for different ones; no task stays for an idle key."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

from gateway.logs import get_log

K = TypeVar("K", bound=Hashable)

Work = Callable[[], Awaitable[None]]
Spawn = Callable[[str, Work], None]


class KeyedQueue(Generic[K]):
    """A row of work a key; an error in one piece is logged, and the next one runs."""

    def __init__(self, name: str, spawn: Spawn) -> None:
        self._name = name
        self._spawn = spawn
        self._rows: dict[K, deque[Work]] = {}
        self._freed = anyio.Event()

    def submit(self, key: K, work: Work) -> None:
        """Put work at the end of its key's row."""
        row = self._rows.get(key)
        if row is not None:
            row.append(work)
            return
        self._rows[key] = deque([work])
        self._spawn(self._name, lambda: self._run(key))

    async def idle(self, key: K | None = None) -> None:
        """Wait until nothing is left to do, at all or for one key."""
        while self._rows if key is None else key in self._rows:
            await self._freed.wait()

    async def _run(self, key: K) -> None:
        row = self._rows[key]
        try:
            while row:
                await self._one(row[0])
                row.popleft()
        finally:
            del self._rows[key]
            self._freed.set()
            self._freed = anyio.Event()

    async def _one(self, work: Work) -> None:
        try:
            await work()
        except Exception as cause:
            get_log().error("work.failed", name=self._name, exc_info=cause)
