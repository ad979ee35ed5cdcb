"""Which conversation a task belongs to, and how the constructor holds to it."""

from __future__ import annotations

import pytest

from tape.entry import Entry
from tape.handle import Tape
from tests.tape.construct.entries import said, texts


async def test_a_lane_s_own_words_come_before_the_room_s(tape: Tape) -> None:
    for number in range(40):
        await tape.append(said(f"ours {number}", lane="a"), said(f"theirs {number}", lane="b"))
    found = await tape.context_for("go on", budget=200, lane="a")
    shown = [text.split()[0] for text in texts(found.messages)]
    assert shown.count("ours") > 2 * shown.count("theirs")


async def two_tasks(tape: Tape) -> None:
    """Put two tasks of sixty messages each on a tape, as two conversations of one chat."""
    for number in range(60):
        kitchen = "the kitchen needs tiles" if number % 3 == 0 else f"yes, {number} of them"
        server = "the server moves on Monday" if number % 3 == 0 else f"no, {number} of those"
        await tape.append(said(kitchen, lane="a"), said(server, lane="b"))
    await tape.append(said("tea is ready", lane="c"), said("where does the server go?", lane="c"))


def lanes(tape_entries: dict[int, Entry]) -> list[str]:
    return [entry.meta["lane"] for entry in tape_entries.values() if "lane" in entry.meta]


@pytest.mark.parametrize("task", ["what about the server in the kitchen?", "go on", "tea"])
async def test_a_task_stays_within_the_lane_that_is_given(tape: Tape, task: str) -> None:
    await two_tasks(tape)
    found = await tape.context_for(task, lane="a")
    taken = lanes(await tape.entries(found.entries))
    assert taken.count("a") == len(taken) == 60


@pytest.mark.parametrize(
    ("task", "lane", "other"),
    [("how many tiles for the kitchen?", "a", "b"), ("when does the server move?", "b", "a")],
)
async def test_of_two_tasks_the_one_that_the_words_name_is_preferred(
    tape: Tape, task: str, lane: str, other: str
) -> None:
    await two_tasks(tape)
    for budget in (400, 4000):
        found = await tape.context_for(task, budget=budget)
        taken = lanes(await tape.entries(found.entries))
        assert found.record["lane"] == lane
        assert taken.count(other) < 0.02 * len(taken)
        assert taken.count(lane) >= (55 if budget == 4000 else 15)


async def test_a_lane_is_also_named_by_its_name(tape: Tape) -> None:
    for number in range(10):
        await tape.append(said(f"one {number}", lane="tiles"), said(f"two {number}", lane="move"))
    found = await tape.context_for("what is open with the tiles?")
    assert set(lanes(await tape.entries(found.entries))) == {"tiles"}


async def test_words_that_several_lanes_have_name_none(tape: Tape) -> None:
    await two_tasks(tape)
    found = await tape.context_for("tiles for the server")
    assert found.record["lane"] is None
    assert {"a", "b"} <= set(lanes(await tape.entries(found.entries)))
