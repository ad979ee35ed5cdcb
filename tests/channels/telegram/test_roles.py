"""Who may do what in Telegram's chats: the whole gateway between two fakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.channels.telegram.bots import Bot, telegram_bot
from tests.fakes.telegram.world import Message, User

GROUP = -1001


async def owned(bot: Bot) -> tuple[User, Message]:
    """Make Ada the owner, have Bob ask in a closed group, and return Ada with the request."""
    ada, bob = bot.fake.user(7, "Ada"), bot.fake.user(8, "Bob")
    bot.fake.private_chat(ada)
    bot.fake.say(7, ada, f"/start {bot.gateway.parts.pairing.new_code()}")
    await bot.settled(7)
    bot.fake.group(GROUP, "Ops")
    bot.fake.say(GROUP, bob, "@tapeway_bot hello?")
    await bot.settled(GROUP)
    return ada, bot.fake.messages(7)[-1]


async def test_a_press_that_is_delivered_again_opens_a_chat_once(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, ACCESS__MODE="paired") as bot:
        ada, asked = await owned(bot)
        bot.fake.press(7, ada, asked.message_id, "This chat")
        update = bot.fake.updates.all[-1].update_id
        await bot.settled(7)
        said = len(bot.fake.messages(GROUP))
        assert "opened" in asked.text
        assert asked.buttons == {}
        bot.fake.redeliver(update)
        bot.fake.redeliver(update, new_id=True)
        await bot.settled(7)
        assert (asked.edits, len(bot.fake.messages(GROUP))) == (1, said)
        assert [press.shown for press in bot.fake.presses] == [""]


async def test_a_code_in_a_group_makes_nobody_an_owner_and_is_void(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, ACCESS__MODE="paired") as bot:
        ada = bot.fake.user(7, "Ada")
        bot.fake.private_chat(ada)
        bot.fake.group(GROUP, "Ops")
        code = bot.gateway.parts.pairing.new_code()
        bot.fake.say(GROUP, ada, f"/start@tapeway_bot {code}")
        await bot.settled(GROUP)
        bot.fake.say(7, ada, f"/start {code}")
        await bot.settled(7)
        assert "my owner" not in bot.fake.text_of(7)


async def test_the_owner_opens_a_group_in_privacy_mode_and_others_do_not(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, ACCESS__MODE="paired") as bot:
        bot.fake.can_read_all_group_messages = False
        ada, _asked = await owned(bot)
        bob = bot.fake.world.users[8]
        bot.fake.say(GROUP, bob, "/open@tapeway_bot")
        await bot.settled(GROUP)
        bot.fake.say(GROUP, bob, "@tapeway_bot and now?")
        await bot.settled(GROUP)
        assert bot.model.requests == []
        bot.fake.say(GROUP, ada, "/open@tapeway_bot")
        await bot.settled(GROUP)
        bot.fake.say(GROUP, bob, "@tapeway_bot and now?")
        await bot.settled(GROUP)
        assert len(bot.model.requests) == 1


@pytest.mark.parametrize(
    ("who", "may"), [("anonymous", True), ("channel", False), ("admin", True), ("member", False)]
)
async def test_who_may_start_over(who: str, may: bool, bot: Bot) -> None:
    ada = bot.fake.user(7, "Ada")
    room = bot.fake.group(GROUP, "Ops")
    news = bot.fake.group(-1002, "News", kind="channel", member=False)
    bot.fake.promote(GROUP, ada, "administrator" if who == "admin" else "member")
    text = "/reset@tapeway_bot"
    if who in ("anonymous", "channel"):
        bot.fake.say_as(GROUP, room if who == "anonymous" else news, text)
    else:
        bot.fake.say(GROUP, ada, text)
    entries = await bot.settled(GROUP)
    assert any(entry.kind == "anchor" and "reset" in (entry.name or "") for entry in entries) is may
