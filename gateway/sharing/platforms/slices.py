"""Rate limits that several processes share: each reserves its next writes in the database.

A reservation gives slots: moments by the database's clock, of which no window has more than the
platform allows. A write begins soon after its slot, or it needs another; windows are longer by what
"soon" is. Slots belong to no write: the most urgent one takes the next. Those of a process that
died pass by themselves. Without the database nothing is sent, as nothing could be recorded either.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Protocol

import anyio

from channels.backoff import Backoff
from channels.pacing import RESERVED_SHARES, Budget, OwnGate, Priority, SharedGate
from gateway.background import Spawn
from gateway.clock import Clock
from gateway.logs import get_log
from tape.errors import TapeError
from tape.unit_of_work import Row

LATE_SECONDS: Final = 0.05
LATE_SHARE: Final = 0.01
"""Maximum time from a slot to the beginning of its write: in seconds, or this share of a window."""

ASK_SECONDS: Final = 0.1
"""Minimum seconds between two reservations when the first had less than was wanted."""

MAX_APART_SECONDS: Final = 0.02
"""Slots are apart, so that a process can begin each in time."""

AHEAD_SECONDS: Final = (0.5, 0.1, 0.1, 0.1)
"""How far in the future the slots of each priority may be: a death wastes them."""

LEAST_SECONDS: Final = 0.001
MAX_LEAD_SECONDS: Final = 0.5
DRIFT: Final = 2e-4  # how much faster one clock may run than another


class Statements(Protocol):
    """The database, as far as budgets need it: a `UnitStore` has more."""

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]: ...


_Waiter = tuple[Priority, int]


@dataclass(frozen=True, slots=True)
class _Slot:
    start: float
    until: float


class ServerTime:
    """Where this process's monotonic clock is on the database's clock."""

    def __init__(self) -> None:
        self._at = 0.0
        self.lead = 0.0  # the seconds that the next answer may take, if they matter
        self._least, self._most = float("-inf"), float("inf")

    def learn(self, asked: float, server: float, answered: float) -> None:
        """Learn from an answer that the server gave between two monotonic times."""
        drift, self._at = (answered - self._at) * DRIFT, answered
        took = answered - asked
        self.lead = min(took, MAX_LEAD_SECONDS) if took > LATE_SECONDS / 2 else 0.0
        self._least = max(self._least - drift, server - answered)
        self._most = min(self._most + drift, server - asked)
        if self._least > self._most:  # a clock was set, or another server has answered
            self._least, self._most = server - answered, server - asked

    def here(self, server: float) -> float:
        """Return the monotonic time at which the server's time has certainly come."""
        return server - self._least

    def slot(self, server: float, late: float) -> _Slot:
        """Return when a slot may be used here: never too early, and hardly more than `late`."""
        most = min(self._most, self._least + late / 2)
        return _Slot(self.here(server), server - most + late)


@dataclass(eq=False)
class SlicedGate:
    """The part that this process has of one budget; `SharedBudgets.gate` makes it."""

    _name: str
    _budget: Budget
    _store: Statements
    _clock: Clock
    _spawn: Spawn
    _say: Callable[[str, Mapping[str, Any]], None]  # changes a row for all processes
    _time: ServerTime = field(default_factory=ServerTime)
    _slots: deque[_Slot] = field(default_factory=deque)
    _waiting: list[_Waiter] = field(default_factory=list)
    _order: int = 0
    _answered: anyio.Event | None = None  # set once the reservation in progress is answered
    _asks_at: list[float] = field(default_factory=lambda: [float("-inf")] * len(Priority))
    _closed_until: float = float("-inf")
    _outage: Backoff = field(default_factory=lambda: Backoff(0.2, 2.0))

    def wait(self, now: float, priority: Priority) -> float:
        """Return the seconds until a write may be allowed, as far as this process knows."""
        opens = max(self._asks_at[priority], self._closed_until)
        self._drop_passed(now)
        return min(opens, self._slots[0].start) - now if self._slots else opens - now

    def take(self, now: float, priority: Priority) -> float | None:
        """Use a slot, unless more urgent writes wait for it; return when its time has passed."""
        self._drop_passed(now)
        ready = sum(slot.start <= now for slot in self._slots)
        more_urgent = sum(waiting < priority for waiting, _order in self._waiting)
        if ready <= more_urgent or now < self._closed_until:
            return None
        return self._slots.popleft().until

    async def turn(self, priority: Priority, *, first: bool = False) -> None:
        with self._in_line(priority, first=first) as waiter:
            while (wait := self._wait_of(waiter)) > 0:
                if wait < float("inf"):
                    await self._clock.sleep(max(wait, LEAST_SECONDS))
                else:
                    await self._answer()

    async def allows(self, priority: Priority) -> bool:
        with self._in_line(priority) as waiter:
            if self._wait_of(waiter) == float("inf"):
                await self._answer()
            return self._wait_of(waiter) <= max(AHEAD_SECONDS) and self._place(waiter) < len(
                self._slots
            )

    @contextmanager
    def _in_line(self, priority: Priority, *, first: bool = False) -> Iterator[_Waiter]:
        self._order += 1
        waiter = (priority, -self._order if first else self._order)
        insort(self._waiting, waiter)
        try:
            yield waiter
        finally:
            del self._waiting[self._place(waiter)]

    def _place(self, waiter: _Waiter) -> int:
        return bisect_left(self._waiting, waiter)

    def _wait_of(self, waiter: _Waiter) -> float:
        """Return the seconds until the next step; infinite if slots must be reserved first."""
        now = self._clock.monotonic()
        self._drop_passed(now)
        place = self._place(waiter)
        if now < self._closed_until:
            return self._closed_until - now
        if place < len(self._slots):
            return self._slots[place].start - now
        if place >= 2 * self._budget.count:  # it is far from being served
            return self._budget.window / 2
        asks_in = self._asks_at[waiter[0]] - now
        return asks_in if asks_in > 0 else float("inf")

    def close(self, until: float) -> None:
        seconds = until - self._clock.monotonic()
        if until > self._closed_until and seconds > 0:
            self._closed_until = until
            self._slots.clear()
            self._say("sharing.close_limit", {"name": self._name, "seconds": seconds})

    def closed_for(self, now: float) -> float:
        return self._closed_until - now

    def closed_elsewhere(self, seconds: float) -> None:
        """Refuse writes, as another process does."""
        self._closed_until = max(self._closed_until, self._clock.monotonic() + seconds)

    async def _answer(self) -> None:
        """Have a reservation made for all who wait, and wait for its answer."""
        if self._answered is None:
            self._answered = anyio.Event()
            self._spawn("budget", self._ask)
        await self._answered.wait()

    async def _ask(self) -> None:
        try:
            asked, wishes = self._clock.monotonic(), self._wishes()
            rows = await self._store.select("sharing.reserve", wishes)
            self._outage.reset()
            self._time.learn(asked, rows[0]["now_at"], self._clock.monotonic())
            self._learn(rows[0], rows[0]["now_at"] + wishes["lead"])
        except TapeError as lost:
            get_log().warning("budget.not_reserved", budget=self._name, why=lost)
            again_at = self._clock.monotonic() + self._outage.next()
            self._asks_at = [again_at] * len(Priority)
        finally:
            if self._answered is not None:
                self._answered.set()
                self._answered = None

    def _late(self) -> float:
        return max(LATE_SECONDS, self._budget.window * LATE_SHARE)

    def _wishes(self) -> dict[str, Any]:
        """Return what those need who wait and for whom there is no slot yet."""
        most = self._budget.count
        period = self._budget.window + self._late()
        unserved = self._waiting[len(self._slots) :][:most]
        wanted = Counter(priority for priority, _order in unserved)
        return {
            "name": self._name,
            "most": most,
            "period": period,
            "apart": min(MAX_APART_SECONDS, period / most / 2),
            "share": [most - int(most * RESERVED_SHARES[one]) for one in Priority],
            "lead": self._time.lead,
            "ahead": list(AHEAD_SECONDS),
            "wanted": [wanted[one] for one in Priority],
        }

    def _learn(self, row: Row, first: float) -> None:
        slots = [self._time.slot(at, self._late()) for at in row["granted"]]
        self._slots = deque(sorted([*self._slots, *slots], key=lambda slot: slot.start))
        closed_until = self._time.here(row["closed_until"])
        self._closed_until = max(self._closed_until, closed_until)
        soon = self._clock.monotonic() + ASK_SECONDS
        for priority in Priority:
            ahead = AHEAD_SECONDS[priority]
            is_open = row["opens"][priority] <= first + ahead
            opens = self._time.here(row["opens"][priority]) - ahead
            self._asks_at[priority] = float("-inf") if is_open else max(opens, soon)

    def _drop_passed(self, now: float) -> None:
        while self._slots and self._slots[0].until < now:
            self._slots.popleft()


@dataclass(eq=False)
class SharedBudgets:
    """The rate limits of all processes over one database; `_changed` wakes the others."""

    _store: Statements
    _clock: Clock
    _spawn: Spawn
    _changed: Callable[[], None] = lambda: None
    _gates: dict[str, SlicedGate] = field(default_factory=dict)
    _refused: frozenset[str] = frozenset()

    def gate(self, name: str, budget: Budget) -> SharedGate:
        """Return the gate of this name; what is unlimited is each process's own."""
        if not budget.count:
            return OwnGate(budget, self._clock)
        if name not in self._gates:
            about = (self._store, self._clock, self._spawn, self._say)
            self._gates[name] = SlicedGate(name, budget, *about)
        return self._gates[name]

    def refuse(self, token: str, *, refused: bool = True) -> None:
        """Record for all processes that the platform refuses a token, or accepts it again."""
        name = _name_of(token)
        if refused != (name in self._refused):
            self._refused = self._refused | {name} if refused else self._refused - {name}
            self._say("sharing.refuse_token", {"name": name, "refused": refused})

    def is_refused(self, token: str) -> bool:
        """Return whether the platform refuses a token for good, as far as is known here."""
        return _name_of(token) in self._refused

    async def look(self) -> None:
        """Read what platforms refuse: from time to time, and when another process changed it."""
        try:
            rows = await self._store.select("sharing.closed_limits", {})
        except TapeError as lost:
            get_log().warning("budget.not_read", why=lost)
            return
        self._refused = frozenset(row["name"] for row in rows if row["refused"])
        for row in rows:
            if row["name"] in self._gates:
                self._gates[row["name"]].closed_elsewhere(row["seconds"])

    def _say(self, statement: str, values: Mapping[str, Any]) -> None:
        async def say() -> None:
            try:
                await self._store.select(statement, values)
                self._changed()
            except TapeError as lost:
                get_log().warning("budget.not_changed", why=lost)

        self._spawn("budget", say)


def _name_of(token: str) -> str:
    return f"token {sha256(token.encode()).hexdigest()[:16]}"
