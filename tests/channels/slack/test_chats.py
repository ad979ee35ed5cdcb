"""What a workspace sees of a gateway: mentions, threads, and the Stop button."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fakes.openai.script import Text
from tests.fakes.slack.events import TwinOrder
from tests.fakes.slack.server import FakeSlack
from tests.kit.play import Play, playing, prompt_of
from tests.kit.stages.slack import SlackStage


def fake_of(play: Play) -> FakeSlack:
    assert isinstance(play.stage, SlackStage)
    return play.stage.fake


@pytest.mark.parametrize("first", ["message", "app_mention"])
@pytest.mark.parametrize("delay", [0, 1, 120])
async def test_a2_the_two_events_of_a_mention_are_one_addressed_turn(
    tmp_path: Path, first: TwinOrder, delay: int
) -> None:
    async with playing("slack", tmp_path) as play:
        fake_of(play).events.first_twin = first
        fake_of(play).events.twin_delay = delay
        group = play.stage.group()
        question = await play.stage.say(group, play.person(), "once")
        await play.settle()
        await play.clock.advance(delay + 5)
        await play.settle()
        play.answer(question)
        assert len(play.model.requests) == 1
        taped = [entry.meta for entry in await play.tape(group) if "inbox" in entry.meta]
        assert [(meta["message_id"], meta["addressed"]) for meta in taped] == [(question.id, True)]


async def test_a_thread_opened_by_an_answer_continues_its_question(tmp_path: Path) -> None:
    async with playing("slack", tmp_path) as play:
        group, alice, bob = play.stage.group(), play.person(), play.person("Bob")
        question = await play.ask(group, alice, "how old is the plum tree?")
        more = await play.ask(group, bob, "and the pear?", mention=False, reply_to=question.id)
        assert len(play.model.requests) == 2
        assert "how old is the plum tree?" in prompt_of(play.model)
        lanes = {
            entry.meta["message_id"]: entry.meta["lane"]
            for entry in await play.tape(group)
            if "inbox" in entry.meta
        }
        assert lanes[question.id] == lanes[more.id]
        threads = {message.thread_ts for message in fake_of(play).messages(group.id)}
        assert threads == {question.id}


async def test_a_thread_below_an_unaddressed_message_is_a_conversation_of_its_own(
    tmp_path: Path,
) -> None:
    async with playing("slack", tmp_path) as play:
        group, alice, bob = play.stage.group(), play.person(), play.person("Bob")
        await play.ask(group, alice, "a question of another kind")
        idle = await play.ask(group, alice, "lunch at noon", mention=False)
        await play.ask(group, bob, "fine with me", mention=False, reply_to=idle.id)
        assert len(play.model.requests) == 1
        last = (await play.tape(group))[-1]
        assert last.meta["lane"] == f"thread:{idle.id}"


async def test_c4_slack_s_stop_button_ends_the_answer(tmp_path: Path) -> None:
    async with playing("slack", tmp_path) as play:
        group, alice = play.stage.group(), play.person()
        play.model.enqueue(Text(("never ", "finished"), gate=asyncio.Event()))
        question = await play.stage.say(group, alice, "tell me all")
        await play.run(play.stage.until(lambda: play.texts(group) != []))
        fake = fake_of(play)
        ada = fake.workspace.users[alice.id]
        fake.press_stop(group.id, ada, question.id)
        await play.settle()
        (end,) = await play.events(group, "turn.end")
        assert (end["status"], end["by"]) == ("stopped", alice.id)
        assert play.answer(question).text == "never\n\n*Stopped by alice.*"


async def test_d1_a_send_with_a_lost_response_is_found_and_visible_once(tmp_path: Path) -> None:
    async with playing("slack", tmp_path) as play:
        group = play.stage.group()
        play.stage.lose_answer(group)
        play.model.enqueue(Text(("an answer",)))
        question = await play.ask(group, play.person(), "one")
        assert play.texts(group) == ["an answer"]
        play.answer(question)
