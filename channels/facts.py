"""What the processes of a gateway know of an account on a platform, besides what they ask for.

Only one process listens to a platform, and what it hears may concern the others: the names of
places, the token that answers a button press. Such facts are JSON values, each with a name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import anyio

from channels.clock import Clock, wait_at_most

LOOK_SECONDS: Final = 0.5
"""Seconds between two looks at a fact that is waited for; usually its change wakes the waiter."""


class Facts(Protocol):
    """The facts of one channel; `shared` says whether other processes see them."""

    shared: bool

    def get(self, name: str) -> Any:
        """Return a value as this process last heard of it, or None."""
        ...

    def names(self, prefix: str) -> list[str]:
        """Return the names of the known facts that begin with a prefix."""
        ...

    def put(self, values: Mapping[str, Any], seconds: float = 0.0) -> None:
        """Set values, which the others hear of soon; None removes one, and so does its time."""
        ...

    async def store(self, values: Mapping[str, Any], seconds: float = 0.0) -> None:
        """Set values, which every process can fetch from now on; raises ChannelDown."""
        ...

    async def fetch(self, name: str) -> Any:
        """Return a value as any process last stored it, or None; raises ChannelDown."""
        ...

    async def wait(self, name: str, wanted: Callable[[Any], bool], seconds: float) -> Any:
        """Return a value once it is as wanted, or what it is after some seconds; as `fetch`."""
        ...

    def changed(self) -> anyio.Event:
        """Return what is set when this process hears of the next change."""
        ...


class OwnFacts:
    """The facts of a process that works alone, in memory; others with `shared` are for tests."""

    def __init__(self, clock: Clock, *, shared: bool = False) -> None:
        self.shared = shared
        self._clock = clock
        self._values: dict[str, Any] = {}
        self._ends: dict[str, float] = {}
        self._ending: deque[tuple[float, str]] = deque()
        self._changed = anyio.Event()

    def get(self, name: str) -> Any:
        self._drop_ended()
        return self._values.get(name)

    def names(self, prefix: str) -> list[str]:
        self._drop_ended()
        return [name for name in self._values if name.startswith(prefix)]

    def put(self, values: Mapping[str, Any], seconds: float = 0.0) -> None:
        self._drop_ended()
        end = self._clock.monotonic() + seconds
        for name, value in values.items():
            self._ends.pop(name, None)
            if value is None:
                self._values.pop(name, None)
                continue
            self._values[name] = value
            if seconds:
                self._ends[name] = end
                self._ending.append((end, name))
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def store(self, values: Mapping[str, Any], seconds: float = 0.0) -> None:
        self.put(values, seconds)

    async def fetch(self, name: str) -> Any:
        return self.get(name)

    async def wait(self, name: str, wanted: Callable[[Any], bool], seconds: float) -> Any:
        until = self._clock.monotonic() + seconds
        while True:
            changed = self.changed()
            value = await self.fetch(name)
            left = until - self._clock.monotonic()
            if wanted(value) or left <= 0:
                return value
            await wait_at_most(self._clock, min(left, LOOK_SECONDS), changed.wait)

    def changed(self) -> anyio.Event:
        return self._changed

    def _drop_ended(self) -> None:
        now = self._clock.monotonic()
        while self._ending and self._ending[0][0] <= now:
            end, name = self._ending.popleft()
            if self._ends.get(name) == end:
                del self._ends[name], self._values[name]
