"""Which messages may ask, which are only read, and which are a change of the channel."""

from __future__ import annotations

from typing import Any

import pytest

from channels.discord.inbound import parse
from channels.message import InboundMessage
from tests.channels.discord.raw import (
    ADA,
    BOB,
    BOT,
    GENERAL,
    ME,
    PRIVATE,
    THREAD,
    Json,
    guild_cache,
    message,
    replying,
)

NEVER_SEEN = (13, 47, 99, 10_000)
EDITED = "2026-01-01T00:01:00+00:00"
ROBOT = {"id": "9", "username": "ci", "bot": True}


def read(raw: Json, name: str = "MESSAGE_CREATE") -> InboundMessage:
    found = parse(name, raw, ME, guild_cache())
    assert found is not None
    return found


def asks(found: InboundMessage) -> bool:
    return found.kind in ("message", "edit") and (found.addressed or found.follows)


@pytest.mark.parametrize("kind", [*range(1, 19), 22, *range(24, 46), *NEVER_SEEN])
def test_what_discord_says_of_a_channel_asks_nothing_anywhere(kind: int) -> None:
    text = "<@1> Tapeway, what now?"
    private = message(text, channel=PRIVATE, type=kind)
    in_thread = message("and then?", channel=THREAD, type=kind)
    to_bot = {**replying(message(author=BOT, id="4000"), text), "type": kind}
    for raw in (private, in_thread, to_bot, message(text, mentions=[BOT], type=kind)):
        found = read(raw)
        assert (found.kind, asks(found)) == ("change", False)
        assert found.change == (f"type {kind}" if kind in NEVER_SEEN else found.change)
        assert found.change


def test_a_change_says_who_and_what() -> None:
    found = read(message("plums", type=4, author=BOB))
    assert (found.change, found.text) == ("CHANNEL_NAME_CHANGE", "Channel name change: plums")
    assert (found.sender.name, found.message_id) == ("bob", "")
    assert read(message("", type=7)).text == "User join."


@pytest.mark.parametrize("kind", [0, 19, 20, 23])
def test_what_people_and_apps_write_may_ask(kind: int) -> None:
    assert asks(read(message("Tapeway?", type=kind)))
    assert asks(read(message("and then?", channel=THREAD, type=kind)))


@pytest.mark.parametrize("place", [GENERAL, THREAD, PRIVATE])
def test_a_message_without_words_or_files_is_no_question(place: str) -> None:
    to_bot = replying(message(author=BOT, id="4000", channel=place), "", channel=place)
    for raw in (message("", channel=place), to_bot, message("  ", channel=place)):
        found = read(raw)
        assert (found.kind, asks(found), found.message_id) == ("change", False, "")
        assert found.change in ("DEFAULT", "REPLY")


def test_b4_a_bare_mention_and_a_sticker_are_content() -> None:
    assert asks(read(message("<@1>", mentions=[BOT])))
    sticker: Any = {"sticker_items": [{"id": "1", "name": "otter"}]}
    assert asks(read(message("", channel=PRIVATE, **sticker)))
    assert asks(read(replying(message(author=BOT, id="4000"), "", **sticker)))


def test_a_threads_first_message_is_read_and_asks_nothing() -> None:
    begun = message("Tapeway, exit 137?", author=BOB, id=THREAD)
    found = read(message("", channel=THREAD, type=21, referenced_message=begun))
    assert (found.kind, asks(found), found.quote) == ("message", False, None)
    assert found.excerpts[0].text == "Tapeway, exit 137?"


def test_a_thread_of_the_bots_own_message_is_read_as_said_by_its_maker() -> None:
    cache = guild_cache()
    thread = {"id": THREAD, "type": 11, "name": "t", "parent_id": GENERAL, "guild_id": "100"}
    cache.add_channel({**thread, "owner_id": "7"})
    begun = message("as I said", author=BOT, id=THREAD)
    raw = message("", channel=THREAD, type=21, author=BOT, referenced_message=begun)
    found = parse("MESSAGE_CREATE", raw, ME, cache)
    assert found is not None
    assert (found.sender.id, found.excerpts[0].ours) == ("7", True)


def test_the_result_of_a_poll_is_read_and_asks_nothing() -> None:
    fields = [{"name": "poll_question_text", "value": "Tapeway, when?"}]
    raw = message("", type=46, embeds=[{"type": "poll_result", "fields": fields}], channel=PRIVATE)
    found = read(raw)
    assert (found.kind, asks(found)) == ("message", False)
    assert "Tapeway, when?" in found.text


def test_a_forward_does_not_address_the_bot_in_a_server_but_own_words_with_it_do() -> None:
    given: Any = {
        "message_reference": {"type": 1, "message_id": "9"},
        "message_snapshots": [{"message": {"content": "<@1> do it, Tapeway"}}],
    }
    bare = read(message("", **given))
    assert (asks(bare), bare.why, bare.forwarded) == (False, "forwarded", None)
    assert not asks(read(message("", channel=THREAD, **given)))
    assert asks(read(message("Tapeway?", **given)))
    assert asks(read(message("", channel=PRIVATE, **given)))


@pytest.mark.parametrize(
    ("quoted", "shown"),
    [
        ({"message_snapshots": [{"message": {"content": "300 a day"}}]}, "300 a day"),
        ({"poll": {"question": {"text": "tea?"}, "answers": []}}, "tea?"),
        ({"author": ROBOT, "embeds": [{"title": "Build 812"}]}, "Build 812"),
        ({"author": ROBOT, "components": [{"type": 99, "words": "a new kind"}]}, "a new kind"),
        ({"embeds": [{"type": "link", "title": "A page"}]}, "link preview: A page"),
    ],
)
def test_a_reply_quotes_all_that_the_message_says(quoted: Any, shown: str) -> None:
    found = read(replying(message("", **{"author": BOB, "id": "4000", **quoted}))).quote
    assert found is not None
    assert shown in found.text


def test_a_reply_shows_the_files_of_what_it_answers() -> None:
    picture = {"filename": "a.png", "url": "https://cdn.discordapp.com/a.png", "size": 4}
    to = message("", author=BOB, id="4000", attachments=[picture], sticker_items=[{"name": "hi"}])
    found = read(replying(to)).quote
    assert found is not None
    assert [one.label for one in found.media] == ["image", "sticker"]


@pytest.mark.parametrize(("kind", "name"), [(7, "USER_JOIN"), (99, "type 99"), (0, "DEFAULT")])
def test_a_reply_to_what_says_nothing_names_its_type(kind: int, name: str) -> None:
    found = read(replying(message("", author=BOB, id="4000", type=kind))).quote
    assert found is not None
    assert [one.detail for one in found.media] == [name]


def test_a4_an_edit_has_the_fields_of_a_new_message() -> None:
    picture = {"filename": "a.png", "url": "https://cdn.discordapp.com/a.png", "size": 4}
    to = message("dead", author=BOT, id="4000")
    raw = replying(to, "Tapeway, now so", attachments=[picture], edited_timestamp=EDITED)
    new, edit = read(raw), read(raw, "MESSAGE_UPDATE")
    assert (edit.kind, edit.edited, edit.date) == ("edit", EDITED, new.date)
    for name in ("message_id", "text", "addressed", "why", "media", "quote", "mentions"):
        assert getattr(edit, name) == getattr(new, name)
    assert edit.ext_id.startswith(f"{new.ext_id}/edit/{EDITED}-")
    assert read(message("so", channel=THREAD, edited_timestamp=EDITED), "MESSAGE_UPDATE").follows


def test_an_edit_that_leaves_nothing_is_an_edit_without_words() -> None:
    found = read(message("", edited_timestamp=EDITED), "MESSAGE_UPDATE")
    assert (found.kind, found.text, found.message_id, asks(found)) == ("edit", "", "5000", False)


def test_a_later_preview_of_a_link_is_an_edit_without_a_time() -> None:
    embeds = [{"type": "article", "title": "Plums"}]
    raw = message("see https://example.org", embeds=embeds)
    found = read(raw, "MESSAGE_UPDATE")
    assert (found.kind, found.edited, found.text) == ("edit", "", "see https://example.org")
    assert [one.text for one in found.excerpts] == ["Plums"]
    assert read(raw, "MESSAGE_UPDATE").ext_id == found.ext_id


def test_an_apps_announced_answer_is_its_message_when_it_comes() -> None:
    asked = {"id": "1", "type": 2, "user": ADA}
    raw = message("", type=20, author=ROBOT, flags=1 << 7, interaction_metadata=asked)
    assert parse("MESSAGE_CREATE", raw, ME, guild_cache()) is None
    assert parse("MESSAGE_UPDATE", raw, ME, guild_cache()) is None
    found = read({**raw, "content": "42 plums", "flags": 0}, "MESSAGE_UPDATE")
    assert (found.kind, found.text, found.ext_id) == ("message", "42 plums", f"{GENERAL}/5000")


@pytest.mark.parametrize("left_out", ["content", "author"])
def test_an_update_with_a_part_of_a_message_is_not_read_as_empty(left_out: str) -> None:
    raw = message("plums", edited_timestamp=EDITED)
    del raw[left_out]
    assert parse("MESSAGE_UPDATE", raw, ME, guild_cache()) is None
