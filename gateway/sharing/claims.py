"""Which sessions this process may work on, and for how long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from gateway.clock import Clock
from tape.fork import INFIX
from tape.tails import Tails


class SessionClaims(Protocol):
    """The sessions that this process holds; others' questions and sends are not its business."""

    def holds(self, session_id: str | None) -> bool:
        """Return whether this process holds a session now."""
        ...

    def may_send(self, session_id: str) -> bool:
        """Return whether enough of the lease is left for a request to the platform."""
        ...


class SessionRow(Protocol):
    """A row of the inbox, with or without its content."""

    @property
    def id(self) -> int: ...

    @property
    def session_id(self) -> str | None: ...


class EverySession(SessionClaims):
    """The claims of a process that works alone: it holds every session for ever."""

    def holds(self, session_id: str | None) -> bool:
        del session_id
        return True

    def may_send(self, session_id: str) -> bool:
        del session_id
        return True


EVERY_SESSION: Final = EverySession()


@dataclass(slots=True)
class Held:
    """A session that this process holds.

    arrived   how much was added to it when its rows were read last
    asked     how much of that was no message
    newest    the id of the newest row of the inbox that was read
    joined    the ids of rows that came from a session which goes on as this one
    touched   when something was last done for it, by this process's monotonic clock
    until     when its lease ends, by the same clock, or later
    units     how many units of work this process has written to it
    waiting   the entries that waited for turns of their own when the newest of these was written
    """

    session_id: str
    tape: str
    number: int
    epoch: int
    arrived: int
    asked: int
    newest: int = 0
    joined: set[int] = field(default_factory=set)
    touched: float = 0.0
    until: float = 0.0
    is_suspect: bool = False
    units: int = 0
    waiting: frozenset[int] | None = None


@dataclass(slots=True)
class HeldSessions(SessionClaims):
    """The sessions that one of several processes holds, each under a lease of `_lease` seconds.

    What is new on their tapes is read from memory for as long.
    """

    owner: str
    _clock: Clock
    _lease: float
    _tails: Tails
    by_id: dict[str, Held] = field(default_factory=dict)
    by_number: dict[int, Held] = field(default_factory=dict)
    _by_tape: dict[str, Held] = field(default_factory=dict)

    def holds(self, session_id: str | None) -> bool:
        return session_id in self.by_id

    def may_send(self, session_id: str) -> bool:
        """Return whether a sixth of the lease is left: a request takes its time."""
        held = self.by_id.get(session_id)
        return held is not None and held.until - self._clock.monotonic() >= self._lease / 6

    def add(self, held: Held, asked_at: float) -> None:
        """Add a session that was claimed by a request of the given monotonic time."""
        held.touched = self._clock.monotonic()
        held.until = asked_at + self._lease
        self.by_id[held.session_id] = held
        self.by_number[held.number] = held
        self._by_tape[held.tape] = held
        self.remember(held)

    def remember(self, held: Held) -> None:
        """Read what is new on a session's tape from memory, while its lease lasts."""
        self._tails.hold(held.tape, partial(self.may_send, held.session_id))

    def remove(self, session_id: str) -> Held | None:
        held = self.by_id.pop(session_id, None)
        if held is not None:
            del self.by_number[held.number]
            del self._by_tape[held.tape]
            self._tails.release(held.tape)
        return held

    def is_new(self, row: SessionRow) -> bool:
        """Return whether a row is of a held session, and was not read before."""
        held = self.by_id.get(row.session_id or "")
        if held is None or row.id <= held.newest or row.id in held.joined:
            return False
        held.touched = self._clock.monotonic()
        return True

    def know(self, rows: Iterable[SessionRow]) -> None:
        """Record that rows of sessions were read."""
        for row in rows:
            if (held := self.by_id.get(row.session_id or "")) is not None:
                held.newest = max(held.newest, row.id)

    def of_tapes(self, tapes: Iterable[str]) -> set[str]:
        """Return the held sessions to which these tapes and forks belong."""
        found = (self._by_tape.get(_base(name)) for name in tapes)
        return {held.session_id for held in found if held is not None}

    def of_others(self, tapes: Iterable[str]) -> set[str]:
        """Return those of these tapes, without their forks, that are of no held session."""
        return {_base(name) for name in tapes}.difference(self._by_tape)

    def renewed(self, session_id: str, asked_at: float) -> bool:
        """Record that a lease was renewed; return whether this process knows the session."""
        held = self.by_id.get(session_id)
        if held is not None:
            held.until = asked_at + self._lease
            self.remember(held)
        return held is not None

    def touch(self, session_ids: Iterable[str]) -> None:
        now = self._clock.monotonic()
        for session_id in session_ids:
            if session_id in self.by_id:
                self.by_id[session_id].touched = now

    def writes(self, session_ids: Iterable[str]) -> None:
        """Record that a unit of work is written to these sessions."""
        self.touch(session_ids)
        for session_id in session_ids:
            if (held := self.by_id.get(session_id)) is not None:
                held.units += 1
                held.waiting = None

    def units(self, session_id: str) -> int:
        """Return how many units of work were written to a session."""
        held = self.by_id.get(session_id)
        return held.units if held is not None else 0

    def wait_in(self, session_id: str, units: int, entries: frozenset[int]) -> None:
        """Record what waits in a session, as read by the unit that followed so many others."""
        held = self.by_id.get(session_id)
        if held is not None and held.units == units + 1:
            held.waiting = entries

    def waiting(self, session_id: str) -> frozenset[int] | None:
        """Return the entries that wait for turns of their own, or None if that has to be read."""
        held = self.by_id.get(session_id)
        return held.waiting if held is not None else None

    def changed(self, session_ids: Iterable[str]) -> None:
        """Read these sessions once more: somebody else may have added to them, or changed them."""
        for session_id in session_ids:
            if (held := self.by_id.get(session_id)) is not None:
                self._tails.changed(held.tape)
                held.waiting = None

    def read_again(self, ended: Iterable[Held]) -> None:
        """Read the tapes of these sessions from the database: others may claim them now."""
        for held in ended:
            self._tails.release(held.tape)

    def idle(self, seconds: float) -> list[Held]:
        """Return the sessions for which nothing was done for so long, to be given back now."""
        before = self._clock.monotonic() - seconds
        idle = [held for held in self.by_id.values() if held.touched <= before]
        self.read_again(idle)
        return idle


def _base(tape: str) -> str:
    """Return the tape that a fork belongs to."""
    return tape.partition(INFIX)[0]
