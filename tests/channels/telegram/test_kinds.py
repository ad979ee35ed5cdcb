"""Which messages ask: those with content that is known; any other is a change of the chat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from channels.message import InboundMessage
from channels.telegram.inbound import parse
from tests.channels.telegram.bots import GROUP as BOTS_GROUP
from tests.channels.telegram.bots import Bot, in_group, in_private
from tests.channels.telegram.raw import (
    ALL_RULES,
    BOB,
    BOT,
    FORUM,
    GROUP,
    ME,
    PRIVATE,
    Json,
    entity,
    said,
)
from tests.fakes.openai.script import Text

TOPIC = {"message_thread_id": 40, "is_topic_message": True}
TO_BOT = {"reply_to_message": {"message_id": 3, "from": BOT, "text": "yes?"}}

SERVICE = [
    "successful_payment",
    "refunded_payment",
    "gift",
    "unique_gift",
    "gift_upgrade_sent",
    "passport_data",
    "checklist_tasks_done",
    "checklist_tasks_added",
    "community_chat_added",
    "community_chat_removed",
    "community_chat_joined",
    "direct_message_price_changed",
    "paid_message_price_changed",
    "suggested_post_approved",
    "suggested_post_declined",
    "suggested_post_paid",
    "suggested_post_refunded",
    "chat_owner_left",
    "chat_owner_changed",
    "managed_bot_created",
    "giveaway_created",
    "giveaway_completed",
    "poll_option_added",
    "poll_option_deleted",
    "web_app_data",
    "users_shared",
    "chat_shared",
    "boost_added",
    "connected_website",
    "write_access_allowed",
    "proximity_alert_triggered",
    "chat_background_set",
    "new_chat_photo",
    "message_auto_delete_timer_changed",
    "video_chat_started",
    "video_chat_ended",
    "something_of_tomorrow",
]


def read(update: Json) -> InboundMessage:
    message = parse(update, replace(ME, answers=ALL_RULES))
    assert message is not None
    return message


@pytest.mark.parametrize(
    "place", [(PRIVATE, {}), (GROUP, TO_BOT), (FORUM, TOPIC), (PRIVATE, TO_BOT)]
)
@pytest.mark.parametrize("kind", SERVICE)
def test_b2_a_message_without_content_asks_nowhere_and_is_recorded_by_name(
    kind: str, place: tuple[Json, Json]
) -> None:
    chat, more = place
    message = read(said(None, chat, **more, **{kind: {"x": 1, "text": "Robin?"}}))
    assert (message.kind, message.change) == ("change", kind)
    assert (message.addressed, message.follows) == (False, False)
    assert message.text == f"Telegram reports: {kind.replace('_', ' ')}."


def test_a_message_that_lost_its_text_is_none_either() -> None:
    for text in ("", " \n"):
        message = read(said(text, PRIVATE))
        assert (message.kind, message.change, message.text) == ("change", "empty_message", "")
    assert read(said(None, PRIVATE, reply_markup={"inline_keyboard": []})).kind == "change"


def test_an_edit_without_content_is_a_change_too() -> None:
    raw = {**said(None, PRIVATE)["message"], "edit_date": 9, "hologram": {"x": 1}}
    message = read({"update_id": 4, "edited_message": raw})
    assert (message.kind, message.change, message.addressed) == ("change", "hologram", False)
    later = read({"update_id": 5, "edited_message": {**raw, "edit_date": 10}})
    assert later.ext_id != message.ext_id


MENTION = entity("@tapeway_bot", "@tapeway_bot", "mention")


@pytest.mark.parametrize(
    ("update", "why"),
    [
        (said("@tapeway_bot", entities=[MENTION]), "mention"),
        (said("@tapeway_bot", entities=[MENTION], **TO_BOT), "mention"),
        (said(None, PRIVATE, sticker={"emoji": "👍"}), "private chat"),
        (said(None, GROUP, sticker={"file_id": "s"}, **TO_BOT), "reply"),
        (said(None, GROUP, dice={"emoji": "🎲", "value": 3}, **TO_BOT), "reply"),
    ],
)
def test_b4_a_bare_mention_and_a_sticker_ask(update: Json, why: str) -> None:
    message = read(update)
    assert (message.kind, message.addressed, message.why) == ("message", True, why)


@pytest.mark.parametrize(
    ("fields", "change", "text"),
    [
        ({"new_chat_title": "New"}, "new_chat_title", "The chat has a new name: New."),
        ({"forum_topic_closed": {}}, "forum_topic_closed", "The topic was closed."),
        (
            {"forum_topic_created": {"name": "Ops"}},
            "forum_topic_created",
            "The topic has a name: Ops.",
        ),
        ({"forum_topic_edited": {}}, "forum_topic_edited", "The topic has a new icon."),
        (
            {"pinned_message": {"message_id": 41, "date": 1, "from": BOB, "text": "secret"}},
            "pinned_message",
            "Message 41 of Bob was pinned.",
        ),
        (
            {"pinned_message": {"message_id": 41, "date": 0}},
            "pinned_message",
            "Message 41 was pinned.",
        ),
        (
            {"new_chat_members": [BOB, {"id": 9, "first_name": "Cy"}]},
            "new_chat_members",
            "Bob, Cy came.",
        ),
        ({"left_chat_member": BOB}, "left_chat_member", "Bob left."),
    ],
)
def test_a_service_message_is_told_in_a_sentence(fields: Json, change: str, text: str) -> None:
    message = read(said(None, FORUM, **TOPIC, **fields))
    assert (message.kind, message.change, message.text) == ("change", change, text)
    assert message.ext_id == f"-100/{change}/5"


def test_what_the_bot_did_itself_is_not_read() -> None:
    assert parse(said(None, pinned_message={"message_id": 4}, **{"from": BOT}), ME) is None


# -- through the gateway


async def test_an_unknown_kind_is_recorded_and_answers_nobody(bot: Bot) -> None:
    ada = in_private(bot)
    in_group(bot)
    bot.model.enqueue(Text(("Yes.",)))
    bot.fake.say(BOTS_GROUP, ada, "@tapeway_bot are you there?")
    await bot.settled(BOTS_GROUP)
    (answer,) = bot.fake.messages(BOTS_GROUP)
    kind = {"hologram": {"x": 1}}
    bot.fake.send(7, ada, kind)
    bot.fake.send(BOTS_GROUP, ada, kind, reply_to=answer.message_id)
    for chat in (7, BOTS_GROUP):
        entries = await bot.settled(chat)
        changes = [one.payload["data"]["change"] for one in entries if one.name == "chat.change"]
        assert changes == ["hologram"]
    assert len(bot.model.requests) == 1


async def test_a_reply_to_what_asks_nothing_says_what_it_points_at(bot: Bot) -> None:
    ada = in_group(bot)
    change = bot.fake.send(BOTS_GROUP, ada, {"new_chat_title": "Plums"})
    await bot.settled(BOTS_GROUP)
    bot.fake.say(BOTS_GROUP, ada, "@tapeway_bot why?", reply_to=change["message_id"])
    await bot.settled(BOTS_GROUP)
    assert 'Ada: "The chat has a new name: Plums."] @tapeway_bot why?' in bot.prompts()[-1]


LONG = "t" * 900 + " a canary"
RICH = {"rich_message": {"blocks": [{"type": "table", "cells": [[{"text": "a canary"}]]}]}}
SHOWN: list[tuple[Json, str]] = [
    (RICH, "a canary"),
    ({"checklist": {"title": "Rome", "tasks": [{"id": 1, "text": LONG}]}}, "a canary"),
    ({"venue": {"title": "a canary", "address": "Main 1"}}, "a canary"),
    (
        {"text": "here", "entities": [entity("here", "here", "text_link", url="https://a.canary")]},
        "https://a.canary",
    ),
]


@pytest.mark.parametrize(("content", "canary"), SHOWN)
async def test_what_people_send_is_what_the_model_reads(
    bot: Bot, content: Any, canary: str
) -> None:
    ada = in_private(bot)
    bot.fake.send(7, ada, content)
    await bot.settled(7)
    assert canary in bot.prompts()[-1]
    quoted = bot.fake.say(7, ada, "and that?", reply_to=next(iter(bot.fake.chat(7).messages)))
    assert quoted["reply_to_message"]
    await bot.settled(7)
    assert len(bot.model.requests) == 2


async def test_a_live_location_that_moves_is_an_edit_with_the_new_place(bot: Bot) -> None:
    ada = in_private(bot)
    live = {"latitude": 1, "longitude": 2, "live_period": 900}
    sent = bot.fake.send(7, ada, {"location": live})
    await bot.settled(7)
    bot.fake.change(7, sent["message_id"], {"location": {**live, "longitude": 3}})
    await bot.settled(7)
    assert "live location, 1, 2" in bot.prompts()[0]
    assert len(bot.model.requests) == 1


HOLOGRAM = {"hologram": {"hologram_id": "7"}, "new_marks": [1], "is_new": True, "new_id": "x"}
LEFT = tuple(f"{one}, a kind that cannot be read" for one in ("hologram", "new marks"))


@pytest.mark.parametrize("words", [{"text": "what is it?"}, {"caption": "what is it?"}])
def test_what_is_not_known_beside_words_is_named(words: Json) -> None:
    message = parse(said(**{"text": None, "chat": PRIVATE, **words, **HOLOGRAM}), ME)
    assert message is not None
    assert (message.kind, message.text, message.omitted) == ("message", "what is it?", LEFT)


def test_known_fields_beside_words_leave_nothing_out() -> None:
    photo = [{"file_id": "p", "width": 3, "height": 2}]
    known = {"photo": photo, "caption": "look", "has_media_spoiler": True, "effect_id": "5"}
    message = parse(said(None, PRIVATE, **known, reply_markup={"inline_keyboard": []}), ME)
    assert message is not None
    assert message.omitted == ()
