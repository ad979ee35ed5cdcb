"""I12: three people ask three things in one group, and are each shown their own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from channels.testing import Chat
from tests.fakes.openai.script import Text
from tests.kit.play import Play, playing, prompt_of
from tests.kit.promised import promises
from tests.kit.tasks import CHINESE, ENGLISH, Task, Triple

NAMES: Final = ("Ann", "Bob", "Eve")
GAPS: Final = (0, 3, 30, 180, 3600)
LONGEST_FOLLOW_UP: Final = 180
TRIPLES: Final = {"English": ENGLISH, "Chinese": CHINESE}


async def lanes(play: Play, group: Chat, texts: list[str]) -> list[str]:
    """Return the lanes of the messages that end with some texts."""
    said = {str(e.meta.get("text")): e.meta["lane"] for e in await play.tape(group) if e.meta}
    return [next(lane for all_of_it, lane in said.items() if all_of_it.endswith(t)) for t in texts]


async def ask(play: Play, group: Chat, name: str, text: str, answer: str) -> str:
    """Ask the agent; return what the model was shown."""
    play.model.enqueue(Text((answer,)))
    await play.ask(group, play.person(name), text)
    return prompt_of(play.model)


def shown(prompt: str, tasks: list[Task]) -> list[str]:
    """Return what a prompt has of some tasks."""
    words = [words for task in tasks for words in (task.asks, task.answer, task.then)]
    return [one for one in words if one in prompt]


async def ask_three(play: Play, triple: Triple, gap: int) -> None:
    """Have three people ask one after another, and go on; each is shown their own alone."""
    group = play.stage.group()
    for name, task in zip(NAMES, triple, strict=True):
        prompt = await ask(play, group, name, task.asks, task.answer)
        assert task.asks in prompt
        assert shown(prompt, [one for one in triple if one is not task]) == []
        await play.clock.advance(gap)
    for name, task in zip(NAMES, triple, strict=True):
        prompt = await ask(play, group, name, task.then, "Yes, of course.")
        assert all(words in prompt for words in (task.asks, task.answer, task.then))
        assert shown(prompt, [one for one in triple if one is not task]) == []
        await play.clock.advance(min(gap, LONGEST_FOLLOW_UP))
    first = await lanes(play, group, [task.asks for task in triple])
    then = await lanes(play, group, [task.then for task in triple])
    assert len(set(first)) == 3
    assert then == first


@pytest.mark.parametrize("language", TRIPLES)
@promises("I12")
async def test_i12_three_people_s_tasks_are_three_conversations(
    channel: str, language: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        for number, gap in enumerate(GAPS):
            triples = TRIPLES[language]
            await ask_three(play, triples[-1 - number], gap)
            await play.clock.advance(1)


@promises("I12")
async def test_i12_what_refers_to_the_room_is_shown_what_was_said(
    channel: str, tmp_path: Path
) -> None:
    said = (
        ("Bob", "we should move the whole team to the harbour office"),
        ("Eve", "the harbour office has no canteen, I would rather stay here"),
    )
    async with playing(channel, tmp_path) as play:
        group = play.stage.group()
        for name, text in said:
            await play.stage.say(group, play.person(name), text, mention=False)
            await play.settle()
            await play.clock.advance(20)
        prompt = await ask(play, group, "Ann", "what do you think of that?", "Stay.")
        assert all(text in prompt for _name, text in said)


@promises("I12")
async def test_i12_a_reply_to_an_answer_to_somebody_else_is_placed_by_its_words(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        # A reply that opens a thread is said in that conversation, whatever it says.
        opens_thread = play.gateway.channels[channel].traits.answers_open_threads
        group = play.stage.group()
        play.model.enqueue(Text(("Xfce needs little memory.",)))
        desktop = "which Linux desktop is good for an old laptop?"
        asked = await play.ask(group, play.person("Ann"), desktop)
        answer = play.answer(asked).id
        dinner = "what could I cook for dinner with leeks and potatoes?"
        await play.ask(group, play.person("Bob"), dinner, reply_to=answer)
        assert (desktop in prompt_of(play.model)) == opens_thread
        debian = "and with Debian?"
        await play.ask(group, play.person("Eve"), debian, reply_to=answer)
        assert desktop in prompt_of(play.model)
        own = "which wallpaper would you choose?"
        await play.ask(group, play.person("Ann"), own, reply_to=answer)
        found = await lanes(play, group, [desktop, dinner, debian, own])
    assert found[0] == found[2] == found[3]
    assert (found[0] == found[1]) == opens_thread
