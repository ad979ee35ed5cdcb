"""Queries as data: each condition, the limits, and the questions that a tape's handle asks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tape.entry import Entry, anchor, event, message
from tape.errors import NotFound, QueryRefused
from tape.handle import Tape
from tape.query import Query
from tape.stores.memory import MemoryStore

DATE = "2026-01-0{}T00:00:00.000000+00:00"
ENTRIES = [
    Entry(1, "anchor", {"name": "session/start", "state": {}}, {}, DATE.format(1)),
    Entry(2, "message", {"content": "Straße"}, {"author": "7", "lane": "a"}, DATE.format(2)),
    Entry(3, "tool_call", {"calls": []}, {"lane": "a", "turn": "t1"}, DATE.format(3)),
    Entry(4, "event", {"name": "handoff", "data": {}}, {"lane": "b"}, DATE.format(4)),
    Entry(5, "message", {"content": "你好"}, {"author": "8", "lane": "b"}, DATE.format(5)),
]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (Query("t"), [1, 2, 3, 4, 5]),
        (Query("t", after=3), [4, 5]),
        (Query("t", before=3), [1, 2]),
        (Query("t", ids=(5, 2, 99)), [2, 5]),
        (Query("t", ids=()), []),
        (Query("t", kinds=("event", "anchor")), [1, 4]),
        (Query("t", name="handoff"), [4]),
        (Query("t", since=DATE.format(2), until=DATE.format(4)), [2, 3]),
        (Query("t", author="8"), [5]),
        (Query("t", authors=("7", "8"), after=2), [5]),
        (Query("t", names=("handoff", "session/start"), name="handoff"), [4]),
        (Query("t", after_anchor="session/start", limit=1), [2]),
        (Query("t", before_anchor="session/start"), []),
        (Query("t", since="2026-01-02", until="2026-01-03T00:00:00.000001Z"), [2, 3]),
        (Query("t", lane="a"), [2, 3]),
        (Query("t", lane="a", unlaned=True), [1, 2, 3]),
        (Query("t", turn="t1"), [3]),
        (Query("t", text="STRASSE"), [2]),
        (Query("t", text="好"), [5]),
        (Query("t", lane="b", kinds=("message",), after=3), [5]),
        (Query("t", limit=2), [1, 2]),
        (Query("t", limit=2, newest=True), [4, 5]),
        (Query("t", limit=0), []),
        (Query("t", limit=0, newest=True), []),
        (Query("t", limit=99, newest=True), [1, 2, 3, 4, 5]),
    ],
    ids=str,
)
def test_a_query_picks_what_meets_all_its_conditions_in_tape_order(
    query: Query, ids: list[int]
) -> None:
    assert [entry.id for entry in query.pick(ENTRIES)] == ids


async def _story() -> Tape:
    tape = Tape(MemoryStore(), "t")
    await tape.append(message("user", "before"), anchor("task/start"), message("user", "one"))
    await tape.append(anchor("task/done"), message("user", "gap"))
    await tape.append(anchor("task/start"), message("user", "two"), anchor("task/done"))
    await tape.append(message("user", "Two, at the end"))
    return tape


def _said(entries: list[Entry]) -> list[str]:
    return [entry.text for entry in entries if entry.kind == "message"]


async def test_after_an_anchor_is_what_follows_the_latest_of_that_name() -> None:
    tape = await _story()
    assert _said(await tape.after("task/start")) == ["two", "Two, at the end"]
    assert _said(await tape.after()) == ["Two, at the end"]
    assert (await tape.after("task/start"))[0].text == "two"


async def test_between_two_anchors_is_from_the_latest_first_to_the_next_second() -> None:
    tape = await _story()
    assert [entry.text for entry in await tape.between("task/start", "task/done")] == ["two"]
    await tape.append(anchor("task/done"), message("user", "beyond"))
    assert [entry.text for entry in await tape.between("task/start", "task/done")] == ["two"]


async def test_an_unknown_anchor_is_not_found_and_the_nearest_names_are_told() -> None:
    tape = await _story()
    with pytest.raises(NotFound, match="task/start") as caught:
        await tape.after("task/stat")
    assert caught.value.name == "task/stat"
    assert caught.value.nearest[0] == "task/start"
    with pytest.raises(NotFound):
        await tape.between("task/done", "task/start")


async def test_recent_entries_come_oldest_first() -> None:
    tape = await _story()
    assert [entry.text for entry in await tape.recent(2)] == ["task/done", "Two, at the end"]


async def test_a_search_finds_the_newest_first_whatever_the_case() -> None:
    tape = await _story()
    assert [entry.text for entry in await tape.search(" TWO ")] == ["Two, at the end", "two"]
    assert [entry.text for entry in await tape.search("two", limit=1)] == ["Two, at the end"]
    assert await tape.search("  ") == []


async def test_a_lane_has_its_own_latest_anchor_or_the_latest_of_the_whole_tape() -> None:
    tape = Tape(MemoryStore(), "t")
    await tape.append(anchor("wide"), anchor("of-a", lane="a"), anchor("of-b", lane="b"))
    found = [await tape.last_anchor(lane=lane) for lane in ("a", "b", "c")]
    assert [entry.name for entry in found if entry] == ["of-a", "of-b", "wide"]
    await tape.append(anchor("session/reset"), event("handoff"))
    assert (await tape.last_anchor(lane="a")).name == "session/reset"  # type: ignore[union-attr]


async def test_the_newest_anchors_are_given_in_tape_order() -> None:
    tape = await _story()
    assert [entry.name for entry in await tape.anchors(2)] == ["task/start", "task/done"]
    assert len(await tape.anchors()) == 5


async def test_a_handle_asks_only_its_own_tape() -> None:
    tape = await _story()
    await tape.store.append("other", [message("user", "elsewhere")])
    assert "elsewhere" not in _said(await tape.run_query(Query("other")))


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026", "2026-01-01T00:00:00"),
        (" 2026-03 ", "2026-03-01T00:00:00"),
        ("2026-03-04", "2026-03-04T00:00:00"),
        ("2026-03-04 05:06", "2026-03-04T05:06:00"),
        ("2026-03-04t05:06:07z", "2026-03-04T05:06:07"),
        ("2026-03-04T01:06+08:00", "2026-03-03T17:06:00"),
    ],
)
def test_a_date_is_what_people_write_and_kept_as_tapes_write_it(written: str, kept: str) -> None:
    query = Query("t", since=written)
    assert query.since == f"{kept}.000000+00:00"
    assert replace(query, until=query.since).until == query.since


@pytest.mark.parametrize("written", ["", "soon", "2026-02-30", "12/11/2026", "-1", "9" * 5000])
def test_what_is_no_date_is_refused_with_a_date_to_write(written: str) -> None:
    with pytest.raises(QueryRefused, match=r"until is not a date .*: write 2026-01-02"):
        Query("t", until=written)


def test_a_limit_is_never_negative() -> None:
    with pytest.raises(QueryRefused, match="limit is -1"):
        Query("t", limit=-1)


def test_what_no_id_can_be_is_about_nothing() -> None:
    for number in (0, -3, 2**32, 2**70):
        change = Entry(3, "event", {"name": "message.edit", "data": {"entry": number}}, {}, "")
        assert Query("t", about=(number,)).pick([change]) == []


async def test_the_first_of_no_entries_is_none() -> None:
    tape = Tape(MemoryStore(), "t")
    await tape.append(message("user", "a"))
    first, newest = await tape.query.first(), await tape.query.limit(5, newest=True).first()
    assert (first and first.name, newest and newest.text) == ("session/start", "a")
    assert await tape.query.limit(0).first() is None
