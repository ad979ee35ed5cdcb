"""D: nothing lost, nothing twice; on every channel that has what a line needs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from channels.testing import BrokenEdit, Operation
from tests.contracts.texts import SENTENCES, WHOLE
from tests.fakes.openai.script import Text
from tests.kit.play import Play, playing
from tests.kit.promised import promises


def slowly(play: Play) -> Text:
    """Return an answer that takes twelve seconds."""
    return Text(SENTENCES, delay=1.0, sleep=play.clock.sleep)


@promises("D3")
@pytest.mark.parametrize("seconds", [1, 40])
@pytest.mark.parametrize("operation", ["typing", "first", "edit", "final"])
async def test_d3_a_chat_that_is_told_to_wait_gets_its_answers_once_and_in_order(
    channel: str, tmp_path: Path, operation: Operation, seconds: int
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        play.stage.throttle(operation, chat, seconds)
        play.model.enqueue(Text((WHOLE,)) if operation == "final" else slowly(play))
        first = await play.stage.say(chat, alice, "one")
        await play.taken()
        second = await play.ask(chat, alice, "two")
        assert play.answer(first).text == WHOLE
        assert [answer.reply_to for answer in play.stage.answers(chat)] == [first.id, second.id]


@promises("D3")
async def test_d3_what_is_written_meanwhile_stands_below_an_answer_that_must_wait(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        play.stage.throttle("final", chat, 5)
        play.model.enqueue(Text((WHOLE,)), slowly(play))
        first = await play.stage.say(chat, alice, "one")
        await play.taken()
        second = await play.ask(chat, alice, "two")
        assert [answer.reply_to for answer in play.stage.answers(chat)] == [first.id, second.id]


@promises("D3")
@pytest.mark.parametrize("operation", ["typing", "first", "edit", "final"])
async def test_d3_other_chats_do_not_wait_for_one_that_must(
    channel: str, tmp_path: Path, operation: Operation
) -> None:
    async with playing(channel, tmp_path) as play:
        alice, bob = play.person(), play.person("Bob")
        told_to_wait, other = play.chat(alice), play.chat(bob)
        play.stage.throttle(operation, told_to_wait, 40)
        play.model.enqueue(Text((WHOLE,)) if operation == "final" else slowly(play))
        await play.stage.say(told_to_wait, alice, "one")
        await play.taken()
        await play.clock.advance(15)
        asked = await play.stage.say(other, bob, "two")
        await play.run(play.stage.until(lambda: play.texts(other) != []))
        assert play.clock.monotonic() < 18
        play.answer(asked)
        await play.settle()


@promises("D4")
@pytest.mark.parametrize("why", ["unchanged", "gone"])
async def test_d4_after_an_edit_that_fails_the_answer_still_comes_once(
    channel: str, tmp_path: Path, why: BrokenEdit
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, gate = play.chat(), asyncio.Event()
        play.model.enqueue(Text(SENTENCES, gate=gate))
        asked = await play.stage.say(chat, play.person(), "one")
        await play.run(play.stage.until(lambda: play.texts(chat) != []))
        play.stage.break_edit(why, chat)
        gate.set()
        await play.settle()
        assert play.texts(chat) == [WHOLE]
        assert play.answer(asked).text == WHOLE
        assert len(await play.events(chat, "send.receipt")) == 1


@promises("D4", "threads")
async def test_d4_an_answer_whose_thread_is_gone_still_comes_once(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        group, gate = play.stage.group(), asyncio.Event()
        thread = play.stage.thread(group)
        play.model.enqueue(Text(SENTENCES, gate=gate))
        await play.stage.say(thread, play.person(), "one")
        await play.run(play.stage.until(lambda: play.texts(thread) != []))
        play.stage.break_edit("thread", thread)
        gate.set()
        await play.settle()
        assert play.texts(group) == [WHOLE]


@promises("D5")
async def test_d5_partial_text_becomes_the_answer(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        chat = play.chat()
        play.model.enqueue(slowly(play))
        asked = await play.stage.say(chat, play.person(), "one")
        await play.run(play.stage.until(lambda: play.texts(chat) != []))
        (draft,) = play.stage.answers(chat)
        assert WHOLE.startswith(draft.text.strip())
        await play.settle()
        assert play.answer(asked).text == WHOLE
        assert [answer.id for answer in play.stage.answers(chat)] == [draft.id]


@promises("D6")
async def test_d6_a_permanent_refusal_is_written_down_once_and_stops_nothing_else(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        alice, bob = play.person(), play.person("Bob")
        lost, other = play.chat(alice), play.chat(bob)
        gate = asyncio.Event()
        play.model.enqueue(Text(("never ", "seen"), gate=gate))
        await play.stage.say(lost, alice, "one")
        await play.taken()
        play.stage.shut_out(lost)
        gate.set()
        await play.settle()
        assert play.clock.monotonic() < 5
        play.answer(await play.ask(other, bob, "two"))
        assert len(await play.events(lost, "send.dead")) == 1
        sent = play.stage.outbound()
        await play.clock.advance(3600)
        assert play.stage.outbound() == sent
