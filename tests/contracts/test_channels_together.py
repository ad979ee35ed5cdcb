"""G: what belongs together is shown together, in the order said; on every channel."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from channels.testing import Chat, Person
from tape.excerpts import without_quote
from tests.fakes.openai.script import Text
from tests.kit.play import Play, opened, playing, prompt_of
from tests.kit.promised import promises

ADDED = ("I mean the tall one", "by the pond, not at the gate")


async def adds(play: Play, chat: Chat, person: Person, text: str, reply_to: str) -> None:
    """Say something that asks nobody, while hardly any time passes."""
    await play.stage.say(chat, person, text, mention=False, reply_to=reply_to)
    await play.begun()


def in_order(prompt: str, *texts: str) -> bool:
    """Return whether each text is said once, not counting quotes, and all of them in this order."""
    said = "\n".join(map(without_quote, prompt.split("\n")))
    places = [said.index(text) for text in texts]
    return places == sorted(places) and all(said.count(text) == 1 for text in texts)


@promises("G1", "groups", "rules")
async def test_g1_what_its_author_adds_before_the_turn_stands_behind_the_question(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, rules=["mention"]) as play:
        group, gate = play.stage.group(), asyncio.Event()
        ann, ben = play.person("Ann"), play.person("Ben")
        play.model.enqueue(Text(("for ", "Ben"), gate=gate))
        first = await play.stage.say(group, ben, "how old are the trees?")
        await play.begun()
        await play.stage.say(group, ann, "which is the oldest?", reply_to=first.id)
        await play.begun()
        await adds(play, group, ann, ADDED[0], first.id)
        await adds(play, group, ben, "mine are young", first.id)
        await adds(play, group, ann, ADDED[1], first.id)
        gate.set()
        await play.settle()
        assert len(play.model.requests) == 2
        prompt = prompt_of(play.model)
    assert in_order(prompt, "for Ben", "mine are young", "which is the oldest?", *ADDED)


@promises("G1", "groups", "rules")
async def test_g1_what_its_author_adds_in_a_burst_is_waited_for(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, rules=["mention"], BUFFER__DEBOUNCE="2") as play:
        group, ann = play.stage.group(), play.person("Ann")
        await play.stage.say(group, ann, "which is the oldest?")
        for text in ADDED:
            await play.taken()
            await play.clock.advance(1.5)
            await play.stage.say(group, ann, text, mention=False)
        await play.settle()
        assert len(play.model.requests) == 1
        assert in_order(prompt_of(play.model), "which is the oldest?", *ADDED)


@promises("G1", "groups", "rules")
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_g1_what_its_author_added_keeps_its_place_through_a_kill(
    channel: str, tmp_path: Path, moment: str
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path, rules=["mention"]) as play:
            group, ann = play.stage.group(), play.person("Ann")
            ben, gate = play.person("Ben"), asyncio.Event()
            play.model.enqueue(Text(("for ", "Ben"), gate=gate))
            first = await play.stage.say(group, ben, "how old are the trees?")
            await play.begun()
            await play.stage.say(group, ann, "which is the oldest?", reply_to=first.id)
            await play.begun()
            await adds(play, group, ann, ADDED[0], first.id)
            play.kill_at("before" if moment == "before" else "after", lambda n: "turn.start" in n)
            gate.set()
            await play.killed()
        async with house.playing(tmp_path, rules=["mention"]) as play:
            await play.settle()
            prompt = prompt_of(play.model)
    assert in_order(prompt, "how old are the trees?", "which is the oldest?", ADDED[0])
