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
from channels.telegram.addressing import TelegramSelf, prose
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
    Json,
    edited,
    entity,
    said,
)
from tests.kit.examples import examples


def read(update: Json, me: TelegramSelf = ME) -> InboundMessage:
    message = parse(update, me)
    assert message is not None
    return message


def asked(update: Json, me: TelegramSelf = ME) -> tuple[bool, str]:
    message = read(update, me)
    return message.addressed, message.why


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


MARKED = "😀 @Tapeway_Bot hi"
MARK = entity(MARKED, "@Tapeway_Bot", "mention")
MENTION = entity("@tapeway_bot", "@tapeway_bot", "mention")

ADDRESSED: list[tuple[str, Json, bool, str]] = [
    ("mention", said(MARKED, entities=[MARK]), True, "mention"),
    ("caption", said(None, caption="@tapeway_bot", caption_entities=[MENTION]), True, "mention"),
    ("a mention of a server without entities", said("hi @tapeway_bot!"), True, "mention"),
    ("a longer name", said("hi @tapeway_bot2"), False, "said to the group"),
    ("an address", said("write to x@tapeway_bot"), False, "said to the group"),
    ("code of a server without entities", said("`@tapeway_bot`"), False, "said to the group"),
    (
        "code with a mention",
        said("run @tapeway_bot", entities=[entity("run @tapeway_bot", "@tapeway_bot", "code")]),
        False,
        "said to the group",
    ),
    (
        "a user that is us",
        said("you there", entities=[entity("you there", "you", "text_mention", user=BOT)]),
        True,
        "mention",
    ),
    (
        "a user that is not",
        said("you there", entities=[entity("you there", "you", "text_mention", user=BOB)]),
        False,
        "said to the group",
    ),
    (
        "a mention of somebody else",
        said("@all look", entities=[entity("@all look", "@all", "mention")]),
        False,
        "said to the group",
    ),
    ("a reply to the bot", said(reply_to_message={"message_id": 3, "from": BOT}), True, "reply"),
    (
        "a reply to somebody",
        said(reply_to_message={"message_id": 3, "from": BOB}),
        False,
        "said to the group",
    ),
    ("a name", said("what do you think, robin?"), True, "name"),
    ("half a name", said("Robinson was here"), False, "said to the group"),
    ("a name amid Chinese", said("问Robin吧"), True, "name"),
    ("a name in a link", said("see https://x.org/robin"), False, "said to the group"),
    (
        "a name in a marked link",
        said("see robin.org", entities=[entity("see robin.org", "robin.org", "url")]),
        False,
        "said to the group",
    ),
    ("a name in code", said("`robin`"), False, "said to the group"),
    ("a command", said("/help"), False, "said to the group"),
    ("a command to us", said("/whatever@TAPEWAY_bot now"), True, "mention"),
    ("a command to another", said("/help@other_bot"), False, "a command for another bot"),
    ("a command of another", said("/weather"), False, "said to the group"),
    ("a path", said("/etc/hosts"), False, "said to the group"),
    ("a comma", said(",help"), False, "said to the group"),
    ("a comma and a blank", said(", and then"), False, "said to the group"),
]  # fmt: skip


@pytest.mark.parametrize(("_name", "update", "wanted", "why"), ADDRESSED)
def test_b2_b3_in_a_group_the_bot_is_asked_by_rule(
    _name: str, update: Json, wanted: bool, why: str
) -> None:
    assert asked(update) == (wanted, why)


@pytest.mark.parametrize(
    ("rule", "update"),
    [
        ("private", said("hi", PRIVATE)),
        ("mention", said("@tapeway_bot hi")),
        ("reply", said(reply_to_message={"message_id": 3, "from": BOT})),
        ("name", said("Robin?")),
    ],
)
def test_b2_each_rule_can_be_switched_off(rule: str, update: Json) -> None:
    assert asked(update)[0]
    assert not asked(update, replace(ME, answers=ALL_RULES - {rule}))[0]


def test_a_bot_that_does_not_know_its_name_is_still_mentioned_by_its_id() -> None:
    mention = said("you", entities=[entity("you", "you", "text_mention", user=BOT)])
    assert asked(mention, replace(ME, username="")) == (True, "mention")
    assert not asked(said("@ hi"), replace(ME, username=""))[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("/help", ",help"),
        ("/Stop@tapeway_bot all", ",stop all"),
        ("/start payload", ",start payload"),
        ("/start 4F7K-2Q", ",start 4F7K-2Q"),
        ("/open@tapeway_bot", ",open"),
        ("/forget", ",forget me"),
        ("/forget@tapeway_bot me", ",forget me"),
        ("/tape.search\u00a0kettle", ",tape.search\u00a0kettle"),
        (",help", ",help"),
        ("@tapeway_bot /help", ",help"),
        ("@tapeway_bot: ,stop all", ",stop all"),
        ("@other_bot /help", ""),
        ("@tapeway_bot,help me", ""),
        ("/help@other_bot", ""),
        ("/etc/hosts", ""),
        ("/tmp is full", ",tmp is full"),
        (",lol", ",lol"),
        ("say /help", ""),
    ],
)
@pytest.mark.parametrize("chat", [PRIVATE, GROUP])
def test_what_has_the_form_of_a_command_stays_as_it_was_written(
    text: str, line: str, chat: Json
) -> None:
    message = read(said(text, chat))
    assert (message.text, message.command) == (text, line)


def test_a_mention_by_name_may_stand_before_a_command() -> None:
    mention = entity("Robin ,stop", "Robin", "text_mention", user=BOT)
    assert read(said("Robin ,stop", GROUP, entities=[mention])).command == ",stop"
    others = entity("Robin ,stop", "Robin", "text_mention", user=BOB)
    assert read(said("Robin ,stop", GROUP, entities=[others])).command == ""


@pytest.mark.parametrize("kind", ["code", "pre", "blockquote", "expandable_blockquote"])
def test_a_command_that_is_shown_in_code_or_quoted_is_none(kind: str) -> None:
    shown = entity(",reset is how", ",reset", kind)
    assert read(said(",reset is how", PRIVATE, entities=[shown])).command == ""
    later = entity(",handoff the plum", "plum", kind)
    assert read(said(",handoff the plum", PRIVATE, entities=[later])).command


def test_a_command_of_another_bot_follows_nothing() -> None:
    me = replace(ME, answers=ALL_RULES)
    assert read(said("/weather", FORUM, **TOPIC), me).follows
    assert not read(said("/weather@other_bot", FORUM, **TOPIC), me).follows


@pytest.mark.parametrize("text", ["/reset", "/stop@tapeway_bot"])
@pytest.mark.parametrize("chat", [PRIVATE, GROUP])
def test_g2_a_forwarded_command_is_not_obeyed(text: str, chat: Json) -> None:
    message = read(said(text, chat, forward_origin={"type": "user", "sender_user": BOB}))
    assert (message.text, message.command) == (text, "")


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


TOPIC = {"message_thread_id": 40, "is_topic_message": True}
CREATED = {"message_id": 40, "from": ADA, "forum_topic_created": {"name": "Ops"}}


@pytest.mark.parametrize(
    ("update", "thread"),
    [
        (said("a", FORUM, **TOPIC), "40"),
        (said("a", FORUM), "1"),
        (said("a", GROUP, message_thread_id=40), None),
        (said("a", PRIVATE), None),
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
