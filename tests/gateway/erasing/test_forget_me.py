"""`,forget me`: asked once more, answered by that person alone, then all of it is gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from channels.message import Author
from gateway.erasing.forget_me import ERASING, KEPT, NOBODY, USAGE
from gateway.scheduling.presses import NOT_YOURS, UNKNOWN
from tests.fakes.openai.script import Text
from tests.gateway.erasing.stage import ANN, BOB, MARKS, SECRET, answers_of, erased, holding, said
from tests.kit.chats import GroupChat, open_group
from tests.kit.clock import ManualClock


async def test_a_person_who_confirms_is_forgotten_and_others_are_not(
    group: GroupChat, tmp_path: Path
) -> None:
    # What the agent answers to others is listed, and not erased: here, it repeats nothing of Ann.
    group.model.enqueue(Text(("all right",)), Text(("all right",)))
    await group.hear_each(said(1, SECRET), said(2, "of Bob", BOB, to=1, quote=SECRET))
    await group.hear_each(said(3, ",forget me"))
    yes, _no = answers_of(group.channel)
    assert holding(tmp_path)
    await group.hear_each(said(4, yes))
    assert group.posts[-1].text == ERASING
    await erased(group.gateway)
    assert holding(tmp_path, *MARKS, ANN.name) == []
    assert [e.meta["text"] for e in await group.tape.find(author=BOB.id)] == ["of Bob"]


async def test_another_person_cannot_confirm_it(tmp_path: Path) -> None:
    async with open_group(tmp_path) as group:
        await group.hear_each(said(1, SECRET), said(2, ",forget me"))
        yes, no = answers_of(group.channel)
        await group.hear_each(said(3, yes, BOB))
        assert group.posts[-1].text == NOT_YOURS
        await group.hear_each(said(4, no))
        assert group.posts[-1].text == KEPT
        assert await group.gateway.services.ledger.erasures.read() == []
    assert holding(tmp_path)


async def test_the_question_is_open_for_ten_minutes(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_group(tmp_path, clock=clock) as group:
        await group.hear_each(said(1, ",forget me"))
        yes, _no = answers_of(group.channel)
        clock.jump(timedelta(minutes=10, seconds=1))
        await group.hear_each(said(2, yes))
        assert group.posts[-1].text == UNKNOWN
        assert await group.gateway.services.ledger.erasures.read() == []


@pytest.mark.parametrize("line", [",forget", ",forget Bob", ",forget me now"])
async def test_anything_else_is_answered_with_how_to_write_it(group: GroupChat, line: str) -> None:
    await group.hear_each(said(1, line))
    assert group.posts[-1].text == USAGE


async def test_who_writes_in_the_name_of_a_chat_is_nobody_to_forget(group: GroupChat) -> None:
    anonymous = replace(ANN, acts_as="chat")
    assert isinstance(anonymous, Author)
    await group.hear_each(said(1, ",forget me", anonymous))
    assert group.posts[-1].text == NOBODY
