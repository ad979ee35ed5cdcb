"""An owner on Discord is asked about closed channels, and answers with a button."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.channels.discord.hosts import PAIRED, Bot, contents_of, house
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.world import SUPPRESS_EMBEDS, Message, User

pytestmark = pytest.mark.settings(**PAIRED)


async def pair(bot: Bot, user: User) -> None:
    """Make somebody an owner."""
    await bot.until(lambda: bot.fake.commands.find("pair", None))
    code = {"code": bot.gateway.parts.pairing.new_code()}
    used = bot.fake.slash(bot.fake.dm(user), user, "pair", code)
    await bot.until(lambda: used.acknowledged)
    await bot.settled()


def cards(bot: Bot, user: User) -> list[Message]:
    """Return the bot's messages to somebody that have buttons."""
    return [one for one in bot.fake.messages(bot.fake.dm(user)) if one.json["components"]]


async def press(bot: Bot, card: Message, user: User, label: str) -> None:
    used = bot.fake.press(card.channel_id, user, card, label)
    await bot.until(lambda: used.acknowledged)
    await bot.settled()


def check_silent(bot: Bot) -> None:
    """Check that nothing the bot wrote alerts anybody or has a preview."""
    bodies = [
        call.params.get("data", call.params)
        for call in bot.fake.calls_of("post", "edit", "callback", "followup")
    ]
    written = [body for body in bodies if "content" in body]
    assert written
    for body in written:
        assert body["allowed_mentions"] == {"parse": [], "replied_user": False}
        assert body["flags"] & SUPPRESS_EMBEDS


@pytest.mark.parametrize("label", ["This channel", "This whole server", "No"])
async def test_the_owner_opens_a_channel_or_a_server_with_one_press(label: str, bot: Bot) -> None:
    await pair(bot, bot.ada)
    other = bot.fake.text_channel(bot.guild, "other")
    await bot.ask("hello", bot.bob)
    (card,) = cards(bot, bot.ada)
    assert str(bot.bob.id) in card.text
    assert "#general (Ops)" in card.text
    await press(bot, card, bot.ada, label)
    assert cards(bot, bot.ada) == []
    assert card.edits == 1
    for place, opens in ((bot.general, label != "No"), (other, label.startswith("This whole"))):
        seen = len(bot.model.requests)
        await bot.ask("and now?", bot.bob, place=place)
        assert (len(bot.model.requests) > seen) is opens
    check_silent(bot)


async def test_two_owners_press_at_once_and_one_of_them_counts(bot: Bot) -> None:
    for user in (bot.ada, bot.bob):
        await pair(bot, user)
    eve = bot.fake.user("Eve")
    await bot.ask("hello", eve)
    (first,), (second,) = cards(bot, bot.ada), cards(bot, bot.bob)
    for card, user, label in ((first, bot.ada, "This channel"), (second, bot.bob, "No")):
        bot.fake.press(card.channel_id, user, card, label)
    await bot.until(lambda: len(bot.fake.calls_of("callback")) >= 4)
    await bot.settled()
    texts = [*bot.texts(bot.fake.dm(bot.ada)), *bot.texts(bot.fake.dm(bot.bob))]
    assert sum("I've opened" in text or "I won't answer" in text for text in texts) == 1
    hidden = [
        one.text
        for user in (bot.ada, bot.bob)
        for one in bot.fake.dm(user).messages.values()
        if one.seen_by is not None and "code" not in one.text
    ]
    assert hidden == ["This question was answered already."]
    check_silent(bot)


async def test_d1_a_press_before_a_kill_counts_once_after_it(tmp_path: Path) -> None:
    async with house(tmp_path) as place:
        async with place.bot(**PAIRED) as bot:
            await pair(bot, bot.ada)
            await bot.ask("hello", bot.bob)
            (card,) = cards(bot, bot.ada)
            used = bot.fake.press(card.channel_id, bot.ada, card, "This channel")
            await bot.until(lambda: used.acknowledged)
        async with place.bot(**PAIRED) as bot:
            await bot.settled()
            assert cards(bot, bot.ada) == []
            await bot.ask("and now?", bot.bob)
            assert len(bot.model.requests) == 1
    assert used.token.encode() not in contents_of(tmp_path)


@pytest.mark.parametrize("kind", ["member", "admin", "webhook"])
async def test_open_by_anybody_but_the_owner_opens_no_first_channel(kind: str, bot: Bot) -> None:
    await pair(bot, bot.ada)
    boss = bot.fake.role(bot.guild, "boss", permissions=Permission.ADMINISTRATOR)
    who = bot.fake.webhook("Ada") if kind == "webhook" else bot.bob
    if kind == "admin":
        bot.fake.join(bot.guild, bot.bob, boss)
    bot.say(",open", who)
    await bot.settled()
    await bot.ask("hello", bot.bob)
    assert bot.model.requests == []


async def test_an_administrator_opens_a_second_channel_of_a_server(bot: Bot) -> None:
    await pair(bot, bot.ada)
    bot.say(",open", bot.ada)
    await bot.settled()
    boss = bot.fake.role(bot.guild, "boss", permissions=1 << 5)
    eve = bot.fake.user("Eve")
    bot.fake.join(bot.guild, eve, boss)
    other = bot.fake.text_channel(bot.guild, "other")
    for user, opens in ((bot.bob, False), (eve, True)):
        bot.say(",open", user, place=other)
        await bot.settled()
        seen = len(bot.model.requests)
        await bot.ask("hello", bot.bob, place=other)
        assert (len(bot.model.requests) > seen) is opens


async def test_a_code_in_a_channel_is_void_and_nobodys(bot: Bot) -> None:
    code = bot.gateway.parts.pairing.new_code()
    await bot.ask(f"pair {code}", bot.bob)
    await bot.until(lambda: bot.fake.commands.find("pair", None))
    used = bot.fake.slash(bot.fake.dm(bot.ada), bot.ada, "pair", {"code": code})
    await bot.until(lambda: used.acknowledged)
    await bot.settled()
    assert "too old" in bot.texts(bot.fake.dm(bot.ada))[-1]
    assert code not in str(bot.texts()) + str(bot.texts(bot.fake.dm(bot.ada)))
