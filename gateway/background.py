"""Run background work in one task group for the whole gateway."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from gateway.logs import get_log

K = TypeVar("K", bound=Hashable)
Work = Callable[[], Awaitable[None]]
Spawn = Callable[[str, Work], None]  # starts work in the background; the log shows the given name


@dataclass(slots=True)
class Background:
    """Starts background work in a task group and logs its errors."""

    _group: TaskGroup | None = None

    def open(self, group: TaskGroup) -> None:
        """Use this task group for all work from now on."""
        self._group = group

    def spawn(self, name: str, work: Work) -> None:
        """Start work if the task group is open and has not been cancelled."""
        if self._group is not None and not self._group.cancel_scope.cancel_called:
            self._group.start_soon(_guard, name, work, name=name)


async def _guard(name: str, work: Work) -> None:
    try:
        await work()
    except Exception as cause:
        get_log().error("background.failed", work=name, exc_info=cause)


@dataclass(slots=True)
class KeyedQueue(Generic[K]):
    """Runs work for the same key in order, and work for different keys in parallel.

    If work fails, the error is logged and the queue continues. A key without work has no task.
    """

    _name: str
    _spawn: Spawn
    _queues: dict[K, deque[Work]] = field(default_factory=dict)
    _freed: anyio.Event = field(default_factory=anyio.Event)

    def submit(self, key: K, work: Work) -> None:
        """Append work to the queue of a key."""
        queue = self._queues.get(key)
        if queue is not None:
            queue.append(work)
            return
        self._queues[key] = deque([work])
        self._spawn(self._name, lambda: self._run(key))

    @property
    def is_busy(self) -> bool:
        """Whether work runs or waits."""
        return bool(self._queues)

    async def idle(self, key: K | None = None) -> None:
        """Wait until the queue of a key is empty, or all queues if no key is given."""
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
