"""One budget a chat: who may write to the platform next.

Finals go before first texts, first texts before edits, edits before status. A platform that says
"wait" closes the gate of that chat alone. Nobody holds a worker while waiting but the one who
waits; streaming thins out by itself, since an edit asks for its slot with the newest text only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

import anyio

TYPING_EVERY: Final = 4.5
"""Seconds between two typing signs in one chat; they last five on the strictest platform."""

MOST_CHATS: Final = 10_000
"""So many chats are remembered; beyond, those that may write at once are forgotten."""


class Clock(Protocol):
    """What waiting needs: seconds that never go back, and a sleep in the same seconds."""

    def monotonic(self) -> float:
        """Return the seconds since some moment."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Priority(IntEnum):
    """Who goes first; less is sooner."""

    FINAL = 0
    FIRST_TEXT = 1
    EDIT = 2
    STATUS = 3


@dataclass(order=True, slots=True)
class _Waiter:
    priority: int
    order: int
    turn_came: anyio.Event = field(default_factory=anyio.Event, compare=False)


@dataclass(slots=True)
class _Chat:
    ready_at: float = 0.0
    closed_until: float = float("-inf")
    typing_at: float = float("-inf")
    waiters: list[_Waiter] = field(default_factory=list)


class Pacing:
    """The budget of one bot; `interval` is the least time between two writes to a chat, seconds."""

    def __init__(self, interval: float, clock: Clock) -> None:
        self._interval = interval
        self._clock = clock
        self._chats: dict[str, _Chat] = {}
        self._order = 0

    async def slot(self, chat: str, priority: Priority) -> None:
        """Wait for the right to write to a chat; having it is having used it."""
        state = self._chat(chat)
        self._order += 1
        waiter = _Waiter(priority, self._order)
        heappush(state.waiters, waiter)
        try:
            await self._until_first_and_ready(state, waiter)
            state.ready_at = self._clock.monotonic() + self._interval
        finally:
            _leave(state, waiter)

    def close(self, chat: str, seconds: float) -> None:
        """Close the gate of a chat, because the platform said so."""
        state = self._chat(chat)
        state.closed_until = max(state.closed_until, self._clock.monotonic() + seconds)
        state.ready_at = max(state.ready_at, state.closed_until)

    def may_type(self, chat: str) -> bool:
        """Tell whether a typing sign may go out now; True counts as one."""
        state = self._chat(chat)
        now = self._clock.monotonic()
        if now - state.typing_at < TYPING_EVERY or now < state.closed_until:
            return False
        state.typing_at = now
        return True

    async def _until_first_and_ready(self, state: _Chat, waiter: _Waiter) -> None:
        while True:
            if state.waiters[0] is not waiter:
                await waiter.turn_came.wait()
                waiter.turn_came = anyio.Event()
                continue
            wait = state.ready_at - self._clock.monotonic()
            if wait <= 0:
                return
            await self._clock.sleep(wait)

    def _chat(self, chat: str) -> _Chat:
        state = self._chats.get(chat)
        if state is None:
            if len(self._chats) >= MOST_CHATS:
                self._forget_idle()
            state = self._chats[chat] = _Chat()
        return state

    def _forget_idle(self) -> None:
        now = self._clock.monotonic()
        busy: Callable[[_Chat], bool] = lambda chat: bool(chat.waiters) or chat.ready_at > now  # noqa: E731
        self._chats = {name: chat for name, chat in self._chats.items() if busy(chat)}


def _leave(state: _Chat, waiter: _Waiter) -> None:
    if state.waiters[0] is waiter:
        heappop(state.waiters)
    else:
        state.waiters.remove(waiter)
        heapify(state.waiters)
    if state.waiters:
        state.waiters[0].turn_came.set()
