"""One queue per key: work for the same key runs in order, work for different keys in parallel."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

import anyio

from gateway.background import Spawn, Work
from gateway.logs import get_log

K = TypeVar("K", bound=Hashable)


class KeyedQueue(Generic[K]):
    """Queues by key; an error in one piece of work is logged, and the next one runs.

    An idle key keeps no task.
    """

    def __init__(self, name: str, spawn: Spawn) -> None:
        self._name = name
        self._spawn = spawn
        self._queues: dict[K, deque[Work]] = {}
        self._freed = anyio.Event()

    def submit(self, key: K, work: Work) -> None:
        """Append work to the queue of a key."""
        queue = self._queues.get(key)
        if queue is not None:
            queue.append(work)
            return
        self._queues[key] = deque([work])
        self._spawn(self._name, lambda: self._run(key))

    async def idle(self, key: K | None = None) -> None:
        """Wait until all queues are empty, or the queue of one key."""
        while self._queues if key is None else key in self._queues:
            await self._freed.wait()

    async def _run(self, key: K) -> None:
        queue = self._queues[key]
        try:
            while queue:
                try:
                    await queue[0]()
                except Exception as cause:
                    get_log().error("work.failed", name=self._name, exc_info=cause)
                queue.popleft()
        finally:
            del self._queues[key]
            self._freed.set()
            self._freed = anyio.Event()
