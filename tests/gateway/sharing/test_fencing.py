"""The fence: what a process may still write about sessions that it has lost."""

from __future__ import annotations

import pytest

from gateway.sharing.claims import Held, HeldSessions
from gateway.sharing.fencing import ARRIVE, FENCE, TOUCH, Arrival, Fencing
from gateway.storage.ledger.leases import Leases
from tape.entry import event
from tape.errors import SessionLost, UnitFailed
from tape.stores.memory import MemoryStore
from tape.tails import Tails
from tape.unit_of_work import FirstId, Outcome, Run, Unit
from tests.kit.clock import ManualClock


def fencing(*held: str, heard: list[Arrival] | None = None) -> Fencing:
    """The fence of a process that holds sessions whose tapes have their names."""
    sessions = HeldSessions("aa", ManualClock(), 60, Tails())
    for number, name in enumerate(held):
        sessions.add(Held(name, name, number, epoch=7, arrived=0, asked=0), 0.0)
    return Fencing(sessions, str, (heard if heard is not None else []).append)


def test_a_turn_does_not_begin_in_a_session_that_was_lost() -> None:
    unit = Unit()
    Leases(MemoryStore(), "aa").claim(unit, "telegram:1", "t")
    with pytest.raises(SessionLost):
        fencing().framed(unit)


def test_a_unit_on_a_held_session_begins_with_its_fence_and_still_finds_its_first_ids() -> None:
    unit = Unit()
    first = unit.append("telegram:1.fork.ab", [event("note", {})])
    unit.run("any", entry_id=first)
    framed, count = fencing("telegram:1").framed(unit)
    assert count == 1
    values = {"session_id": "telegram:1", "owner": "aa", "epoch": 7}
    assert framed.steps[0] == Run(FENCE, values, expect=1)
    assert framed.steps[2] == Run("any", {"entry_id": FirstId(1)})
    assert unit.steps[1] == Run("any", {"entry_id": FirstId(0)})


def test_work_for_a_session_of_another_process_is_announced_to_it() -> None:
    heard: list[Arrival] = []
    fence = fencing("telegram:1", heard=heard)
    framed, count = fence.framed(Unit(for_sessions={"telegram:1", "telegram:2"}))
    steps = [step for step in framed.steps if isinstance(step, Run)]
    assert [(step.statement, step.values["session_id"]) for step in steps[:count]] == [
        (FENCE, "telegram:1"),
        (ARRIVE, "telegram:2"),
    ]
    arrived = Arrival("telegram:2", "telegram:2", 5, "bb", 3)
    row = {name: getattr(arrived, name) for name in Arrival.__dataclass_fields__}
    fence.done(framed, [Outcome(changed=1), Outcome(rows=(row,))])
    assert heard == [arrived]


def test_what_is_appended_to_the_tape_of_another_process_is_announced_to_it() -> None:
    heard: list[Arrival] = []
    unit = Unit()
    unit.append("telegram:2.fork.ab", [event("note", {})])
    framed, count = (fence := fencing("telegram:1", heard=heard)).framed(unit)
    assert framed.steps[:count] == [Run(TOUCH, {"tapes": '["telegram:2"]'})]
    arrived = Arrival("telegram:2", "telegram:2", 5, "bb", 3)
    row = {name: getattr(arrived, name) for name in Arrival.__dataclass_fields__}
    fence.done(framed, [Outcome(rows=(row,))])
    fence.done(framed, [Outcome(rows=({**row, "owner": ""},))])  # nobody has to hear of that
    assert heard == [arrived]


def test_only_a_refusal_of_the_fence_says_that_a_session_is_lost() -> None:
    fence = fencing()
    assert isinstance(fence.judged(UnitFailed(FENCE, 1, 0)), SessionLost)
    other = UnitFailed("any", 1, 0)
    assert fence.judged(other) is other


def test_what_waits_is_known_until_another_unit_is_written_to_the_session() -> None:
    sessions = HeldSessions("aa", ManualClock(), 60, Tails())
    sessions.add(Held("telegram:1", "t", 1, epoch=7, arrived=0, asked=0), 0.0)
    heard: list[Arrival] = []
    fence = Fencing(sessions, str, heard.append)

    def write() -> int:
        before = sessions.units("telegram:1")
        fence.framed(Unit(works_on={"telegram:1"}))
        return before

    sessions.wait_in("telegram:1", write(), frozenset({3}))
    assert sessions.waiting("telegram:1") == frozenset({3})
    before = write()
    assert sessions.waiting("telegram:1") is None
    write()  # while the answer to the one before was under way
    sessions.wait_in("telegram:1", before, frozenset({3, 4}))
    assert sessions.waiting("telegram:1") is None
    assert sessions.waiting("telegram:2") is None
