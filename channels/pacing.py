"""Rate limits of a bot and its chats: they decide which write goes to the platform next.

Answers go first, then the first text of a draft, then edits, then status. When the platform asks to
wait, only that chat's gate closes. Edits slow down as a chat's window fills up, and a share
of the window stays reserved for answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

import anyio

from channels.clock import Clock

MAX_CHATS: Final = 10_000
"""Maximum number of gates kept in memory; beyond it, idle gates are dropped."""

EDIT_SLOWDOWN: Final = 1.3  # factor by which each recent write lengthens the interval between edits


class Priority(IntEnum):
    """The priority of a write; lower values are sent first."""

    FINAL = 0
    FIRST_TEXT = 1
    EDIT = 2
    STATUS = 3


RESERVED_SHARES: Final = {
    Priority.FINAL: 0.0,
    Priority.FIRST_TEXT: 0.2,
    Priority.EDIT: 0.4,
    Priority.STATUS: 0.6,
}
"""Share of a window that each priority leaves free for the higher priorities."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The rate limit of a chat or a bot.

    interval  minimum seconds between two writes
    count     maximum writes within `window` seconds; 0: unlimited
    """

    interval: float = 0.0
    count: int = 0
    window: float = 0.0


UNLIMITED: Final = Budget()


class SharedGate(Protocol):
    """The rate limit of a bot or of one of its methods, for all processes that use it."""

    def wait(self, now: float, priority: Priority) -> float:
        """Return the seconds until a write of this priority may be allowed; 0 or less means now."""

    def take(self, now: float, priority: Priority) -> float | None:
        """Count a write, if one of this priority is allowed; return until when it may begin."""

    async def turn(self, priority: Priority, *, first: bool = False) -> None:
        """Wait until `take` may allow a write of this priority, perhaps as the first of them."""

    async def allows(self, priority: Priority) -> bool:
        """Return whether a write of this priority is allowed about now; this counts none."""

    def close(self, until: float) -> None:
        """Refuse writes until the given monotonic time, in all processes."""

    def closed_for(self, now: float) -> float:
        """Return the seconds for which the platform wants no writes; 0 or less: it takes them."""


class Gates(Protocol):
    """Where the rate limits of a bot are counted."""

    def gate(self, name: str, budget: Budget) -> SharedGate:
        """Return the gate of this name; it has one in each process that asks for it."""

    def refuse(self, token: str, *, refused: bool = True) -> None:
        """Record for all processes that the platform refuses a token, or accepts it again."""

    def is_refused(self, token: str) -> bool:
        """Return whether the platform refuses a token, as another process may have found out."""


class Gate:
    """The recent writes of one chat or one whole bot; computes when the next write is allowed."""

    __slots__ = ("_budget", "_closed_until", "_last", "_written", "good_until", "waiters")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._written: list[float] = []  # an empty deque takes as much as the rest of a chat
        self._last = float("-inf")
        self._closed_until = float("-inf")
        self.waiters: list[_Waiter] = []
        self.good_until = float("inf")  # a write of the bot's limit that was taken for this chat

    def wait(self, now: float, priority: Priority) -> float:
        """Return the seconds until a write of this priority is allowed; 0 or less means now."""
        budget = self._budget
        opens = max(self._last + budget.interval, self._closed_until)
        if not budget.count:
            return opens - now
        used = self._in_window(now)
        allowed = budget.count - int(budget.count * RESERVED_SHARES[priority])
        if used >= allowed:
            opens = max(opens, self._written[used - allowed] + budget.window)
        if priority >= Priority.EDIT:
            opens = max(opens, self._last + budget.interval * EDIT_SLOWDOWN**used)
        return opens - now

    def write(self, at: float) -> None:
        """Count a write at the given monotonic time."""
        self._last = max(self._last, at)
        if self._budget.count:
            self._written.append(at)

    def wrote(self, at: float) -> None:
        """Move the newest write to the time of its answer: when it arrived there is unknown."""
        self._last = max(self._last, at)
        if self._written:
            self._written[-1] = max(self._written[-1], at)

    def close(self, until: float) -> None:
        """Refuse writes until the given monotonic time."""
        self._closed_until = max(self._closed_until, until)

    def closed_for(self, now: float) -> float:
        """Return the seconds for which the platform wants no writes; 0 or less: it takes them."""
        return self._closed_until - now

    def left(self, now: float) -> tuple[int, int, float, float] | None:
        """Return how many writes the window still takes, of how many, and two numbers of seconds.

        They are how long the window is, and when it takes all again. None without a limit.
        """
        count, closed = self._budget.count, self.closed_for(now)
        if not count:
            return None
        taken = self._in_window(now)
        free = self._written[-1] + self._budget.window - now if taken else 0.0
        free_again = max(free, closed, 0.0)
        return count - (count if closed > 0 else taken), count, self._budget.window, free_again

    def idle(self, now: float) -> bool:
        """Return whether dropping this gate would change nothing."""
        return not self.waiters and not self._in_window(now) and self.wait(now, Priority.FINAL) <= 0

    def _in_window(self, now: float) -> int:
        while self._written and self._written[0] + self._budget.window <= now:
            del self._written[0]
        return len(self._written)


class OwnGate(Gate):
    """A gate that only this process uses."""

    __slots__ = ("_clock",)

    def __init__(self, budget: Budget, clock: Clock) -> None:
        super().__init__(budget)
        self._clock = clock

    def take(self, now: float, priority: Priority) -> float | None:
        """Count a write, if one of this priority is allowed; it may begin at any later time."""
        if self.wait(now, priority) > 0:
            return None
        self.write(now)
        return float("inf")

    async def turn(self, priority: Priority, *, first: bool = False) -> None:
        del first
        await self._clock.sleep(self.wait(self._clock.monotonic(), priority))

    async def allows(self, priority: Priority) -> bool:
        return self.wait(self._clock.monotonic(), priority) <= 0


@dataclass(frozen=True, slots=True)
class OwnGates:
    """Gates that only this process uses."""

    clock: Clock

    def gate(self, name: str, budget: Budget) -> SharedGate:
        del name
        return OwnGate(budget, self.clock)

    def refuse(self, token: str, *, refused: bool = True) -> None:
        """Change nothing: a channel keeps by itself what this process has found out."""

    def is_refused(self, token: str) -> bool:
        del token
        return False


async def taken(
    gate: SharedGate, clock: Clock, priority: Priority, *, first: bool = False
) -> float:
    """Wait until a gate allows a write, and count it; return until when it may begin."""
    while (good_until := gate.take(clock.monotonic(), priority)) is None:
        await gate.turn(priority, first=first)
    return good_until


@dataclass(order=True, slots=True)
class _Waiter:
    priority: Priority
    order: int
    turn_came: anyio.Event = field(default_factory=anyio.Event, compare=False)


class Pacing:
    """Send permits for one bot: `budget_of` returns a chat's limit, `bot` limits all chats."""

    def __init__(
        self, budget_of: Callable[[str], Budget], clock: Clock, bot: SharedGate | None = None
    ) -> None:
        self._budget_of = budget_of
        self._clock = clock
        self.bot: SharedGate = bot or OwnGate(UNLIMITED, clock)
        self.chats: dict[str, Gate] = {}
        self._order = 0

    async def permit(self, chat: str, priority: Priority) -> None:
        """Wait for a permit to write to a chat, and count the write at once."""
        gate = self._chat(chat)
        self._order += 1
        waiter = _Waiter(priority, self._order)
        heappush(gate.waiters, waiter)
        try:
            while True:
                if gate.waiters[0] is not waiter:
                    await waiter.turn_came.wait()
                    waiter.turn_came = anyio.Event()
                    continue
                now = self._clock.monotonic()
                wait = gate.wait(now, priority)
                if wait > 0:
                    await self._clock.sleep(wait)
                elif (good_until := self.bot.take(now, priority)) is None:
                    await self.bot.turn(priority)
                else:
                    gate.write(now)
                    gate.good_until = good_until
                    return
        finally:
            _leave(gate, waiter)

    def is_late(self, chat: str) -> bool:
        """Return whether the permit of a chat is too old for the write to begin now."""
        return self._chat(chat).good_until < self._clock.monotonic()

    async def renew(self, chat: str, priority: Priority) -> None:
        """Wait for a permit of the bot in the place of one that is too old."""
        good_until = await taken(self.bot, self._clock, priority, first=True)
        self._chat(chat).good_until = good_until

    def wrote(self, chat: str) -> None:
        """Record that a write has finished; the next interval starts now."""
        self._chat(chat).wrote(self._clock.monotonic())

    def close(self, chat: str, seconds: float) -> None:
        """Close a chat's gate for some seconds because the platform asked to wait."""
        self._chat(chat).close(self._clock.monotonic() + seconds)

    def may_type(self, chat: str) -> bool:
        """Return whether a typing sign may be sent now; typing signs need no permit."""
        now = self._clock.monotonic()
        return max(self._chat(chat).closed_for(now), self.bot.closed_for(now)) <= 0

    def left(self, most: int) -> list[tuple[str, int, int, float, float]]:
        """Return the chats with the fewest writes left: their ids, and what `Gate.left` says.

        The bot's own limit comes first, under the id "", if this process knows it.
        """
        now = self._clock.monotonic()
        bot = self.bot.left(now) if isinstance(self.bot, Gate) else None
        known = [(name, gate.left(now)) for name, gate in self.chats.items()]
        chats = [(name, *left) for name, left in known if left is not None and left[0] < left[1]]
        chats.sort(key=lambda one: one[1] / one[2])
        return [*([("", *bot)] if bot else []), *chats[:most]]

    def _chat(self, chat: str) -> Gate:
        gate = self.chats.get(chat)
        if gate is None:
            if len(self.chats) >= MAX_CHATS:
                now = self._clock.monotonic()
                self.chats = {name: one for name, one in self.chats.items() if not one.idle(now)}
            gate = self.chats[chat] = Gate(self._budget_of(chat))
        return gate


def _leave(gate: Gate, waiter: _Waiter) -> None:
    if gate.waiters[0] is waiter:
        heappop(gate.waiters)
    else:
        gate.waiters.remove(waiter)
        heapify(gate.waiters)
    if gate.waiters:
        gate.waiters[0].turn_came.set()
