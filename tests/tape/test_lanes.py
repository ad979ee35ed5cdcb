"""Lanes that are apart: which entries a view shows, and which anchors hold in it."""

from __future__ import annotations

import pytest

from tape.context import LATEST, view_entries
from tape.entry import Entry, NewEntry, handoff, message
from tape.errors import NotFound
from tape.handle import Tape
from tape.lanes import holds_in, is_apart, topic_lane
from tape.rewind import anchor_in, anchors_in, out_of_view
from tape.stores.memory import MemoryStore

ROSES, TRAINS = topic_lane("31"), topic_lane("32")


@pytest.fixture
def tape() -> Tape:
    return Tape(MemoryStore(), "chat")


def said(text: str, lane: str | None = None) -> NewEntry:
    return message("user", text, **({"lane": lane} if lane else {}))


async def shown(tape: Tape, lane: str | None = None) -> list[str]:
    return [one.text for one in await view_entries(tape, LATEST, lane) if one.kind == "message"]


async def begun(tape: Tape) -> None:
    await tape.append(*handoff("session/start", {}))
    await tape.append(said("outside"), said("roses", ROSES), said("trains", TRAINS))


async def test_a_view_shows_its_own_topic_or_what_is_outside_all(tape: Tape) -> None:
    await begun(tape)
    assert [await shown(tape, lane) for lane in (None, ROSES, TRAINS)] == [
        ["outside"],
        ["roses"],
        ["trains"],
    ]


@pytest.mark.parametrize("lane", ["thread:31", "said:-5/7", "reply:9", "a lane that nobody knows"])
async def test_a_view_without_a_lane_shows_every_other_lane_as_before(
    tape: Tape, lane: str
) -> None:
    await begun(tape)
    await tape.append(said("another", lane))
    assert await shown(tape) == ["outside", "another"]
    await tape.append(*handoff("phase:one", {}, lane=lane))
    assert await shown(tape) == []


async def test_the_whole_tape_is_the_whole_tape(tape: Tape) -> None:
    await begun(tape)
    assert {str(one["content"]) for one in await tape.full_context()} >= {"outside", "roses"}


async def test_an_anchor_of_a_topic_holds_there_alone(tape: Tape) -> None:
    await begun(tape)
    await tape.append(*handoff("phase:one", {}, lane=ROSES))
    assert [await shown(tape, lane) for lane in (None, ROSES, TRAINS)] == [
        ["outside"],
        [],
        ["trains"],
    ]


@pytest.mark.parametrize(
    "name", ["phase:one", "task/done", "session/rewind", "context:overflow", "any/other"]
)
async def test_an_anchor_outside_the_topics_holds_outside_them(tape: Tape, name: str) -> None:
    await begun(tape)
    await tape.append(*handoff(name, {}))
    assert [await shown(tape, lane) for lane in (None, ROSES)] == [[], ["roses"]]


async def test_a_reset_of_the_chat_holds_in_every_topic(tape: Tape) -> None:
    await begun(tape)
    await tape.append(*handoff("session/reset", {}))
    assert [await shown(tape, lane) for lane in (None, ROSES, TRAINS)] == [[], [], []]
    await tape.append(said("again", ROSES))
    assert await shown(tape, ROSES) == ["again"]


async def test_a_reset_of_a_topic_takes_nothing_else_out_of_view(tape: Tape) -> None:
    await begun(tape)
    await tape.append(*handoff("session/reset", {}, lane=ROSES))
    assert await out_of_view(tape) == []
    await tape.append(*handoff("session/reset", {}))
    (span,) = await out_of_view(tape)
    assert 3 in span


async def test_an_anchor_is_found_where_it_holds(tape: Tape) -> None:
    await begun(tape)
    for lane in (None, ROSES, TRAINS):
        meta = {"lane": lane} if lane else {}
        await tape.append(*handoff("phase:one", {"lane": str(lane)}, **meta))
    (one,) = await anchors_in(tape, ROSES, 1)
    assert await anchor_in(tape, ROSES, "phase:one") == one
    assert one.meta["lane"] == ROSES
    outside = await anchor_in(tape, None, "phase:one")
    assert "lane" not in outside.meta
    with pytest.raises(NotFound):
        await anchor_in(tape, TRAINS, str(one.id))
    names = [anchor.name for anchor in await anchors_in(tape, ROSES, 9)]
    assert names == ["session/start", "phase:one"]


async def test_many_anchors_elsewhere_hide_none_of_a_topic_s_own(tape: Tape) -> None:
    await begun(tape)
    await tape.append(*handoff("phase:mine", {}, lane=ROSES))
    for number in range(30):
        await tape.append(*handoff(f"phase:{number}", {}))
        await tape.append(*handoff(f"phase:{number}", {}, lane=TRAINS))
    last = await tape.last_anchor(lane=ROSES)
    assert last is not None
    assert last.name == "phase:mine"
    assert [one.name for one in await anchors_in(tape, ROSES, 2)] == ["session/start", "phase:mine"]


@pytest.mark.parametrize("lane", [None, 7, "", "thread:31", "topics"])
def test_only_a_topic_is_apart(lane: object) -> None:
    assert not is_apart(lane)
    assert is_apart(ROSES)


def test_an_anchor_whose_lane_is_no_text_counts_as_one_without() -> None:
    payload = {"name": "phase:one", "state": {}}
    anchor = Entry(5, "anchor", payload, {"lane": 7}, "2026-01-02T03:04:05+00:00")
    assert holds_in(anchor, None)
    assert not holds_in(anchor, ROSES)
