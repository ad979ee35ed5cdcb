"""The names of topics: somebody's words, which stand once in what the model reads of a topic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from channels.message import Excerpt, InboundMessage
from tests.channels.telegram.bots import GROUP as GROUP_ID
from tests.channels.telegram.bots import Bot, in_private, telegram_bot
from tests.channels.telegram.raw import (
    ALL_RULES,
    BOB,
    BOT,
    FORUM,
    ME,
    PRIVATE,
    TOPIC,
    Json,
    entity,
    read,
    said,
)
from tests.fakes.openai.script import Text
from tests.fakes.telegram.world import Chat, User

MADE: Final = {
    "message_id": 40,
    "date": 1767225000,
    "from": BOB,
    "forum_topic_created": {"name": "Ops"},
}
HELLO: Json = {
    "text": "@tapeway_bot hi",
    "entities": [entity("@tapeway_bot hi", "@tapeway_bot", "mention")],
}
RENAMED: Final = {"forum_topic_edited": {"name": "Run"}}
OPS: Final = Excerpt("title", "Ops", "Bob", "8", "2025-12-31T23:50:00+00:00")


def in_topic(chat: Json = FORUM, **more: object) -> Json:
    fields: Json = {**TOPIC, "reply_to_message": MADE, **more}
    return said(fields.pop("text"), chat, **fields)


@pytest.mark.parametrize(
    ("update", "titles"),
    [
        (in_topic(**HELLO), (OPS,)),
        (in_topic(PRIVATE, text="hi"), (OPS,)),
        (in_topic(text="said to others"), ()),
        (
            in_topic(**HELLO, reply_to_message={**MADE, "from": BOT}),
            (replace(OPS, author="Tapeway", author_id="1", ours=True),),
        ),
        (
            in_topic(
                **HELLO, reply_to_message={"message_id": 40, "forum_topic_created": {"name": "Ops"}}
            ),
            (Excerpt("title", "Ops"),),
        ),
        (in_topic(**HELLO, reply_to_message={**MADE, "forum_topic_created": {}}), ()),
        (in_topic(**HELLO, reply_to_message={**MADE, "forum_topic_created": {"name": 7}}), ()),
        (in_topic(**HELLO, is_topic_message=None), ()),
        (in_topic(**HELLO, reply_to_message={"message_id": 41, "from": BOB, "text": "a"}), ()),
    ],
)
def test_a_message_that_asks_in_a_topic_has_its_name_by_who_gave_it(
    update: Json, titles: tuple[Excerpt, ...]
) -> None:
    found = read(update)
    assert (found.excerpts, found.kind) == (titles, "message")


def test_a_message_that_may_ask_in_a_followed_topic_has_its_name() -> None:
    found = read(in_topic(text="and now?"), replace(ME, answers=ALL_RULES))
    assert (found.follows, found.excerpts) == (True, (OPS,))


@pytest.mark.parametrize("chat", [FORUM, PRIVATE])
def test_a_new_name_is_a_title_that_asks_nothing(chat: Json) -> None:
    robin = {"forum_topic_edited": {"name": "Robin, /help"}}
    found = read(said(None, chat, **TOPIC, **robin), replace(ME, answers=ALL_RULES))
    assert _asks(found) == (False, False, "")
    assert (found.kind, found.text, found.why) == ("message", "", "the new name of a topic")
    assert found.excerpts == (Excerpt("title", "Robin, /help"),)


def test_a_reply_to_a_new_name_quotes_it() -> None:
    renamed = {"message_id": 44, "from": BOB, **RENAMED}
    quote = read(said("why?", FORUM, **TOPIC, reply_to_message=renamed)).quote
    assert quote is not None
    assert (quote.author, quote.text) == ("Bob", "title: Run")


def test_a_new_icon_is_a_change() -> None:
    found = read(said(None, FORUM, **TOPIC, forum_topic_edited={"icon_custom_emoji_id": "1"}))
    assert (found.kind, found.text) == ("change", "The topic has a new icon.")


def _asks(found: InboundMessage) -> tuple[bool, bool, str]:
    return found.addressed, found.follows, found.command


# -- through the gateway


def forum_of(bot: Bot) -> tuple[Chat, User, User]:
    """Make a forum and two people."""
    forum = bot.fake.group(GROUP_ID, "Ops", forum=True)
    return forum, bot.fake.user(7, "Ada"), bot.fake.user(8, "Bob")


async def shown(bot: Bot, chat: int, user: User, text: str, topic: int) -> str:
    """Ask in a topic, and return the model's newest prompt."""
    bot.model.enqueue(Text(("Yes.",)))
    bot.fake.say(chat, user, text, topic=topic)
    await bot.settled(chat)
    return bot.prompts()[-1]


async def test_the_name_of_a_topic_is_shown_once_and_its_new_name_when_it_is_given(
    bot: Bot,
) -> None:
    forum, ada, bob = forum_of(bot)
    topic = bot.fake.topic(forum, "Spring fair", bob)
    prompt = await shown(bot, GROUP_ID, ada, "@tapeway_bot one?", topic.id)
    assert "\n[title of #2 Bob, " in prompt
    assert prompt.count(">> Spring fair") == 1
    bot.fake.rename_topic(forum, topic, "Summer fair", bob)
    prompt = await shown(bot, GROUP_ID, ada, "@tapeway_bot two?", topic.id)
    assert prompt.count("Spring fair") == 1
    assert prompt.partition("Yes.")[2].count(">> Summer fair") == 1


async def test_the_first_name_of_a_topic_never_comes_after_a_newer_one(bot: Bot) -> None:
    forum, ada, bob = forum_of(bot)
    topic = bot.fake.topic(forum, "Spring fair", bob)
    bot.fake.rename_topic(forum, topic, "Summer fair", bob)
    prompt = await shown(bot, GROUP_ID, ada, "@tapeway_bot one?", topic.id)
    assert prompt.count("Summer fair") == 1
    assert "Spring fair" not in prompt


async def test_a_topic_of_a_private_chat_has_its_name(bot: Bot) -> None:
    ada = in_private(bot)
    bot.fake.say(7, ada, "hello")  # the first number is that of General
    await bot.settled(7)
    topics = [bot.fake.topic(7, name, ada).id for name in ("Roses", "Trains")]
    for topic, name in zip(topics, ("Roses", "Trains"), strict=True):
        assert f">> {name}" in await shown(bot, 7, ada, "one?", topic)
    prompt = await shown(bot, 7, ada, "two?", topics[1])
    assert prompt.count("Trains") == 1
    assert "Roses" not in prompt


async def test_a_command_takes_the_name_from_no_question(bot: Bot) -> None:
    forum, ada, bob = forum_of(bot)
    topic = bot.fake.topic(forum, "Spring fair", bob)
    bot.fake.say(forum, ada, "/help@tapeway_bot", topic=topic.id)
    await bot.settled(GROUP_ID)
    prompt = await shown(bot, GROUP_ID, ada, "@tapeway_bot one?", topic.id)
    assert prompt.count("Spring fair") == 1


async def test_an_edit_shows_no_name_again(bot: Bot) -> None:
    forum, ada, bob = forum_of(bot)
    topic = bot.fake.topic(forum, "Spring fair", bob)
    first = bot.fake.say(forum, ada, "@tapeway_bot one?", topic=topic.id)
    bot.model.enqueue(Text(("Yes.",)))
    await bot.settled(GROUP_ID)
    bot.fake.edit(forum, first["message_id"], "@tapeway_bot eleven?")
    await bot.settled(GROUP_ID)
    prompt = await shown(bot, GROUP_ID, ada, "@tapeway_bot two?", topic.id)
    assert "eleven?" in prompt
    assert prompt.count("Spring fair") == 1


async def test_a_restart_shows_no_name_again(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path) as bot:
        forum, ada, bob = forum_of(bot)
        topic = bot.fake.topic(forum, "Spring fair", bob)
        await shown(bot, GROUP_ID, ada, "@tapeway_bot one?", topic.id)
        fake = bot.fake
        prompts = len(bot.prompts())
        assert prompts == 1
    async with telegram_bot(tmp_path, fake=fake) as bot:
        prompt = await shown(bot, GROUP_ID, ada, "@tapeway_bot two?", topic.id)
        assert prompt.count("Spring fair") == 1
