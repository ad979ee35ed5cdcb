"""The codec of the events that put messages into views."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tape.entry import Entry, event, message
from tape.turn_events import TurnRetake, TurnStart, is_take, read_take

IDS = st.lists(st.integers(1, 10**9), max_size=5).map(tuple)


def as_entry(take: TurnStart | TurnRetake) -> Entry:
    new = take.to_entry()
    return Entry(7, new.kind, new.payload, new.meta, "2026-01-01T00:00:00.000000Z")


@given(st.builds(TurnStart, st.text(), IDS, IDS, st.booleans()))
def test_a_start_is_read_as_it_was_written(start: TurnStart) -> None:
    assert read_take(as_entry(start)) == start


@given(st.builds(TurnRetake, st.text(), IDS, st.booleans(), IDS))
def test_a_retake_is_read_as_it_was_written(retake: TurnRetake) -> None:
    assert read_take(as_entry(retake)) == retake


def test_a_start_keeps_the_order_of_its_keys() -> None:
    data = TurnStart("t", (3,), (1, 2), whole_room=True).to_entry().payload["data"]
    assert list(data.items()) == [
        ("turn", "t"),
        ("include", [1, 2]),
        ("view", "room"),
        ("takes", [3]),
    ]


def test_empty_fields_are_not_written() -> None:
    assert TurnStart("t", (3,)).to_entry().payload["data"] == {"turn": "t", "takes": [3]}
    assert TurnRetake("t", (3,)).to_entry().payload["data"] == {"turn": "t", "takes": [3]}


@pytest.mark.parametrize("name", ["turn.start", "turn.retake"])
def test_an_imported_take_without_fields_shows_nothing(name: str) -> None:
    new = event(name, {})
    take = read_take(Entry(1, new.kind, new.payload, {}, ""))
    assert take.shown == ()
    assert asdict(take)["turn"] == ""


def test_other_entries_are_no_takes() -> None:
    for new in (message("user", "hi"), event("turn.end", {"turn": "t"})):
        assert not is_take(Entry(1, new.kind, new.payload, {}, ""))
