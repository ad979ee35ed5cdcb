"""The fence: a unit of work on a session fails unless this process still holds the session.

It stands at the head of the transaction, so a process that was frozen past its lease writes nothing
more. Work for sessions of others is announced to their holders instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.logs import get_log
from gateway.sharing.claims import HeldSessions
from tape.entry import dump
from tape.errors import SessionLost, TapeError, UnitFailed
from tape.unit_of_work import Append, Erase, Outcome, Run, Unit, behind

FENCE: Final = "ledger.fence"
ARRIVE: Final = "sharing.arrive"
TOUCH: Final = "sharing.touch"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Work was added to a session; `owner` is its holder, or "" if nobody holds it."""

    session_id: str
    tape: str
    number: int
    owner: str
    arrived: int


def arrivals_of(outcome: Outcome) -> list[Arrival]:
    """Read the outcome of `sharing.arrive` or `sharing.touch`."""
    names = ("session_id", "tape", "number", "owner", "arrived")
    return [Arrival(**{name: row[name] for name in names}) for row in outcome.rows]


@dataclass(eq=False)
class Fencing:
    """Frames the units of this process; `_announce` gets each arrival after the commit."""

    _held: HeldSessions
    _tape_of: Callable[[str], str]
    _announce: Callable[[Arrival], None]
    refused: int = 0

    def framed(self, unit: Unit) -> tuple[Unit, int]:
        tapes = [step.tape for step in unit.steps if isinstance(step, Append | Erase)]
        ours = self._held.of_tapes(tapes) | unit.works_on
        ours |= {one for one in unit.for_sessions if self._held.holds(one)}
        first: list[Run] = []
        for session_id in sorted(ours):
            held = self._held.by_id.get(session_id)
            if held is None:
                raise self._lost(session_id)
            values = {"session_id": session_id, "owner": self._held.owner, "epoch": held.epoch}
            first.append(Run(FENCE, values, expect=1))
        self._held.writes(ours)
        for session_id in sorted(unit.for_sessions - ours):
            place = {"session_id": session_id, "tape": self._tape_of(session_id)}
            first.append(Run(ARRIVE, {**place, "asked": 1, "asks": 1}))
        others = sorted(self._held.of_others(tapes))
        if others:
            first.append(Run(TOUCH, {"tapes": dump(others)}))
        return (behind(unit, first), len(first)) if first else (unit, 0)

    def done(self, unit: Unit, outcomes: Sequence[Outcome]) -> None:
        for step, outcome in zip(unit.steps, outcomes, strict=False):
            if isinstance(step, Run) and step.statement in (ARRIVE, TOUCH):
                for arrival in arrivals_of(outcome):
                    if arrival.owner or step.statement == ARRIVE:
                        self._announce(arrival)

    def judged(self, failed: UnitFailed) -> TapeError:
        if failed.statement != FENCE:
            return failed
        self._held.read_again(self._held.by_id.values())  # until the leases have been renewed
        return self._lost("")

    def _lost(self, session_id: str) -> SessionLost:
        self.refused += 1
        get_log().warning("fence.refused", session=session_id, refused=self.refused)
        return SessionLost("another process works on this session: nothing was written")
