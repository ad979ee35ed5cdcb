"""What a store refuses because no view could show it, and views of tapes that hold it already."""

from __future__ import annotations

import pytest

from tape.context import to_messages
from tape.entry import NewEntry, anchor, event, message, numbered, tool_call
from tape.errors import AppendRefused
from tape.handle import Tape
from tape.payloads import check, left_out
from tape.testing.stores import UNSHOWABLE
from tests.tape.old_store import DATE, OldStore


def test_an_unknown_kind_and_a_nameless_anchor_are_refused() -> None:
    with pytest.raises(AppendRefused, match="'gossip' is not a kind"):
        check([message("user", "fine"), NewEntry("gossip", {})])
    with pytest.raises(AppendRefused, match="has no name"):
        check([NewEntry("anchor", {"name": "", "state": {}})])
    with pytest.raises(AppendRefused, match="has no name"):
        check([NewEntry("event", {"name": 5})])


@pytest.mark.parametrize("bad", UNSHOWABLE, ids=str)
def test_what_would_break_every_later_view_is_refused_in_words(bad: NewEntry) -> None:
    with pytest.raises(AppendRefused, match=r"no view could show this .*(needs|are ids)"):
        check([message("user", "fine"), bad])


def test_what_a_model_and_the_gateway_write_is_taken() -> None:
    check(
        [
            message("user", [{"type": "text", "text": "a"}]),
            NewEntry("message", {"role": "assistant", "content": None, "tool_calls": [{}]}),
            tool_call([]),
            NewEntry("anchor", {"name": "phase:one"}),
            NewEntry("event", {"name": "anything"}),
            event("turn.start", {"turn": "t", "takes": []}),
            event("message.edit", {"entry": 1, "content": ""}),
        ]
    )


def test_an_imported_event_may_name_an_entry_that_its_file_does_not_hold() -> None:
    lost = event("message.delete", {"entry": 0})
    check([lost], imported=True)
    with pytest.raises(AppendRefused, match="needs the id of a message"):
        check([lost])


@pytest.mark.parametrize("bad", UNSHOWABLE, ids=str)
async def test_a_view_leaves_out_what_it_cannot_show_and_reports_it(bad: NewEntry) -> None:
    left_out.entries.clear()
    store = OldStore(
        anchor("phase:one"),
        message("user", "before", inbox=1),
        event("turn.start", {"turn": "t", "takes": [2]}),
        bad,
        message("user", "behind"),
    )
    tape = Tape(store, "old")
    assert [one.get("content") for one in (await tape.context())[1:]] == ["before", "behind"]
    assert (await tape.full_context())[1:] == (await tape.context())[1:]
    assert (await tape.context_for("behind")).messages
    assert [entry.text for entry in await tape.search("behind")] == ["behind"]
    assert (await tape.context_summary())["entries"] == 5
    assert len(await tape.read()) == 5
    assert left_out.entries == {("old", 4)}
    assert left_out.notes() == ["views leave out what they cannot show of the tape old: entry 4"]


@pytest.mark.parametrize("bad", UNSHOWABLE, ids=str)
def test_a_selection_of_ones_own_does_not_raise_either(bad: NewEntry) -> None:
    assert to_messages(numbered([bad, message("user", "a")], 0, DATE))[-1]["content"] == "a"
