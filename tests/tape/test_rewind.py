"""Rewinds beyond the conformance suite: lanes, running turns, snapshots and what is out of view."""

from __future__ import annotations

import pytest

from tape.context import view_entries
from tape.entry import Entry, NewEntry, anchor, event, message
from tape.errors import TapeError
from tape.handle import Tape
from tape.rewind import branch, find_anchor, out_of_view
from tape.snapshot import TapeSnapshot
from tape.stores.memory import MemoryStore
from tests.tape.old_store import DATE, OldStore, PartlyOldStore


@pytest.fixture
async def tape() -> Tape:
    tape = Tape(MemoryStore(), "chat")
    await tape.handoff("phase:one", {"goal": "tea"})
    await tape.append(message("user", "between", lane="a"))
    return tape


def texts(entries: list[Entry]) -> list[str]:
    return [entry.text for entry in entries if entry.kind == "message"]


async def test_every_lane_goes_on_from_the_older_anchor(tape: Tape) -> None:
    await tape.handoff("task/start", {"n": 1}, lane="a")
    await tape.rewind("phase:one", by="7")
    await tape.append(message("user", "behind", lane="a"))
    start, *rest = await view_entries(tape, lane="a")
    assert (start.payload["state"], start.meta["by"]) == ({"goal": "tea"}, "7")
    assert texts(rest) == ["behind"]


async def test_a_running_turn_keeps_its_view_and_is_not_in_that_of_a_later_one(tape: Tape) -> None:
    await tape.append(event("turn.start", {"turn": "t1", "takes": [5]}, turn="t1"))
    await tape.rewind("phase:one")
    await tape.append(message("assistant", "late answer", turn="t1", final=True))
    assert texts(await view_entries(tape, turn="t1")) == ["between", "between", "late answer"]
    (asked,) = await tape.append(message("user", "next", inbox=2))
    start = event("turn.start", {"turn": "t2", "takes": [asked.id]}, turn="t2")
    await tape.append(start)
    assert texts(await view_entries(tape, turn="t2")) == ["next"]


@pytest.mark.parametrize("back", ["session/rewind", "session/reset"])
async def test_an_anchor_of_a_turn_beside_a_rewind_or_reset_does_not_undo_it(
    tape: Tape, back: str
) -> None:
    await tape.append(event("turn.start", {"turn": "t1", "takes": [5]}, turn="t1", lane="a"))
    mark = await tape.handoff(back, {"goal": "tea"})
    await tape.append(message("user", "since", lane="a"))
    await tape.handoff("context:overflow", {}, turn="t1", lane="a")
    await tape.append(
        event("turn.retake", {"turn": "t1", "takes": [5]}, turn="t1", lane="a"),
        message("assistant", "late answer", turn="t1", lane="a", final=True),
    )
    assert texts(await view_entries(tape, lane="a", turn="t1")) == ["between", "late answer"]
    (asked,) = await tape.append(message("user", "next", inbox=2, lane="a"))
    await tape.append(event("turn.start", {"turn": "t2", "takes": [asked.id]}, turn="t2", lane="a"))
    for turn in ("t2", None):
        start, *rest = await view_entries(tape, lane="a", turn=turn)
        assert (start, texts(rest)) == (mark, ["since", "next"])
    for name in (back, "phase:two"):
        later = await tape.handoff(name, {}, turn="t2", lane="a")
        assert (await view_entries(tape, lane="a"))[0] == later


async def test_a_snapshot_shows_what_was_in_view_then_and_takes_no_rewind(tape: Tape) -> None:
    before = await tape.context()
    then = TapeSnapshot(tape, await tape.size())
    await tape.rewind("phase:one")
    assert await then.context() == before != await tape.context()
    with pytest.raises(TapeError, match="snapshot"):
        await then.rewind("phase:one")


async def test_a_rewind_to_a_rewind_has_the_same_state(tape: Tape) -> None:
    first = await tape.rewind("phase:one")
    await tape.append(message("user", "aside"))
    again = await tape.rewind(first)
    assert again.payload["state"] == {"goal": "tea"}
    assert [span for span in await out_of_view(tape) if 5 in span]


async def test_an_anchor_without_a_state_has_an_empty_one(tape: Tape) -> None:
    await tape.append(
        NewEntry("anchor", {"name": "odd"}), NewEntry("anchor", {"name": "odder", "state": [1]})
    )
    for name in ("odd", "odder"):
        assert (await tape.rewind(name)).payload["state"] == {}


async def test_what_a_rewind_skips_is_out_of_view_and_a_reset_in_it_is_undone(tape: Tape) -> None:
    one = await tape.anchor("phase:one")
    await tape.handoff("session/reset")
    rewound = await tape.rewind(one)
    assert await out_of_view(tape) == [range(one.id + 1, rewound.id)]
    reset = await tape.handoff("session/reset")
    assert await out_of_view(tape) == [range(1, reset.id)]


async def test_a_branch_keeps_the_ids_behind_an_entry_that_stores_refuse_today() -> None:
    start = event("turn.start", {"turn": "t", "takes": [4]})
    bad = NewEntry("tool_result", {}, {"lane": "a"})
    asked = message("user", "asked", inbox=1)
    store = OldStore(anchor("session/start"), start, bad, asked, anchor("phase:x"))
    old = Tape(PartlyOldStore(store, "old"), "old")
    await branch(old, await old.anchor("phase:x"), "copy")
    entries = await Tape(old.store, "copy").read()
    assert [entry.id for entry in entries if entry.kind == "message"] == [4]
    assert entries[2].payload["data"] == {"kind": "tool_result", "payload": {}, "meta": bad.meta}
    assert (entries[2].name, entries[2].date) == ("branch.unreadable", DATE)


async def test_an_anchor_is_found_by_its_number_or_else_by_its_name(tape: Tape) -> None:
    one = await tape.anchor("phase:one")
    await tape.handoff("5", {"a": "name of digits"})
    assert await find_anchor(tape, str(one.id)) == one
    assert (await find_anchor(tape, "5")).name == "5"  # the entry 5 is no anchor
