"""G: topics of a private chat, and threads of Slack's direct messages, are conversations apart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

from channels.testing import Chat, Person
from gateway.context.replay import prompts_of
from gateway.explain.explainer import Explainer
from tape.entry import ANCHOR
from tape.handle import Tape
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.kit.gateways import tape_of
from tests.kit.play import Play, opened, playing, prompt_of

WITH_TOPICS: Final = ("slack", "telegram")
"""The channels whose private chats have topics or threads."""

DONE: Final = Call("a", "tape_handoff", '{"name": "task/done", "summary": "plums are done"}')

private_topics = pytest.mark.parametrize("channel", WITH_TOPICS)


async def topic_of(play: Play, chat: Chat, person: Person, opening: str = "hello") -> Chat:
    """Open a topic: on Slack, as a thread on something that is said outside."""
    root = await play.ask(chat, person, opening)
    return play.stage.thread(chat) if play.channel == "telegram" else Chat(chat.id, root.id)


async def two_topics(play: Play) -> tuple[Person, Chat, Chat, Chat]:
    """Return Ann, her private chat, and two topics of it, on roses and on trains."""
    ann = play.person("Ann")
    chat = play.stage.private(ann)
    return ann, chat, await topic_of(play, chat, ann), await topic_of(play, chat, ann)


async def asked_in(play: Play, person: Person, *places: Chat) -> list[str]:
    """Ask for the word in each of these places; return what the model was asked."""
    prompts = []
    for place in places:
        await play.ask(place, person, "which word?")
        prompts.append(prompt_of(play.model))
    return prompts


def tape_in(play: Play, chat: Chat) -> Tape:
    return tape_of(play.gateway, f"{play.channel}:{chat.id}")


@private_topics
async def test_g1_a_topic_shows_nothing_of_another_topic_or_of_the_rest(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        ann = play.person("Ann")
        chat = play.stage.private(ann)
        await play.ask(chat, ann, "outside the word is Plum")
        roses, trains = await topic_of(play, chat, ann), await topic_of(play, chat, ann)
        await play.ask(roses, ann, "the word is Rumpel")
        await play.ask(trains, ann, "what is the word?")
        in_trains = prompt_of(play.model)
        await play.ask(roses, ann, "and here?")
        in_roses = prompt_of(play.model)
        await play.ask(chat, ann, "and outside?")
        outside = prompt_of(play.model)
    assert "Rumpel" not in in_trains
    assert "Plum" not in in_trains
    assert "Rumpel" in in_roses
    assert "Plum" not in in_roses
    assert "Plum" in outside
    assert "Rumpel" not in outside
    assert "what is the word" not in outside


@private_topics
async def test_g1_a_topic_s_view_only_grows_and_survives_a_restart(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            ann = play.person("Ann")
            chat = play.stage.private(ann)
            topic = await topic_of(play, chat, ann)
            await play.ask(topic, ann, "the word is Rumpel")
            before = play.model.requests[-1].body["messages"]
        async with house.playing(tmp_path) as play:
            await play.ask(topic, ann, "which word?")
            after = play.model.requests[-1].body["messages"]
            turns = [e.meta["turn"] for e in await play.tape(chat) if e.name == "turn.start"]
            replayed = [p for t in turns for p in await prompts_of(tape_in(play, chat), t)]
    assert after[: len(before)] == before
    assert all(prompt.exact for prompt in replayed)


@private_topics
async def test_g1_a_reset_in_one_topic_leaves_the_others(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        ann, chat, roses, trains = await two_topics(play)
        await play.ask(roses, ann, "the word is Rumpel")
        await play.ask(trains, ann, "the word is Vienna")
        await play.ask(chat, ann, "the word outside is Plum")
        await play.ask(roses, ann, ",reset")
        prompts = await asked_in(play, ann, roses, trains, chat)
        resets = [e for e in await play.tape(chat) if e.name == "session/reset"]
        found = await tape_in(play, chat).search("Rumpel")
    assert "Rumpel" not in prompts[0]
    assert "Vienna" in prompts[1]
    assert "Plum" in prompts[2]
    assert [e.meta["lane"] for e in resets if e.kind == ANCHOR] == [f"topic:{roses.thread}"]
    assert found, "search no longer finds what was said before a reset in a topic"


@private_topics
async def test_g1_a_reset_outside_the_topics_concerns_the_whole_chat(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        ann = play.person("Ann")
        chat = play.stage.private(ann)
        roses = await topic_of(play, chat, ann)
        await play.ask(roses, ann, "the word is Rumpel")
        await play.ask(chat, ann, ",reset")
        await play.ask(roses, ann, "which word?")
        assert "Rumpel" not in prompt_of(play.model)


@private_topics
async def test_g1_an_anchor_belongs_to_the_topic_in_which_it_was_set(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        ann, chat, roses, trains = await two_topics(play)
        await play.ask(chat, ann, "the word outside is Plum")
        await play.ask(trains, ann, "the word is Vienna")
        await play.ask(roses, ann, "the word is Rumpel")
        await play.ask(roses, ann, ",handoff we speak of roses")
        play.model.enqueue(ToolCalls((DONE,)), Text(("Done.",)))
        await play.ask(chat, ann, "thanks, the plums are done")
        prompts = await asked_in(play, ann, roses, trains, chat)
        await play.ask(trains, ann, ",rewind")
        offered = play.texts(chat)[-1]
    assert "we speak of roses" in prompts[0]
    assert "Rumpel" not in prompts[0]
    assert "Vienna" in prompts[1]
    assert "roses" not in prompts[1]
    assert "plums" not in prompts[1]
    assert "plums are done" in prompts[2]
    assert "roses" not in prompts[2]
    assert "phase:handoff" not in offered
    assert "task/done" not in offered


@private_topics
async def test_g1_a_rewind_in_a_topic_goes_back_in_that_topic(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        ann, chat, roses, trains = await two_topics(play)
        await play.ask(roses, ann, ",handoff name=phase:one first we spoke of roses")
        await play.ask(roses, ann, "the word is Rumpel")
        await play.ask(trains, ann, "the word is Vienna")
        await play.ask(trains, ann, ",rewind phase:one")
        assert "There is" in play.texts(chat)[-1]
        await play.ask(roses, ann, ",rewind phase:one")
        prompts = await asked_in(play, ann, roses, trains)
    assert "first we spoke of roses" in prompts[0]
    assert "Rumpel" not in prompts[0]
    assert "Vienna" in prompts[1]


@private_topics
async def test_c4_stop_in_a_topic_ends_what_runs_there(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        ann, chat, roses, trains = await two_topics(play)
        first, second = asyncio.Event(), asyncio.Event()
        play.model.enqueue(
            Text(("Roses", " need lime."), gate=first), Text(("Trains", " run."), gate=second)
        )
        await begun(play, roses, ann, "tell me of roses")
        await begun(play, trains, ann, "tell me of trains")
        await play.stage.say(trains, ann, ",stop")
        await play.model.wait_for_disconnects(1)
        first.set()
        await play.settle()
        ends = await play.events(chat, "turn.end")
        said = [text for text in play.texts(chat) if "Roses need lime." in text]
    assert sorted(end["status"] for end in ends)[-1] == "stopped"
    assert said


async def begun(play: Play, chat: Chat, person: Person, text: str) -> None:
    """Say something and wait until the model is asked."""
    asked = len(play.model.requests)
    await play.stage.say(chat, person, text)
    await play.run(play.model.wait_for_requests(asked + 1))


@private_topics
async def test_g1_what_waits_or_was_said_in_a_topic_is_never_taken_outside_it(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, BUFFER__DEBOUNCE="5") as play:
        ann = play.person("Ann")
        chat = play.stage.private(ann)
        topic = await topic_of(play, chat, ann)
        inside = await play.stage.say(topic, ann, "the word is Rumpel")
        outside = await play.stage.say(chat, ann, "the word is Plum")
        await play.settle()
        answers = {one.text for one in play.stage.answers(chat)}
    assert inside.id != outside.id
    both = [text for text in answers if "Rumpel" in text and "Plum" in text]
    assert both == []
    assert sum("Rumpel" in text or "Plum" in text for text in answers) == 2


async def test_g1_a_thread_begins_with_the_question_or_answer_it_was_opened_on(
    tmp_path: Path,
) -> None:
    async with playing("slack", tmp_path) as play:
        ann = play.person("Ann")
        chat = play.stage.private(ann)
        play.model.enqueue(Text(("Roses want lime.",)), Text(("Trains run hourly.",)))
        asked = await play.ask(chat, ann, "what do roses want?")
        await play.ask(chat, ann, "how often do trains run?")
        answer = next(a for a in play.stage.answers(chat) if a.text.startswith("Trains"))
        await play.ask(Chat(chat.id, asked.id), ann, "and how much?")
        on_question = prompt_of(play.model)
        await play.ask(Chat(chat.id, answer.id), ann, "at night, too?")
        on_answer = prompt_of(play.model)
        await play.ask(Chat(chat.id, answer.id), ann, ",reset")
        await play.ask(Chat(chat.id, answer.id), ann, "what did I ask?")
        after = prompt_of(play.model)
    assert "what do roses want?" in on_question
    assert "Roses want lime." in on_question
    assert "trains" not in on_question.casefold()
    assert "how often do trains run?" in on_answer
    assert "Trains run hourly." in on_answer
    assert "oses" not in on_answer
    assert "rains" not in after


@private_topics
async def test_h1_explain_says_that_a_message_is_of_its_topic(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        ann = play.person("Ann")
        chat = play.stage.private(ann)
        topic = await topic_of(play, chat, ann)
        await play.ask(topic, ann, "the first of the topic")
        said = await play.ask(topic, ann, "the second of the topic")
        services = play.gateway.services
        story = await Explainer(services.store, services.redactor).explain(said.id)
    (line,) = [line for line in story.lines if line.about == "lane"]
    assert f"topic:{topic.thread}" in line.says
    assert "the first of the topic" in line.says
