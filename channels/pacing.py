"""One budget a bot and a chat: who may write to the platform next.

Finals go before first texts, first texts before edits, edits before status. A platform that says
"wait" closes the gate of that chat alone. Nobody holds a worker while waiting but the one who
waits. Streaming thins out by itself: an edit asks for its slot with the newest text only, edits
come the more rarely the more of the window is used, and the rest of it is kept for what must go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

import anyio

MOST_CHATS: Final = 10_000
"""So many chats are remembered; beyond, those that may write at once are forgotten."""

THINNING: Final = 1.3
"""Each write of the window makes the wait between two edits so many times longer."""


class Clock(Protocol):
    """What waiting needs: seconds that never go back, and a sleep in the same seconds."""

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        ...

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


KEPT: Final = {
    Priority.FINAL: 0.0,
    Priority.FIRST_TEXT: 0.2,
    Priority.EDIT: 0.4,
    Priority.STATUS: 0.6,
}
"""The part of a window that is kept for who goes before."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a platform takes.

    interval  the least time between two writes, seconds
    count     how many writes within `window` seconds; 0: any number
    """

    interval: float = 0.0
    count: int = 0
    window: float = 0.0


ANY: Final = Budget()
"""No bound at all."""


class Gate:
    """The writes of one chat, or of a whole bot, held against a budget."""

    __slots__ = ("_budget", "_closed_until", "_last", "_written", "waiters")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._written: deque[float] = deque()
        self._last = float("-inf")
        self._closed_until = float("-inf")
        self.waiters: list[_Waiter] = []

    def wait(self, now: float, priority: Priority) -> float:
        """Return the seconds until somebody of this priority may write; none or less: now."""
        return self._opens(now, priority) - now

    def write(self, at: float) -> None:
        """Count a write."""
        self._last = max(self._last, at)
        if self._budget.count:
            self._written.append(at)

    def wrote(self, at: float) -> None:
        """Count the newest write as of now: it came to the platform only when it was answered."""
        self._last = max(self._last, at)
        if self._written:
            self._written[-1] = max(self._written[-1], at)

    def close(self, until: float) -> None:
        """Let nobody write before a moment."""
        self._closed_until = max(self._closed_until, until)

    def closed(self, now: float) -> bool:
        """Tell whether the platform has closed it."""
        return now < self._closed_until

    def idle(self, now: float) -> bool:
        """Tell whether forgetting it would change nothing."""
        return not self.waiters and not self._in_window(now) and self.wait(now, Priority.FINAL) <= 0

    def _opens(self, now: float, priority: Priority) -> float:
        budget = self._budget
        opens = max(self._last + budget.interval, self._closed_until)
        if not budget.count:
            return opens
        used = self._in_window(now)
        allowed = budget.count - int(budget.count * KEPT[priority])
        if used >= allowed:
            opens = max(opens, self._written[used - allowed] + budget.window)
        if priority >= Priority.EDIT:
            opens = max(opens, self._last + budget.interval * THINNING**used)
        return opens

    def _in_window(self, now: float) -> int:
        while self._written and self._written[0] + self._budget.window <= now:
            self._written.popleft()
        return len(self._written)


@dataclass(order=True, slots=True)
class _Waiter:
    priority: Priority
    order: int
    turn_came: anyio.Event = field(default_factory=anyio.Event, compare=False)


class Pacing:
    """The budgets of one bot: `budget_of` gives that of a chat, `bot` is that of all together."""

    def __init__(self, budget_of: Callable[[str], Budget], clock: Clock, bot: Budget = ANY) -> None:
        self._budget_of = budget_of
        self._clock = clock
        self._bot = Gate(bot)
        self._chats: dict[str, Gate] = {}
        self._order = 0

    async def slot(self, chat: str, priority: Priority) -> None:
        """Wait for the right to write to a chat; having it is having used it."""
        gate = self._chat(chat)
        self._order += 1
        waiter = _Waiter(priority, self._order)
        if gate.waiters:
            waiter.turn_came = anyio.Event()
        heappush(gate.waiters, waiter)
        try:
            while True:
                if gate.waiters[0] is not waiter:
                    await waiter.turn_came.wait()
                    waiter.turn_came = anyio.Event()
                    continue
                now = self._clock.monotonic()
                wait = max(gate.wait(now, priority), self._bot.wait(now, priority))
                if wait <= 0:
                    gate.write(now)
                    self._bot.write(now)
                    return
                await self._clock.sleep(wait)
        finally:
            _leave(gate, waiter)

    def wrote(self, chat: str) -> None:
        """Tell that a write is over: the next one's wait begins now, however long the way was."""
        self._chat(chat).wrote(self._clock.monotonic())

    def close(self, chat: str, seconds: float) -> None:
        """Close the gate of a chat, because the platform said so."""
        self._chat(chat).close(self._clock.monotonic() + seconds)

    def may_type(self, chat: str) -> bool:
        """Tell whether a typing sign, which costs no slot, may go out now."""
        return not self._chat(chat).closed(self._clock.monotonic())

    def _chat(self, chat: str) -> Gate:
        gate = self._chats.get(chat)
        if gate is None:
            if len(self._chats) >= MOST_CHATS:
                now = self._clock.monotonic()
                busy = {name: one for name, one in self._chats.items() if not one.idle(now)}
                self._chats = busy
            gate = self._chats[chat] = Gate(self._budget_of(chat))
        return gate


def _leave(gate: Gate, waiter: _Waiter) -> None:
    if gate.waiters[0] is waiter:
        heappop(gate.waiters)
    else:
        gate.waiters.remove(waiter)
        heapify(gate.waiters)
    if gate.waiters:
        gate.waiters[0].turn_came.set()
