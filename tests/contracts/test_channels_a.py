"""A: one event, once; on every channel that has what a line needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from channels.testing import PersonMessage
from tests.fakes.openai.script import Text
from tests.kit.mortal import Moment
from tests.kit.play import Play, opened, playing, prompt_of
from tests.kit.promised import is_at_length, promises


@promises("A1")
@pytest.mark.parametrize("as_new", [False, True], ids=["the same delivery", "another delivery"])
async def test_a1_a_message_that_comes_again_is_answered_once(
    channel: str, tmp_path: Path, as_new: bool
) -> None:
    async with playing(channel, tmp_path, days=True) as play:
        chat, alice = play.chat(), play.person()
        said = await play.stage.say(chat, alice, "once")
        await play.stage.redeliver(said, as_new=as_new)
        await play.settle()
        for seconds in (1, 3600, 24 * 3600)[: 3 if is_at_length(channel) else 2]:
            await play.clock.advance(seconds)
            await play.stage.redeliver(said, as_new=as_new)
            await play.settle()
        play.answer(said)
        assert len(play.model.requests) == 1


@promises("A1")
async def test_a1_a_message_that_comes_again_after_a_restart_is_answered_once(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            chat = play.chat()
            said = await play.ask(chat, play.person(), "once")
        async with house.playing(tmp_path) as play:
            await play.stage.redeliver(said, as_new=True)
            await play.settle()
            play.answer(said)
            assert len(play.model.requests) == 1


@promises("A4")
async def test_a4_an_edit_before_its_turn_is_what_the_turn_sees(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, BUFFER__DEBOUNCE="1") as play:
        chat, alice = play.chat(), play.person()
        said = await play.stage.say(chat, alice, "how old is the plum tree?")
        await play.taken()
        await play.stage.edit(said, said.text.replace("plum", "pear"))
        await play.taken()
        await play.clock.advance(2)
        await play.settle()
        play.answer(said)
        assert "the pear tree" in prompt_of(play.model)
        assert "the plum tree" not in prompt_of(play.model)


@promises("A4")
async def test_a4_an_edit_after_its_turn_is_told_at_the_next_and_starts_none(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        said = await play.ask(chat, alice, "how old is the plum tree?")
        await play.stage.edit(said, said.text.replace("plum", "pear"))
        await play.settle()
        assert len(play.model.requests) == 1
        await play.ask(chat, alice, "well?")
        assert "the pear tree" in prompt_of(play.model)


async def edited_to_ask(play: Play, said: PersonMessage, question: str) -> None:
    """Have the author add a mention of the agent to what was said to a group."""
    await play.stage.edit(said, f"{play.stage.calling()} {question}")
    await play.settle()


@promises("A4", "groups")
async def test_a4_an_edit_of_what_asked_nothing_asks_once(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.stage.group(), play.person()
        said = await play.stage.say(chat, alice, "how old is the plum tree?", mention=False)
        await play.settle()
        assert play.stage.answers(chat) == []
        await edited_to_ask(play, said, "how old is the pear tree?")
        play.answer(said)
        assert "the pear tree" in prompt_of(play.model)
        assert "the plum tree" not in prompt_of(play.model)
        await edited_to_ask(play, said, "how old is the quince tree?")
        play.answer(said)
        assert len(play.model.requests) == 1


@promises("A4", "groups")
async def test_a4_what_another_s_turn_was_shown_asks_by_an_edit(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice, bob = play.stage.group(), play.person(), play.person("Bob")
        said = await play.stage.say(chat, alice, "how old is the plum tree?", mention=False)
        await play.ask(chat, bob, "how old is the plum tree?")
        await edited_to_ask(play, said, "how old is the pear tree?")
        play.answer(said)
        assert len(play.model.requests) == 2


@promises("A4", "groups")
async def test_a4_an_edit_after_more_than_five_minutes_asks_nothing(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat = play.stage.group()
        said = await play.stage.say(chat, play.person(), "how old is it?", mention=False)
        await play.settle()
        await play.clock.advance(302)
        await edited_to_ask(play, said, "how old is it?")
        assert play.stage.answers(chat) == []
        assert play.model.requests == []


@promises("A4", "groups")
@pytest.mark.parametrize(
    ("moment", "name"),
    [
        ("after", "ledger.accept"),
        ("before", "ledger.taken_in"),
        ("after", "ledger.taken_in"),
        ("after", "turn.start"),
        ("before", "turn.end"),
        ("after", "turn.end"),
    ],
)
async def test_a4_an_edit_that_asks_is_answered_once_through_a_kill(
    channel: str, tmp_path: Path, moment: Moment, name: str
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            chat = play.stage.group()
            said = await play.stage.say(chat, play.person(), "how old is it?", mention=False)
            await play.settle()
            play.kill_at(moment, lambda held: name in held)
            await play.stage.edit(said, f"{play.stage.calling()} how old is it?")
            await play.killed()
        async with house.playing(tmp_path) as play:
            await play.settle()
            play.answer(said)
            assert len(await play.events(chat, "turn.start")) == 1
            (end,) = await play.events(chat, "turn.end")
            assert end["status"] == "done"


@promises("A4", "deletions")
async def test_a4_a_question_that_is_deleted_before_its_turn_is_not_asked(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, BUFFER__DEBOUNCE="1") as play:
        chat, alice = play.chat(), play.person()
        said = await play.stage.say(chat, alice, "how old is the plum tree?")
        await play.taken()
        await play.stage.delete(said)
        await play.taken()
        await play.clock.advance(2)
        await play.settle()
        assert play.stage.answers(chat) == []
        assert play.model.requests == []


@promises("A4", "deletions")
async def test_a4_a_text_that_is_deleted_after_its_turn_leaves_the_next_view(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        play.model.enqueue(Text(("it is a secret",)))
        said = await play.ask(chat, alice, "how old is the plum tree?")
        await play.stage.delete(said)
        await play.taken()
        await play.settle()
        await play.ask(chat, alice, "well?")
        assert len(play.model.requests) == 2
        assert "plum" not in prompt_of(play.model)


@promises("A5")
async def test_a5_equal_message_ids_in_different_chats_are_different_messages(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        alice, bob = play.person(), play.person("Bob")
        first = await play.stage.say(play.chat(alice), alice, "one")
        second = await play.stage.say(play.chat(bob), bob, "two", like=first)
        await play.settle()
        assert first.id == second.id
        assert "one" in play.answer(first).text
        assert "two" in play.answer(second).text
