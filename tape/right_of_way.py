"""The right of way: work in the background waits for what is urgent, but never for good."""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol, runtime_checkable

import anyio

STEP_SECONDS: Final = 0.01
"""Seconds between two looks of a thread at whether the way is free."""

MAX_GIVEN_SECONDS: Final = 0.25


class RightOfWay:
    """Whether something urgent goes on, to which work in the background gives way.

    Only the event loop's thread takes the way, but any may ask for it. One small piece of work
    gives way for at most `most` seconds. Take it, as a context, for what works on something urgent.
    """

    def __init__(self, most: float = MAX_GIVEN_SECONDS) -> None:
        self._most = most
        self._waits = False
        self._held = 0
        self._freed = anyio.Event()

    @property
    def is_taken(self) -> bool:
        """Whether something urgent waits, or is worked on."""
        return self._waits or self._held > 0

    @property
    def waits(self) -> bool:
        """Whether something urgent waits."""
        return self._waits

    @waits.setter
    def waits(self, waits: bool) -> None:
        if waits != self._waits:
            self._waits = waits
            self._look()

    def __enter__(self) -> None:
        self._held += 1

    def __exit__(self, *_raised: object) -> None:
        self._held -= 1
        self._look()

    def _look(self) -> None:
        if not self._waits and not self._held:
            self._freed.set()
            self._freed = anyio.Event()

    async def given(self) -> None:
        """Wait while the way is taken, for a limited time; call it before each piece of work."""
        with anyio.move_on_after(self._most):
            while self.is_taken:
                await self._freed.wait()

    def give_in_thread(self, closing: threading.Event) -> None:
        """Do the same in a thread, until an event is set at the latest."""
        until = time.monotonic() + self._most
        while self.is_taken and time.monotonic() < until and not closing.wait(STEP_SECONDS):
            pass


@runtime_checkable
class Yielding(Protocol):
    """Works in the background, and gives way."""

    def give_way(self, way: RightOfWay) -> None:
        """Give way to whoever takes this one, from now on."""
        ...
