"""Which messages ask the bot, by which rule, and which have the form of a command."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channels.telegram.addressing import TelegramSelf
from tests.channels.telegram.raw import (
    ALL_RULES,
    BOB,
    BOT,
    FORUM,
    GROUP,
    ME,
    PRIVATE,
    TOPIC,
    Json,
    entity,
    read,
    said,
)


def asked(update: Json, me: TelegramSelf = ME) -> tuple[bool, str]:
    message = read(update, me)
    return message.addressed, message.why


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
