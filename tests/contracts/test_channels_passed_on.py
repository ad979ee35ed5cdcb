"""What others wrote and somebody passed on is asked once, whatever happens on its way.

Each platform has one reader; what it finds is tested in `tests/channels` and `tests/census`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from channels.registry import CHANNELS
from channels.testing import Chat, Person, PersonMessage, Stage
from tests.contracts.pictures import images_of, picture
from tests.fakes.openai.script import Text
from tests.kit.play import Play, opened, playing, prompt_of
from tests.kit.promised import class_of
from tests.kit.stages.platform import PlatformStage

READERS: Final = sorted(name for name in CHANNELS if "remote" in class_of(name).features)
HALL: Final = "The hall costs 300."
BARN: Final = "The barn is free."

readers = pytest.mark.parametrize("channel", READERS)


async def elsewhere(stage: Stage) -> list[PersonMessage]:
    """Have Zed write two messages in another chat, one of them with a picture."""
    zed, place = stage.person("Zed"), stage.group()
    return [
        await stage.say(place, zed, HALL, mention=False),
        await stage.send_image(place, zed, picture(), BARN, mention=False),
    ]


async def pass_on(stage: Stage, chat: Chat, person: Person) -> list[PersonMessage]:
    """Have somebody pass both messages of Zed's on."""
    assert isinstance(stage, PlatformStage)
    return stage.pass_on(chat, person, *await elsewhere(stage))


def shows_once(play: Play) -> bool:
    """Return whether the model was shown both messages, and the picture, once."""
    prompt, pictures = prompt_of(play.model), images_of(play.model.requests[-1])
    return (prompt.count(HALL), prompt.count(BARN), len(pictures)) == (1, 1, 1)


@readers
async def test_d2_what_was_passed_on_while_the_gateway_was_away_is_shown_once(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            ann, chat = play.person("Ann"), play.chat()
            await play.ask(chat, ann, "before")
        passed = await pass_on(house.stage, chat, ann)
        asked = await house.stage.say(chat, ann, "which one?")
        async with house.playing(tmp_path) as play:
            await play.settle()
            play.answer(asked)
            assert shows_once(play)
            assert len(play.model.requests) == 2
            taped = [entry.meta.get("message_id") for entry in await play.tape(chat)]
            assert [taped.count(one.id) for one in passed] == [1] * len(passed)


@readers
async def test_a1_what_was_passed_on_and_comes_again_is_shown_once(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            ann, chat = play.person("Ann"), play.chat()
            passed = await pass_on(house.stage, chat, ann)
            await play.settle()
            for one in passed:
                await play.stage.redeliver(one, as_new=True)
            await play.settle()
            assert play.model.requests == []
        for one in passed:
            await house.stage.redeliver(one)
        async with house.playing(tmp_path) as play:
            await play.ask(chat, ann, "which one?")
            assert shows_once(play)
            assert len(play.model.requests) == 1


@readers
@pytest.mark.parametrize(
    ("place", "is_bot"), [("private", False), ("thread", False), ("group", True)]
)
async def test_a6_what_was_passed_on_is_shown_wherever_and_by_whomever(
    channel: str, tmp_path: Path, place: str, is_bot: bool
) -> None:
    async with playing(channel, tmp_path, ACCESS__BOTS="answer") as play:
        play.model.enqueue(*[Text(("I see.",)) for _ in range(3)])
        ann = play.stage.person("Ann", is_bot=is_bot)
        chat = play.stage.private(ann) if place == "private" else play.stage.group()
        chat = play.stage.thread(chat) if place == "thread" else chat
        passed = await pass_on(play.stage, chat, ann)
        await play.settle()
        assert bool(play.model.requests) is (place == "private")
        asked = await play.ask(chat, ann, "which one?")
        play.answer(asked)
        assert shows_once(play)
        tape = await play.tape(chat.whole())
        own = {one.id for one in passed}
        said = [entry for entry in tape if entry.meta.get("message_id") in own]
        assert [entry.meta["author"] for entry in said] == [ann.id] * len(passed)
        assert all("quote" in entry.meta["taint"] for entry in said)
