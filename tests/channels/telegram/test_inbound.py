"""From raw updates to messages: who says what, where, and whether the bot is asked."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Author, InboundMessage, Quote
from channels.telegram.addressing import prose
from channels.telegram.inbound import ALLOWED_UPDATES, parse, unreadable
from tests.channels.telegram.raw import (
    ADA,
    ALL_RULES,
    BOB,
    BOT,
    FORUM,
    GROUP,
    ME,
    PRIVATE,
    TOPIC,
    Json,
    edited,
    entity,
    read,
    said,
)
from tests.kit.examples import examples


def test_a_private_message_is_its_chat_s_and_asks() -> None:
    message = read(said("hello", PRIVATE))
    assert message == InboundMessage(
        channel="telegram",
        chat_id="7",
        ext_id="7/5",
        message_id="5",
        sender=Author("7", "Ada Lovelace"),
        text="hello",
        date="2026-01-01T00:00:00+00:00",
        chat_kind="private",
        addressed=True,
        why="private chat",
        alt_id="90",
    )


def test_a_group_s_message_has_the_group_s_title_and_asks_nobody() -> None:
    message = read(said("hello"))
    assert (message.chat_id, message.chat_kind, message.chat_title) == ("-100", "group", "Ops")
    assert (message.addressed, message.why) == (False, "said to the group")


FORWARDS: list[tuple[Json, Quote]] = [
    ({"forward_origin": {"type": "user", "sender_user": BOB}}, Quote("Bob", "8")),
    ({"forward_origin": {"type": "chat", "sender_chat": GROUP}}, Quote("Ops", "-100")),
    ({"forward_origin": {"type": "channel", "chat": GROUP}}, Quote("Ops", "-100")),
    ({"forward_origin": {"type": "hidden_user", "sender_user_name": "X"}}, Quote("X")),
    ({"forward_origin": {"type": "new"}}, Quote("somebody")),
    ({"forward_from": BOB}, Quote("Bob", "8")),
    ({"forward_from_chat": GROUP}, Quote("Ops", "-100")),
    ({"forward_sender_name": "X"}, Quote("X")),
]


@pytest.mark.parametrize(("fields", "whose"), FORWARDS)
def test_forwarded_words_are_somebody_s_and_do_not_ask(fields: Json, whose: Quote) -> None:
    message = read(said("@tapeway_bot Robin ,help", **fields))
    assert message.forwarded == whose
    assert (message.addressed, message.why) == (False, "forwarded")


CREATED = {"message_id": 40, "from": ADA, "forum_topic_created": {"name": "Ops"}}


@pytest.mark.parametrize(
    ("update", "thread"),
    [
        (said("a", FORUM, **TOPIC), "40"),
        (said("a", FORUM), "1"),
        (said("a", GROUP, message_thread_id=40), None),
        (said("a", PRIVATE), None),
        (said("a", PRIVATE, message_thread_id=1, is_topic_message=True), "1"),
    ],
)
def test_e1_a_topic_is_a_thread_and_what_has_none_is_in_general(
    update: Json, thread: str | None
) -> None:
    assert read(update).thread_id == thread


def test_what_opens_a_topic_is_not_replied_to() -> None:
    assert read(said("a", FORUM, **TOPIC, reply_to_message=CREATED)).reply_to is None
    plain = {"message_id": 40, "from": BOT}
    first = read(said("a", FORUM, **TOPIC, reply_to_message=plain))
    assert (first.reply_to, first.quote, first.addressed) == (None, None, False)
    real = {"message_id": 41, "from": BOT, "text": "before"}
    reply = read(said("a", FORUM, **TOPIC, reply_to_message=real))
    assert (reply.reply_to, reply.quote) == ("41", Quote("Tapeway", "1", "before", ours=True))


def test_a_topic_may_be_followed_but_not_general_and_not_what_is_for_others() -> None:
    me = replace(ME, answers=ALL_RULES)
    other = [entity("@bob a", "@bob", "mention")]
    assert read(said("a", FORUM, **TOPIC), me).follows
    assert not read(said("a", FORUM, **TOPIC)).follows
    assert not read(said("a", FORUM), me).follows
    assert not read(said("@bob a", FORUM, **TOPIC, entities=other), me).follows


def test_a_quote_is_what_the_person_chose_or_the_whole_and_bounded() -> None:
    replied = {"message_id": 3, "from": BOB, "text": "x" * 5000}
    assert read(said(reply_to_message=replied)).quote == Quote("Bob", "8", "x" * 1000)
    chosen = read(said(reply_to_message=replied, quote={"text": "xx", "is_manual": True}))
    assert chosen.quote == Quote("Bob", "8", "xx", chosen=True)
    elsewhere = {"origin": {"type": "hidden_user", "sender_user_name": "X"}, "text": "far"}
    assert read(said(external_reply=elsewhere)).quote == Quote("X", "", "far")


def test_an_album_and_a_long_paste_are_marked_as_torn() -> None:
    assert read(said(None, media_group_id="m1", caption="a")).joins == "album:m1"
    assert read(said("x" * 2048)).joins == "rest"
    assert read(said("😀" * 1024)).joins == "rest"
    assert read(said("x" * 2047)).joins == ""
    assert read(said("x" * 4096, forward_sender_name="X")).joins == ""


def test_an_anonymous_admin_and_a_linked_channel_write_as_their_chat() -> None:
    message = read(said("a", sender_chat=GROUP, **{"from": BOT | {"id": 1087968824}}))
    assert message.sender == Author("-100", "Ops", acts_as="chat")
    raw = said("a")["message"]
    del raw["from"]
    post = {"update_id": 1, "channel_post": raw}
    assert read(post).sender == Author("-100", "Ops", acts_as="chat")


def test_a_bot_is_one_and_its_own_messages_are_not_read() -> None:
    assert read(said("a", **{"from": {**BOB, "is_bot": True}})).sender.is_bot
    assert parse(said("a", **{"from": BOT}), ME) is None
    assert parse(edited("a", **{"from": BOT}), ME) is None


def test_mentions_are_named() -> None:
    text = "@bob and you"
    found = [entity(text, "@bob", "mention"), entity(text, "you", "text_mention", user=BOB)]
    assert read(said(text, entities=found)).mentions == ("@bob", "8")


def test_a_mention_of_the_bot_itself_mentions_nobody() -> None:
    text = f"@{ME.username.upper()} and @bob and you"
    found = [
        entity(text, f"@{ME.username.upper()}", "mention"),
        entity(text, "@bob", "mention"),
        entity(text, "you", "text_mention", user=BOT),
    ]
    assert read(said(text, entities=found)).mentions == ("@bob",)


def test_a5_equal_message_ids_in_two_chats_are_two_messages() -> None:
    other = {**GROUP, "id": -200}
    assert read(said("a")).ext_id != read(said("a", other)).ext_id


def test_an_edit_reads_its_new_text_and_each_has_a_key_of_its_own() -> None:
    first, second = read(edited("b")), read(edited("c"))
    assert (first.kind, first.message_id, first.text) == ("edit", "5", "b")
    assert not first.addressed
    assert len({first.ext_id, second.ext_id, read(said("b")).ext_id}) == 3
    assert read(edited("b")).ext_id == first.ext_id


@pytest.mark.parametrize(
    ("chat", "old", "new", "change", "text"),
    [
        (GROUP, "left", "member", "added", "Bob added the bot to the group."),
        (GROUP, "member", "kicked", "removed", "Bob removed the bot from the group."),
        (PRIVATE, "kicked", "member", "added", "Bob started a chat with the bot."),
        (PRIVATE, "member", "kicked", "removed", "Bob blocked the bot."),
    ],
)
def test_coming_and_going_are_changes(
    chat: Json, old: str, new: str, change: str, text: str
) -> None:
    raw = {"chat": chat, "from": BOB, "date": 1, "old_chat_member": {"status": old}}
    update = {"update_id": 9, "my_chat_member": {**raw, "new_chat_member": {"status": new}}}
    message = read(update)
    assert (message.kind, message.change, message.text) == ("change", change, text)
    same = {"update_id": 9, "my_chat_member": {**raw, "new_chat_member": {"status": old}}}
    assert parse(same, ME) is None


def test_a_migration_names_the_new_chat() -> None:
    message = read(said(None, migrate_to_chat_id=-1007))
    assert (message.kind, message.change, message.to_chat) == ("change", "migrated", "-1007")
    raw = said(None, {**GROUP, "id": -1007}, migrate_from_chat_id=int(message.chat_id))
    other = read(raw)
    assert (other.ext_id, other.chat_id, other.to_chat) == (
        message.ext_id,
        message.chat_id,
        message.to_chat,
    )


def test_the_stop_of_a_draft_is_the_command() -> None:
    update = {"update_id": 9, "stopped_message_generation": {"chat": PRIVATE, "draft_id": 3}}
    message = read(update)
    assert (message.text, message.addressed, message.sender.id) == (",stop", True, "7")
    assert (message.chat_id, message.message_id, message.ext_id) == ("7", "", "7/stop/9")
    by_user = {"update_id": 9, "stopped_message_generation": {"user": ADA}}
    assert read(by_user).chat_id == "7"


def test_updates_of_other_kinds_concern_nobody() -> None:
    for kind in ("poll", "callback_query", "from_the_future"):
        assert parse({"update_id": 1, kind: {}}, ME) is None
    assert "message_reaction" not in ALLOWED_UPDATES


def test_prose_has_no_code_links_or_mentions_also_where_entities_overlap() -> None:
    text = "😀 a `b` c"
    found = [entity(text, "`b`", "code"), entity(text, "b", "bold"), entity(text, "`b` c", "pre")]
    assert prose(text, found) == "😀 a  "
    assert prose("see ```\nRobin", []) == "see  "


def test_a_1_what_cannot_be_read_has_one_key_however_often_it_comes() -> None:
    first, second = (unreadable({"update_id": 4, "x": "\ud800"}, "why") for _ in range(2))
    assert first.ext_id == second.ext_id == "unreadable/4"
    assert unreadable(["x"], "why").ext_id == unreadable(["x"], "why").ext_id
    assert unreadable(["x"], "why").ext_id != unreadable(["y"], "why").ext_id
    assert "ud800" in first.raw["json"]


ATOM = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
ODD = st.recursive(
    ATOM,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=5), one, max_size=3),
    max_leaves=6,
)
NAMES = (
    "message_id date chat from text caption entities caption_entities photo document sticker"
    " poll venue contact reply_to_message quote external_reply forward_origin media_group_id"
    " sender_chat message_thread_id is_topic_message migrate_to_chat_id edit_date"
)
FIELDS = st.sampled_from(NAMES.split(" "))
KINDS = st.sampled_from(ALLOWED_UPDATES)


@given(kind=KINDS, broken=st.dictionaries(FIELDS, ODD, max_size=4), chat=ODD, number=ODD)
@examples(150)
def test_whatever_comes_is_read_whole_or_raises(
    kind: str, broken: Json, chat: Any, number: Any
) -> None:
    for place in (GROUP, PRIVATE, chat):
        raw: Json = {**said("Robin", place)["message"], **broken}
        update = {"update_id": number, kind: raw}
        try:
            message = parse(update, ME)
        except Exception as cause:
            message = unreadable(update, f"{type(cause).__name__}: {cause}")
        if message is not None:
            _is_whole(message)


def _is_whole(message: InboundMessage) -> None:
    assert message.ext_id
    for value in (message.text, message.chat_id, message.message_id, message.sender.name):
        assert isinstance(value, str)
    assert message.kind == "unreadable" or int(message.chat_id) is not None
    assert InboundMessage.from_payload(message.to_payload()) == message
    orjson.dumps(message.raw)


@pytest.mark.parametrize("text", ["a" * 100_000, "a." * 50_000, "`a" * 50_000, "://" * 30_000])
def test_a_long_text_without_marks_is_read_in_a_moment(text: str) -> None:
    began = time.process_time()
    prose(text, [])
    assert time.process_time() - began < 1.0
