"""What comes to a channel from elsewhere: a webhook's words, and posts of a channel it follows."""

from __future__ import annotations

from tests.channels.discord.hosts import Bot

CROSSPOSTED = 1 << 1
ANNOUNCEMENTS = 5


async def test_a6_a_followed_channel_s_post_is_read_and_asks_nothing(bot: Bot) -> None:
    news = bot.fake.webhook("Halls #news")
    posted = {
        "flags": CROSSPOSTED,
        "message_reference": {"type": 0, "guild_id": "77", "channel_id": "99", "message_id": "98"},
        "embeds": [{"type": "rich", "title": "The barn is free."}],
    }
    bot.say("The hall costs 300.", news, extra=posted)
    await bot.settled()
    assert bot.model.requests == []
    await bot.ask("which one?")
    assert "Halls news] The hall costs 300.\n> The barn is free." in bot.prompts()[-1]


async def test_a6_a_post_in_an_announcement_channel_is_answered_there(bot: Bot) -> None:
    news = bot.fake.text_channel(bot.guild, "news", kind=ANNOUNCEMENTS)
    await bot.ask("which hall?", place=news)
    assert len(bot.fake.messages(news)) == 1
