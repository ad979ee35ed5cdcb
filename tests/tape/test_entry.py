"""Entries: their lines of JSONL, their names and texts, and what a tape refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tape.entry import (
    Entry,
    NewEntry,
    anchor,
    bootstrap,
    dump,
    event,
    from_line,
    handoff,
    message,
    parse_date,
    to_line,
    tool_call,
    utc_iso,
    with_bootstrap,
)
from tape.errors import AppendRefused

DATE = "2026-01-02T03:04:05.000006+00:00"


def test_a_line_is_the_five_keys_in_their_order_on_one_line() -> None:
    entry = Entry(7, "message", {"role": "user", "content": "one\ntwo 中"}, {"lane": "a"}, DATE)
    line = to_line(entry)
    assert "\n" not in line
    assert list(json.loads(line)) == ["id", "kind", "payload", "meta", "date"]
    assert from_line(line) == entry


def test_a_line_without_meta_is_an_entry_with_an_empty_one() -> None:
    line = '{"id": 1, "kind": "system", "payload": {"content": "be kind"}, "date": "2026-01-02"}'
    assert from_line(line) == Entry(1, "system", {"content": "be kind"}, {}, "2026-01-02")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "not json",
        "[]",
        "null",
        '{"id": 1, "kind": "message", "payload": {}}',
        '{"id": null, "kind": "message", "payload": {}, "meta": {}, "date": "x"}',
        '{"id": "x", "kind": "message", "payload": {}, "meta": {}, "date": "x"}',
        '{"id": [], "kind": "message", "payload": {}, "meta": {}, "date": "x"}',
        '{"id": 1.5, "kind": "message", "payload": {}, "meta": {}, "date": "x"}',
        '{"id": 1, "kind": "message", "payload": "text", "meta": {}, "date": "x"}',
        '{"id": 1, "kind": "message", "payload": {}, "meta": ["x"], "date": "x"}',
        '{"id": 1, "kind": "message", "payload": {}, "meta": {}, "date": 5}',
    ],
)
def test_a_line_that_is_no_entry_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_line(line)


def test_only_anchors_and_events_have_a_name() -> None:
    assert anchor("phase:one").name == "phase:one"
    assert event("turn.start").name == "turn.start"
    assert NewEntry("message", {"role": "user", "name": "anna", "content": ""}).name is None


def test_the_text_of_an_entry_is_what_was_said() -> None:
    parts = [{"type": "text", "text": "see"}, {"type": "image_url"}, {"type": "text", "text": "it"}]
    texts = {
        "hello": message("user", "hello"),
        "see\nit": message("user", parts),
        'phase:one {"goal":"tea"}': anchor("phase:one", {"goal": "tea"}),
        "phase:two": anchor("phase:two"),
        "lost": NewEntry("error", {"message": "lost"}),
        "": tool_call([{"id": "c", "function": {"name": "secret", "arguments": "{}"}}]),
    }
    for text, new in texts.items():
        assert Entry(1, new.kind, new.payload, new.meta, DATE).text == text


def test_a_handoff_is_an_anchor_and_the_event_that_names_it() -> None:
    made, record = handoff("phase:one", {"goal": "tea"}, lane="a")
    assert (made.kind, made.payload) == ("anchor", {"name": "phase:one", "state": {"goal": "tea"}})
    assert (record.kind, record.payload["name"]) == ("event", "handoff")
    assert record.payload["data"] == {"name": "phase:one"}
    assert made.meta == record.meta == {"lane": "a"}


def test_the_bootstrap_comes_before_the_first_batch_and_before_no_other() -> None:
    batch = [message("user", "a")]
    assert with_bootstrap(batch, empty=True) == [*bootstrap(), *batch]
    assert with_bootstrap(batch, empty=False) == batch
    assert with_bootstrap([], empty=True) == list(bootstrap())


def test_a_batch_that_brings_its_own_beginning_gets_no_other() -> None:
    imported = [*bootstrap(), message("user", "a")]
    assert with_bootstrap(imported, empty=True) == imported
    opening = [event("fork.open", {"parent": "t", "at": 3})]
    assert with_bootstrap(opening, empty=True) == opening
    of_nothing = [*opening, *bootstrap()]
    assert with_bootstrap(of_nothing, empty=True) == of_nothing


def test_a_second_session_start_is_refused() -> None:
    start = bootstrap()[0]
    for batch, empty in (
        ([start], False),
        ([message("user", "a"), start], True),
        ([start, message("user", "a"), start], True),
    ):
        with pytest.raises(AppendRefused, match="one anchor session/start"):
            with_bootstrap(batch, empty=empty)


def test_dates_are_utc_with_microseconds_so_that_their_text_sorts_as_time_does() -> None:
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    later = datetime(2026, 1, 2, 14, 0, 0, 1, tzinfo=timezone(timedelta(hours=2)))
    assert utc_iso(noon) == "2026-01-02T12:00:00.000000+00:00"
    assert utc_iso(noon) < utc_iso(later) == "2026-01-02T12:00:00.000001+00:00"
    assert parse_date(utc_iso(later)) == later


def test_a_date_without_an_offset_is_utc() -> None:
    assert parse_date("2026-01-02T12:00:00") == datetime(2026, 1, 2, 12, tzinfo=UTC)


def test_a_dump_keeps_the_order_of_keys_and_writes_unicode_as_it_is() -> None:
    assert dump({"b": 1, "a": ["中", None, 2.5]}) == '{"b":1,"a":["中",null,2.5]}'


@pytest.mark.parametrize("value", [object(), "\ud800", 2**70, {1: "a"}, b"bytes", {"a": {1, 2}}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(AppendRefused, match="clean it before the append"):
        dump({"content": value})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_has_no_word_for_is_refused_and_not_made_null(number: float) -> None:
    with pytest.raises(AppendRefused, match="clean it before the append"):
        dump({"content": [number]})
