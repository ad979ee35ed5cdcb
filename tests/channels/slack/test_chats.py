"""What a workspace sees of a gateway: mentions, threads, and the Stop button."""

from __future__ import annotations

import asyncio

import pytest

from tests.channels.slack.hosts import fake_of
from tests.fakes.openai.script import Text
from tests.fakes.slack.events import TwinOrder
from tests.kit.play import Play, prompt_of


@pytest.mark.parametrize("first", ["message", "app_mention"])
@pytest.mark.parametrize("delay", [0, 1, 120])
async def test_a2_the_two_events_of_a_mention_are_one_addressed_turn(
    first: TwinOrder, delay: int, slack: Play
) -> None:
    fake_of(slack).events.first_twin = first
    fake_of(slack).events.twin_delay = delay
    group = slack.stage.group()
    question = await slack.stage.say(group, slack.person(), "once")
    await slack.settle()
    await slack.clock.advance(delay + 5)
    await slack.settle()
    slack.answer(question)
    assert len(slack.model.requests) == 1
    taped = [entry.meta for entry in await slack.tape(group) if "inbox" in entry.meta]
    assert [(meta["message_id"], meta["addressed"]) for meta in taped] == [(question.id, True)]


async def test_a_thread_opened_by_an_answer_continues_its_question(slack: Play) -> None:
    group, alice, bob = slack.stage.group(), slack.person(), slack.person("Bob")
    question = await slack.ask(group, alice, "how old is the plum tree?")
    more = await slack.ask(group, bob, "and the pear?", mention=False, reply_to=question.id)
    assert len(slack.model.requests) == 2
    assert "how old is the plum tree?" in prompt_of(slack.model)
    lanes = {
        entry.meta["message_id"]: entry.meta["lane"]
        for entry in await slack.tape(group)
        if "inbox" in entry.meta
    }
    assert lanes[question.id] == lanes[more.id]
    threads = {message.thread_ts for message in fake_of(slack).messages(group.id)}
    assert threads == {question.id}


async def test_a_thread_below_an_unaddressed_message_is_a_conversation_of_its_own(
    slack: Play,
) -> None:
    group, alice, bob = slack.stage.group(), slack.person(), slack.person("Bob")
    await slack.ask(group, alice, "a question of another kind")
    idle = await slack.ask(group, alice, "lunch at noon", mention=False)
    await slack.ask(group, bob, "fine with me", mention=False, reply_to=idle.id)
    assert len(slack.model.requests) == 1
    last = (await slack.tape(group))[-1]
    assert last.meta["lane"] == f"thread:{idle.id}"


async def test_c4_slack_s_stop_button_ends_the_answer(slack: Play) -> None:
    group, alice = slack.stage.group(), slack.person()
    slack.model.enqueue(Text(("never ", "finished"), gate=asyncio.Event()))
    question = await slack.stage.say(group, alice, "tell me all")
    await slack.run(slack.stage.until(lambda: slack.texts(group) != []))
    fake = fake_of(slack)
    ada = fake.workspace.users[alice.id]
    fake.press_stop(group.id, ada, question.id)
    await slack.settle()
    (end,) = await slack.events(group, "turn.end")
    assert (end["status"], end["by"]) == ("stopped", alice.id)
    assert slack.answer(question).text == "never\n\n*Stopped by alice.*"


async def test_d1_a_send_with_a_lost_response_is_found_and_visible_once(slack: Play) -> None:
    group = slack.stage.group()
    slack.stage.lose_answer(group)
    slack.model.enqueue(Text(("an answer",)))
    question = await slack.ask(group, slack.person(), "one")
    assert slack.texts(group) == ["an answer"]
    slack.answer(question)
