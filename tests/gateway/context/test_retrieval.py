"""Evidence from long ago, and what is known of a question beside its lane."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.context.retrieval import find_evidence
from tape.deletions import deletion
from tape.entry import NewEntry, message
from tape.handle import Tape
from tape.linking.room import WINDOW
from tape.stores.memory import MemoryStore
from tests.gateway.context.memories import says
from tests.kit.chats import GroupChat

OLD = "compost from the worm box is the best fertiliser for balcony tomatoes"
QUESTION = "which fertiliser for tomatoes on a balcony?"


def said(text: str, lane: str = "old", **more: object) -> NewEntry:
    return message("user", text, inbox=1, text=text, lane=lane, **more)


async def tape_with(*entries: NewEntry) -> Tape:
    tape = Tape(MemoryStore(), "tape")
    await tape.append(*entries)  # ids from 3 on, after the bootstrap
    return tape


async def test_what_says_all_of_a_question_s_rarest_words_is_evidence() -> None:
    tape = await tape_with(said(OLD), said("balcony doors are open"), said("lunch?"))
    assert await find_evidence(tape, "new", QUESTION, 100, 3) == [3]


@pytest.mark.parametrize(
    ("lane", "question", "before", "most"),
    [
        ("old", QUESTION, 100, 3),
        ("new", QUESTION, 3, 3),
        ("new", QUESTION, 1, 3),
        ("new", QUESTION, 100, 0),
        ("new", "which fertiliser?", 100, 3),
        ("new", "", 100, 3),
        ("new", '"(*" AND NEAR', 100, 3),
    ],
)
async def test_there_is_none(lane: str, question: str, before: int, most: int) -> None:
    tape = await tape_with(said(OLD))
    assert await find_evidence(tape, lane, question, before, most) == []


async def test_deleted_words_commands_and_what_was_before_a_reset_are_no_evidence() -> None:
    tape = await tape_with(said(OLD), deletion(3, "1"), said(OLD, command=True))
    assert await find_evidence(tape, "new", QUESTION, 100, 3) == []
    await tape.append(said(OLD))
    assert await find_evidence(tape, "new", QUESTION, 100, 3) == [6]
    await tape.handoff("task/done")
    assert await find_evidence(tape, "new", QUESTION, 100, 3) == [6]
    await tape.handoff("session/reset")
    assert await find_evidence(tape, "new", QUESTION, 100, 3) == []


async def test_what_a_rewind_skips_is_no_evidence() -> None:
    tape = await tape_with(said(OLD))
    await tape.handoff("phase:one")
    await tape.append(said(OLD))
    assert await find_evidence(tape, "new", QUESTION, 100, 3) == [3, 6]
    await tape.rewind("phase:one")
    assert await find_evidence(tape, "new", QUESTION, 100, 3) == [3]


async def test_the_newest_are_kept_and_stand_in_their_order() -> None:
    tape = await tape_with(*(said(OLD) for _ in range(5)))
    assert await find_evidence(tape, "new", QUESTION, 100, 2) == [6, 7]


async def test_a_search_that_fails_leaves_the_question_without_evidence() -> None:
    tape = await tape_with(said(OLD))
    await tape.store.close()
    assert await find_evidence(tape, "new", QUESTION, 100, 3) == []


async def test_a_question_in_a_group_is_shown_what_was_said_about_it_long_ago(
    group: GroupChat,
) -> None:
    talk = [says(n, str(n % 5), f"aside {n} of the day") for n in range(2, WINDOW + 40)]
    await group.hear(says(1, "1", OLD), *talk)
    asked = says(500, "9", f"@tapeway {QUESTION}", addressed=True, why="mention")
    await group.hear(replace(asked, mentions=("@tapeway",)))
    prompt = [str(m["content"]) for m in group.model.requests[-1].body["messages"]]
    assert sum(OLD in text for text in prompt) == 1
    assert QUESTION in prompt[-1]
