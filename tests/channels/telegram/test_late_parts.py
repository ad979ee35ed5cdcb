"""Parts of an album that Telegram delivers seconds after the first ones: the whole gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tape.entry import Entry
from tests.channels.telegram.bots import GROUP, Bot, in_group, in_private, telegram_bot
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.telegram.world import User
from tests.kit.gateways import names
from tests.kit.images import image

LATER = 3.0  # seconds after which the first parts are released, and the debounce is over
LOOKS = ToolCalls((Call("c-1", "tape_info", "{}"),))


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with telegram_bot(tmp_path) as running:
        yield running


def send(bot: Bot, chat: int, ada: User, *captions: str, album: str = "m1") -> None:
    """Send a picture of an album for each caption."""
    for caption in captions:
        bot.fake.send_photo(chat, ada, data=image(), caption=caption, media_group=album)


def pictures(bot: Bot, number: int = -1) -> int:
    """Return how many pictures a call of the model showed."""
    return bot.prompts()[number].count("[an image]")


def turns(entries: list[Entry]) -> list[Any]:
    return [entry.payload["data"]["takes"] for entry in entries if entry.name == "turn.start"]


def late_part(entries: list[Entry]) -> Entry:
    (late,) = [entry for entry in entries if "part_of" in entry.meta]
    return late


async def test_a3_a_late_part_joins_the_question_that_waits(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, BUFFER__DEBOUNCE="6") as bot:
        ada = in_private(bot)
        send(bot, 7, ada, "what are these?", "")
        await bot.pass_by(LATER)
        send(bot, 7, ada, "")
        entries = await bot.settled(7)
        assert [pictures(bot, number) for number in range(len(bot.model.requests))] == [3]
        assert "[more of an album: 2 pictures of it were sent before]" in bot.prompts()[0]
        late = late_part(entries)
        assert turns(entries) == [[late.meta["part_of"], late.id]]
        assert len(bot.fake.messages(7)) == 1


async def test_a3_a_late_part_is_shown_at_the_next_model_step_of_a_running_turn(bot: Bot) -> None:
    ada, gate = in_private(bot), asyncio.Event()
    bot.model.enqueue(ToolCalls(LOOKS.calls, gate=gate), Text(("Three trees.",)))
    send(bot, 7, ada, "what are these?", "")
    await bot.until(lambda: bot.model.requests)
    send(bot, 7, ada, "")
    await bot.pass_by(LATER)
    gate.set()
    entries = await bot.settled(7)
    assert [pictures(bot, 0), pictures(bot, 1)] == [2, 3]
    assert "[more of an album: 2 pictures of it were seen before]" in bot.prompts()[1]
    assert (len(bot.model.requests), len(turns(entries))) == (2, 1)
    (answer,) = bot.fake.messages(7)
    assert answer.text == "Three trees."


async def test_a3_a_late_part_that_no_step_follows_answers_nothing_and_is_shown_next(
    bot: Bot,
) -> None:
    ada = in_private(bot)
    send(bot, 7, ada, "what are these?", "")
    await bot.settled(7)
    send(bot, 7, ada, "")
    entries = await bot.settled(7)
    assert len(bot.model.requests) == len(bot.fake.messages(7)) == 1
    late = late_part(entries)
    assert late.meta["why"] == "a late part of an album"
    assert late.meta["part_of"] == turns(entries)[0][0]
    bot.fake.say(7, ada, "and that one?")
    await bot.settled(7)
    assert "[more of an album: 2 pictures of it were seen before]" in bot.prompts()[1]
    assert pictures(bot) == 3


async def test_a3_a_late_part_of_a_turn_whose_last_step_runs_is_shown_next(bot: Bot) -> None:
    ada, gate = in_private(bot), asyncio.Event()
    bot.model.enqueue(Text(("Two ", "trees."), gate=gate))
    send(bot, 7, ada, "what are these?", "")
    await bot.until(lambda: bot.model.requests)
    send(bot, 7, ada, "")
    await bot.pass_by(LATER)
    gate.set()
    await bot.settled(7)
    assert len(bot.model.requests) == 1
    bot.fake.say(7, ada, "and that one?")
    await bot.settled(7)
    assert (len(bot.model.requests), pictures(bot)) == (2, 3)


async def test_a3_several_late_parts_each_say_what_came_before(bot: Bot) -> None:
    ada = in_private(bot)
    send(bot, 7, ada, "what are these?")
    await bot.settled(7)
    for _ in range(2):
        send(bot, 7, ada, "")
        await bot.settled(7)
    bot.fake.say(7, ada, "well?")
    await bot.settled(7)
    prompt = bot.prompts()[1]
    assert "[more of an album: 1 picture of it was seen before]" in prompt
    assert "[more of an album: 2 pictures of it were seen before]" in prompt
    assert len(bot.model.requests) == 2


async def test_a3_a_late_part_in_a_group_stays_in_the_conversation_of_its_album(bot: Bot) -> None:
    ada = in_group(bot)
    send(bot, GROUP, ada, "@tapeway_bot what are these?", "")
    await bot.settled(GROUP)
    bot.fake.say(GROUP, bot.fake.user(8, "Ben"), "the bus is late again today")
    send(bot, GROUP, ada, "")
    entries = await bot.settled(GROUP)
    late = late_part(entries)
    first = next(entry for entry in entries if entry.id == late.meta["part_of"])
    assert late.meta["lane"] == first.meta["lane"]
    assert names(entries).count("turn.start") == 1


async def test_a3_a_late_part_with_the_question_asks_it(bot: Bot) -> None:
    ada = in_group(bot)
    send(bot, GROUP, ada, "", "")
    await bot.settled(GROUP)
    assert bot.model.requests == []
    send(bot, GROUP, ada, "@tapeway_bot what are these?")
    entries = await bot.settled(GROUP)
    assert (len(bot.model.requests), pictures(bot)) == (1, 3)
    assert names(entries).count("turn.start") == 1


async def test_a3_words_with_a_late_part_are_answered(bot: Bot) -> None:
    ada = in_private(bot)
    send(bot, 7, ada, "", "")
    await bot.settled(7)
    send(bot, 7, ada, "which one is best?")
    await bot.settled(7)
    assert len(bot.model.requests) == 2
    assert "which one is best?" in bot.prompts()[1]


async def test_a3_another_album_is_a_question_of_its_own(bot: Bot) -> None:
    ada = in_private(bot)
    send(bot, 7, ada, "", "")
    await bot.settled(7)
    send(bot, 7, ada, "", album="m2")
    await bot.settled(7)
    assert len(bot.model.requests) == 2


async def test_a3_the_model_is_told_of_how_many_pictures_it_sees_the_last(bot: Bot) -> None:
    ada = in_private(bot)
    send(bot, 7, ada, "what are these?", *[""] * 5)
    await bot.settled(7)
    assert pictures(bot) == 4
    assert "[only the last 4 of these 6 pictures are shown]" in bot.prompts()[0]


async def test_a_picture_that_is_steered_into_a_turn_is_seen(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, TURN__OVERLAP="steer") as bot:
        ada, gate = in_private(bot), asyncio.Event()
        bot.model.enqueue(ToolCalls(LOOKS.calls, gate=gate))
        bot.fake.say(7, ada, "what grows here?")
        await bot.until(lambda: bot.model.requests)
        bot.fake.send_photo(7, ada, data=image(), caption="this, I mean")
        await bot.pass_by(LATER)
        gate.set()
        await bot.settled(7)
        assert len(bot.model.requests) == 2
        assert "this, I mean" in bot.prompts()[1]
        assert (pictures(bot, 0), pictures(bot, 1)) == (0, 1)
