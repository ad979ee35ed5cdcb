"""Long texts that Telegram's apps cut, and how long they are waited for: the whole gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.channels.telegram.bots import GROUP, Bot, in_group, in_private, telegram_bot
from tests.kit.gateways import names
from tests.kit.waiting import until

APART = 1.5  # seconds between two parts, as apps send them
LINE = "row one | row two | row three\n"


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with telegram_bot(
        tmp_path, CONTEXT__PROMPT_TOKENS="30000", BUFFER__DEBOUNCE="1"
    ) as running:
        yield running


def part(name: str, length: int) -> str:
    return f"{name} {LINE * 200}"[:length].rstrip() + f" {name} ends"


async def taken(bot: Bot) -> None:
    """Wait, while no time passes, until what was said is accepted."""
    await bot.fake.wait_for(lambda fake: not fake.updates.pending)


@pytest.mark.parametrize("first", [3900, 2900, 2100])
async def test_a3_parts_that_come_apart_are_one_message_in_their_order(
    bot: Bot, first: int
) -> None:
    ada = in_group(bot)
    texts = [part("ONE", first), part("TWO", 2100), "THREE and that was all"]
    for number, text in enumerate(texts):
        bot.fake.say(GROUP, ada, f"@tapeway_bot {text}" if number == 0 else text)
        await taken(bot)
        if number < 2:
            await bot.pass_by(APART - 0.3)
    entries = await bot.settled(GROUP)
    (said,) = [entry for entry in entries if "inbox" in entry.meta]
    assert said.meta["text"] == "@tapeway_bot " + "\n".join(texts)
    assert names(entries).count("turn.start") == 1


async def test_a3_a_paste_that_follows_its_question_at_once_is_asked_with_it(bot: Bot) -> None:
    ada = in_private(bot)
    bot.fake.say(7, ada, "good morning")
    await bot.settled(7)
    bot.fake.say(7, ada, "what is wrong in this table?")
    await taken(bot)
    await bot.pass_by(0.5)
    bot.fake.say(7, ada, part("ONE", 3000))
    await taken(bot)
    await bot.pass_by(1.2)
    bot.fake.say(7, ada, "TWO and that was all")
    await taken(bot)
    entries = await bot.settled(7)
    assert names(entries).count("turn.start") == len(bot.model.requests) == 2
    prompt = bot.prompts()[1]
    places = [prompt.index(text) for text in ("what is wrong", "ONE ends", "TWO and")]
    assert places == sorted(places)


async def test_a3_a_long_message_alone_waits_for_parts_and_no_longer(bot: Bot) -> None:
    ada = in_private(bot)
    bot.fake.say(7, ada, "good morning")
    await bot.settled(7)
    bot.fake.say(7, ada, part("ONE", 3000))
    await taken(bot)
    await bot.pass_by(1.5)
    assert len(bot.model.requests) == 1
    await bot.pass_by(0.9)
    await until(lambda: len(bot.model.requests) == 2, "it is asked, while the clock stands still")


async def test_a3_somebody_else_between_the_parts_is_heard_behind_them(bot: Bot) -> None:
    ada = in_group(bot)
    bot.fake.say(GROUP, ada, f"@tapeway_bot {part('ONE', 2500)}")
    bot.fake.say(GROUP, bot.fake.user(8, "Ben"), "good morning")
    bot.fake.say(GROUP, ada, "TWO and that was all")
    entries = await bot.settled(GROUP)
    said = [entry.meta["text"] for entry in entries if "inbox" in entry.meta]
    assert [text[-12:] for text in said] == ["that was all", "good morning"]
