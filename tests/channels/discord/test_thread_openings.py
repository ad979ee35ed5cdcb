"""What a thread is opened with, its title and first message, stands once in the prompt."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.channels.discord.hosts import Bot, House, began
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.world import Channel, Message
from tests.fakes.openai.script import Text

DIES: Final = "The export dies with code 137."
COPY: Final = "[first message of the thread"


async def ask(bot: Bot, text: str, **how: Any) -> Message:
    """Ask the bot something, which it answers without repeating it."""
    bot.model.enqueue(Text(("Yes.",)))
    return await bot.ask(text, **how)


async def shown(bot: Bot, text: str, **how: Any) -> str:
    """Ask the bot something, and return the model's newest prompt."""
    await ask(bot, text, **how)
    return bot.prompts()[-1]


def post_in(bot: Bot, title: str, text: str) -> Channel:
    """Have Ada post in a forum, and return the post."""
    return bot.fake.forum_post(bot.fake.forum(bot.guild), bot.ada, title, text)[0]


# -- the message that a thread was made of


@pytest.mark.parametrize("mode", ["auto", "lane", "anchor"])
async def test_what_a_thread_was_made_of_is_shown_once_in_it(place: House, mode: str) -> None:
    async with place.bot(CONTEXT__MODE=mode) as bot:
        begun = bot.say(DIES, bot.bob)
        await bot.settled()
        thread = bot.fake.thread(bot.general, bot.ada, "Export", at=begun.id)
        for question in ("can you help?", "and now?"):
            prompt = await shown(bot, question, place=thread)
            assert prompt.count(DIES) == 1
            assert COPY not in prompt


async def test_what_a_thread_was_made_of_is_shown_in_it_though_the_bot_was_not_there(
    place: House,
) -> None:
    async with place.bot() as bot:
        await bot.settled()
        bot.fake.deny(bot.general, Permission.VIEW_CHANNEL)
        begun = bot.say(DIES, bot.bob)
        bot.fake.allow(bot.general, Permission.VIEW_CHANNEL)
        thread = bot.fake.thread(bot.general, bot.ada, "Export", at=begun.id)
        prompt = await shown(bot, "can you help?", place=thread)
        assert prompt.count(f">> {DIES}") == 1
        assert f"{COPY} of " in prompt
        assert (await shown(bot, "and now?", place=thread)).count(DIES) == 1


async def test_an_answer_that_a_thread_was_made_of_is_shown_as_the_agent_s(bot: Bot) -> None:
    await ask(bot, "what do plums need?")
    (answer,) = bot.fake.messages(bot.general)
    thread = bot.fake.thread(bot.general, bot.ada, "Plums", at=answer.id)
    prompt = await shown(bot, "how much?", place=thread)
    assert f"{COPY} of you" in prompt


async def test_what_a_thread_was_made_of_is_gone_from_it_once_it_is_deleted(bot: Bot) -> None:
    begun = bot.say(DIES, bot.bob)
    await bot.settled()
    thread = bot.fake.thread(bot.general, bot.ada, "Export", at=begun.id)
    await bot.settled()
    bot.fake.delete(bot.general, begun.id)
    assert DIES not in await shown(bot, "can you help?", place=thread)


# -- the title


async def test_the_name_of_a_thread_is_shown_with_the_first_question_in_it(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Summer fair")
    assert ">> Summer fair" in (await shown(bot, "one?", place=thread)).partition("one?")[2]
    assert (await shown(bot, "two?", place=thread)).count("Summer fair") == 1


async def test_two_who_ask_at_once_in_a_thread_get_its_name_once(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Summer fair")
    bot.model.enqueue(Text(("At ten.",)), Text(("At ten.",)))
    for user in (bot.ada, bot.bob):
        bot.say(f"<@{bot.fake.bot.id}> when?", user, place=thread)
    await bot.settled()
    assert bot.prompts()[-1].count("Summer fair") == 1


async def test_the_title_of_a_post_is_shown_with_its_first_message_alone(bot: Bot) -> None:
    bot.model.enqueue(Text(("None.",)))
    post = post_in(bot, "Pink pages only", f"<@{bot.fake.bot.id}> any idea?")
    await bot.settled(post)
    assert "] Pink pages only\n> @" in bot.prompts()[-1]
    prompt = await shown(bot, "and you?", user=bot.bob, place=post)
    assert prompt.count("Pink pages only") == 1


async def test_the_title_of_a_post_that_is_older_than_the_bot_is_shown(place: House) -> None:
    async with place.bot() as bot:
        await bot.settled()
        forum = bot.fake.forum(bot.guild)
        bot.fake.deny(forum, Permission.VIEW_CHANNEL)
        post, _message = bot.fake.forum_post(forum, bot.ada, "Pink pages only", "any idea?")
        bot.fake.allow(forum, Permission.VIEW_CHANNEL)
        prompt = await shown(bot, "and you?", user=bot.bob, place=post)
        assert prompt.count(">> Pink pages only") == 1


@pytest.mark.parametrize("mode", ["auto", "anchor"])
async def test_a_restart_shows_no_title_again(place: House, mode: str) -> None:
    async with place.bot(CONTEXT__MODE=mode) as bot:
        thread = bot.fake.thread(bot.general, bot.ada, "Summer fair")
        await ask(bot, "one?", place=thread)
        post = post_in(bot, "Pink pages only", "any idea?")
        await bot.settled()
    async with place.bot(CONTEXT__MODE=mode) as bot:
        assert (await shown(bot, "two?", place=thread)).count("Summer fair") == 1
        prompt = await shown(bot, "well?", user=bot.bob, place=post)
        assert prompt.count("Pink pages only") == 1


async def test_an_edit_shows_no_title_again(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Summer fair")
    first = await ask(bot, "one?", place=thread)
    bot.fake.edit(thread, first.id, f"<@{bot.fake.bot.id}> eleven?")
    await bot.settled()
    prompt = await shown(bot, "two?", place=thread)
    assert "eleven?" in prompt
    assert prompt.count("Summer fair") == 1


async def test_a_quote_and_a_forward_say_nothing_of_a_title(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Summer fair")
    first = await ask(bot, "one?", place=thread)
    await ask(bot, "two?", place=thread, reply_to=first.id)
    shot = {"content": "one?", "timestamp": "2025-01-01T09:00:00+00:00", "mentions": []}
    reference = {"type": 1, "channel_id": str(thread.id), "message_id": str(first.id)}
    more = {"message_reference": reference, "message_snapshots": [{"message": shot}]}
    bot.say("", place=thread, extra=more)
    assert (await shown(bot, "three?", place=thread)).count("Summer fair") == 1


async def test_what_was_missed_in_a_thread_is_shown_once(place: House) -> None:
    await began(place)
    begun = place.fake.say(place.general, place.bob, DIES)
    thread = place.fake.thread(place.general, place.ada, "Export", at=begun.id)
    place.fake.say(thread, place.ada, f"<@{place.fake.bot.id}> so?")
    async with place.bot() as bot:
        await bot.settled()
        (prompt,) = [one for one in bot.prompts() if "so?" in one]
    assert prompt.count(DIES) == 1
    assert prompt.count("Export") == 1
