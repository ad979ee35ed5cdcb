"""The codec of the events that put messages into views."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tape.entry import Entry, event, message
from tape.turn_events import DayLines, TurnRetake, TurnStart, further_days, is_take, read_take

IDS = st.lists(st.integers(1, 10**9), max_size=5).map(tuple)


def as_entry(take: TurnStart | TurnRetake) -> Entry:
    new = take.to_entry()
    return Entry(7, new.kind, new.payload, new.meta, "2026-01-01T00:00:00.000000Z")


DAYS = st.lists(st.text(max_size=5), max_size=3).map(tuple)


@given(
    st.builds(TurnStart, st.text(), IDS, IDS, st.booleans(), DAYS)
    | st.builds(TurnStart, st.text(), IDS, IDS, dates=DAYS, recent=st.booleans(), doubted=IDS)
)
def test_a_start_is_read_as_it_was_written(start: TurnStart) -> None:
    assert read_take(as_entry(start)) == start


@given(st.builds(TurnRetake, st.text(), IDS, st.booleans(), IDS, DAYS))
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


def test_a_start_says_which_messages_are_in_doubt_and_that_the_last_are_shown() -> None:
    take = TurnStart("t", (4,), (1, 2, 3), recent=True, doubted=(2,))
    assert list(take.to_entry().payload["data"].items()) == [
        ("turn", "t"),
        ("include", [1, 2, 3]),
        ("view", "recent"),
        ("takes", [4]),
        ("doubted", [2]),
    ]
    assert take.shown == (1, 2, 3, 4)


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


def said(number: int, day: int) -> Entry:
    new = message("user", "x", inbox=1, said_at=f"2026-11-{day:02}T10:00:00+00:00")
    return Entry(number, new.kind, new.payload, new.meta, "2026-12-01T00:00:00.000000Z")


@given(st.lists(st.integers(1, 4), max_size=8), st.integers(0, 4))
def test_each_day_that_begins_within_a_take_has_its_line_once(days: list[int], last: int) -> None:
    names = {1: "Sun 2026-11-01", 2: "Mon 2026-11-02", 3: "Tue 2026-11-03", 4: "Wed 2026-11-04"}
    entries = [said(number, day) for number, day in enumerate(days, start=1)]
    lines = DayLines(further_days(entries, names.get(last, "")))
    shown = [lines.above(entry) for entry in entries]
    begins = [day != before for day, before in zip(days, [last, *days], strict=False)]
    assert shown == [names[day] if one else "" for day, one in zip(days, begins, strict=True)]


def test_a_message_without_a_date_has_no_line() -> None:
    new = message("user", "x")
    entry = Entry(1, new.kind, new.payload, {}, "2026-12-01T00:00:00.000000Z")
    assert further_days([entry]) == ()
    assert DayLines(("Sun 2026-11-01",)).above(entry) == ""
