"""Titles of threads and of a forum's posts, as content of their messages."""

from __future__ import annotations

from typing import Any

from channels.discord.guild_cache import GuildCache
from channels.discord.inbound import parse
from channels.message import InboundMessage
from tests.channels.discord.raw import (
    BOB,
    BOT,
    FORUM,
    GENERAL,
    HIDDEN,
    ME,
    POST,
    SERVER,
    THREAD,
    Json,
    guild_cache,
    message,
)

ASK: Any = {"content": "<@1> any idea?", "mentions": [BOT]}


def read(raw: Json, cache: GuildCache) -> InboundMessage:
    found = parse("MESSAGE_CREATE", raw, ME, cache)
    assert found is not None
    return found


def forum() -> GuildCache:
    """Return a guild in whose forum Ada, whose id is 7, has posted."""
    cache = guild_cache()
    post = {"id": POST, "type": 11, "name": "Pink pages", "parent_id": FORUM, "guild_id": SERVER}
    cache.add_channel({**post, "owner_id": "7"})
    return cache


def titles(found: InboundMessage) -> list[str]:
    return [one.text for one in found.excerpts if one.label == "title"]


def test_the_title_of_a_post_is_its_authors_own_words_in_the_first_message() -> None:
    found = read(message("they are pink", channel=POST, id=POST), forum())
    assert (found.text, found.excerpts) == ("Pink pages\nthey are pink", ())


def test_a_title_that_somebody_else_gave_is_an_excerpt_by_its_author() -> None:
    found = read(message(channel=POST, author=BOB, **ASK), forum())
    assert found.text == "@Tapeway any idea?"
    assert titles(found) == ["Pink pages"]
    assert found.excerpts[0].author_id == "7"


def test_the_name_of_a_thread_comes_with_each_message_that_asks_there() -> None:
    cache = guild_cache()
    assert titles(read(message("said", channel=THREAD, mention_everyone=True), cache)) == []
    for number in ("5001", "5002"):
        asking = message(channel=THREAD, id=number, **ASK)
        assert titles(read(asking, cache)) == ["a thread"]
    assert titles(read(message(channel=HIDDEN, id="5003", **ASK), cache)) == ["layoffs"]


def test_a_channel_has_no_title() -> None:
    assert titles(read(message(channel=GENERAL, **ASK), guild_cache())) == []


def test_a_title_never_addresses_the_bot_nor_commands_it() -> None:
    cache = forum()
    cache.add_channel(
        {"id": POST, "type": 11, "name": ",reset Tapeway", "parent_id": FORUM, "owner_id": "7"}
    )
    found = read(message("hm", channel=POST, id=POST), cache)
    assert (found.addressed, found.command) == (False, "")
