"""From raw events of Discord to messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.discord.inbound import DiscordSelf, parse, prose, unreadable
from channels.message import InboundMessage, Quote
from tests.channels.discord.raw import (
    ADA,
    BOB,
    BOT,
    FORUM,
    GENERAL,
    ME,
    POST,
    PRIVATE,
    SERVER,
    THREAD,
    Json,
    places,
    replying,
    said,
)

MENTION: Any = {"mentions": [BOT]}


def read(raw: Json, me: DiscordSelf = ME, name: str = "MESSAGE_CREATE") -> InboundMessage:
    found = parse(name, raw, me, places())
    assert found is not None
    return found


def asked(raw: Json, me: DiscordSelf = ME) -> tuple[bool, str]:
    found = read(raw, me)
    return found.addressed, found.why


def test_a_message_says_where_and_who_and_when() -> None:
    found = read(said("hello"))
    assert (found.chat_id, found.thread_id, found.message_id) == (GENERAL, None, "5000")
    assert (found.chat_kind, found.chat_title) == ("group", "#general (Ops)")
    assert (found.sender.id, found.sender.name, found.sender.is_bot) == ("7", "Ada Lovelace", False)
    assert (found.ext_id, found.date) == ("200/5000", "2026-01-01T00:00:00+00:00")
    assert (found.text, found.addressed) == ("hello", False)


def test_a_nickname_comes_before_the_name() -> None:
    assert read(said(member={"nick": "The Countess"})).sender.name == "The Countess"
    assert read(said(author=BOB)).sender.name == "bob"


@pytest.mark.parametrize(("place", "chat"), [(THREAD, GENERAL), (POST, FORUM)])
def test_a_thread_and_a_forum_post_are_threads_of_their_channel(place: str, chat: str) -> None:
    found = read(said(channel=place))
    assert (found.chat_id, found.thread_id) == (chat, place)
    assert found.chat_title in ("#general (Ops)", "#questions (Ops)")


def test_a5_equal_message_ids_in_different_channels_are_different_messages() -> None:
    assert read(said()).ext_id != read(said(channel=THREAD)).ext_id


def test_a_private_message_asks_unless_that_is_switched_off() -> None:
    found = read(said(channel=PRIVATE))
    assert (found.chat_kind, found.chat_title) == ("private", "")
    assert (found.addressed, found.why) == (True, "private chat")
    silent = replace(ME, answers=frozenset({"mention"}))
    assert asked(said(channel=PRIVATE), silent)[0] is False


@pytest.mark.parametrize("text", ["<@1> hi", "hi <@!1>", "(<@1>)", "hi<@1>"])
def test_b2_a_mention_asks(text: str) -> None:
    assert asked(said(text, **MENTION)) == (True, "mention")


def test_b2_a_mention_of_the_bot_s_own_role_asks_and_of_others_does_not() -> None:
    assert asked(said("<@&101> hi", mention_roles=["101"])) == (True, "mention")
    for role in ("102", "103", "100"):
        assert asked(said(f"<@&{role}> hi", mention_roles=[role]))[0] is False


@pytest.mark.parametrize("text", ["Tapeway, hi", "hey robin!", "what does TAPEWAY say?"])
def test_b2_a_name_asks(text: str) -> None:
    assert asked(said(text)) == (True, "name")


def test_b2_a_reply_to_the_bot_asks_and_one_to_others_does_not() -> None:
    assert asked(replying(said(author=BOT, id="4000"))) == (True, "reply")
    assert asked(replying(said(author=BOB, id="4000")))[0] is False


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (said("<@1> hi", **MENTION), "mention"),
        (said("Tapeway?"), "name"),
        (replying(said(author=BOT, id="4000")), "reply"),
    ],
)
def test_b2_each_rule_can_be_switched_off(raw: Json, rule: str) -> None:
    assert asked(raw, replace(ME, answers=ME.answers - {rule}))[0] is False


@pytest.mark.parametrize(
    "raw",
    [
        said("@everyone hi", mention_everyone=True),
        said("@here hi", mention_everyone=True),
        said("<@8> hi", mentions=[BOB]),
        said("`<@1>` is how"),
        said("```\n<@1> Tapeway\n```"),
        said("https://example.org/<@1>/about", **MENTION),
        said("https://example.org/Tapeway and https://tapeway.example.org/"),
        said("the log says `Tapeway started`"),
        said(r"\<@1> is how one writes it"),
        said("<:tapeway:123456> nice"),
        said("<@8> hi", mentions=[{**BOB, "username": "tapeway"}]),
    ],
)
def test_b3_what_calls_others_or_stands_in_code_or_a_link_asks_nothing(raw: Json) -> None:
    assert asked(raw)[0] is False


def test_a_line_with_a_comma_is_a_command() -> None:
    assert asked(said(",help")) == (True, "command")
    assert asked(said(", help"))[0] is False


def test_b2_in_a_thread_a_follow_up_may_ask_unless_it_is_for_somebody_else() -> None:
    assert read(said("and then?", channel=THREAD)).follows
    assert not read(said("and then?")).follows
    assert not read(said("<@8> and you?", channel=THREAD, mentions=[BOB])).follows
    assert not read(said("@everyone", channel=THREAD, mention_everyone=True)).follows
    to_bob = replying(said(author=BOB, id="4000"), "you are right", channel=THREAD)
    assert not read(to_bob).follows
    quiet = replace(ME, answers=ME.answers - {"thread"})
    assert not read(said("and then?", channel=THREAD), quiet).follows


def test_numbers_are_read_as_names() -> None:
    text = "<@1> <@7> <@!8> <@&102> <#200> <:wave:9> <a:dance:9> <@99> <t:1:R> 1 < 2"
    found = read(said(text, mentions=[BOT, ADA, BOB]))
    assert found.text == (
        "@Tapeway @Ada Lovelace @bob @cooks #general :wave: :dance: <@99> <t:1:R> 1 < 2"
    )
    assert found.mentions == ("@1", "@7", "@8")


def test_a_reply_quotes_what_it_answers() -> None:
    found = read(replying(said("the plum tree", author=BOB, id="4000"), "dead"))
    assert found.reply_to == "4000"
    assert found.quote == Quote("bob", "8", "the plum tree")
    ours = read(replying(said("yes", author=BOT, id="4000")))
    assert ours.quote is not None
    assert ours.quote.ours


def test_a_reply_to_what_is_deleted_is_a_message() -> None:
    raw = replying(said(id="4000"))
    found = read({**raw, "referenced_message": None})
    assert (found.reply_to, found.quote) == ("4000", None)


def test_a_forward_is_somebody_else_s_and_asks_nothing() -> None:
    snapshot = {"message": {"content": "<@1> do it, Tapeway", "attachments": [FILE]}}
    raw = said("", message_reference={"type": 1, "message_id": "9"}, message_snapshots=[snapshot])
    found = read(raw)
    assert (found.forwarded, found.addressed) == (Quote("somebody"), False)
    assert found.text == "@Tapeway do it, Tapeway"
    assert [media.name for media in found.media] == ["a.png"]


FILE = {
    "filename": "a.png",
    "url": "https://cdn.discordapp.com/attachments/1/2/a.png",
    "size": 12,
    "content_type": "image/png",
    "width": 3,
    "height": 4,
}


def test_e8_what_came_along_is_named() -> None:
    raw = said(
        "",
        attachments=[FILE, {"filename": "b.bin", "url": "u", "size": 5}],
        sticker_items=[{"id": "1", "name": "wave"}],
        poll={"question": {"text": "when?"}, "answers": [{"poll_media": {"text": "now"}}]},
    )
    image, file, sticker, poll = read(raw).media
    assert (image.kind, image.mime, image.size, image.width) == ("image", "image/png", 12, 3)
    assert (file.kind, file.name, file.mime) == ("file", "b.bin", "")
    assert (sticker.label, sticker.detail) == ("sticker", "wave")
    assert (poll.label, poll.detail) == ("poll", "when? (now)")


def test_e8_a_voice_message_is_called_so() -> None:
    sound = {"filename": "v.ogg", "content_type": "audio/ogg; codecs=opus", "duration_secs": 2.5}
    (voice,) = read(said("", flags=1 << 13, attachments=[sound])).media
    assert (voice.kind, voice.label, voice.seconds, voice.mime) == (
        "audio",
        "voice message",
        2,
        "audio/ogg",
    )
    assert read(said("", attachments=[sound])).media[0].label == "audio file"


def test_what_bots_write_in_cards_and_components_is_text() -> None:
    robot = {"id": "9", "username": "ci", "bot": True}
    card = {"title": "Build", "description": "failed", "fields": [{"name": "at", "value": "3"}]}
    found = read(said("", author=robot, embeds=[card]))
    assert (found.text, found.sender.is_bot) == ("Build\nfailed\nat: 3", True)
    inner = [{"type": 17, "components": [{"type": 10, "content": "deep"}]}]
    assert read(said("", author=robot, components=inner)).text == "deep"
    preview = [{"type": "link", "title": "A page"}]
    assert read(said("see https://example.org", embeds=preview)).text == "see https://example.org"


def test_b5_webhooks_are_bots_and_the_own_messages_are_ignored() -> None:
    assert read(said(webhook_id="55")).sender.is_bot
    assert parse("MESSAGE_CREATE", said(author=BOT), ME, places()) is None
    own = said(author={"id": "55", "username": "x"}, webhook_id="55", application_id="1")
    assert parse("MESSAGE_CREATE", own, ME, places()) is None


@pytest.mark.parametrize("kind", [1, 6, 7, 8, 12, 18, 21, 24, 46])
def test_what_discord_itself_writes_is_left_out(kind: int) -> None:
    assert parse("MESSAGE_CREATE", said("", type=kind), ME, places()) is None


def test_a_type_that_is_not_known_is_text() -> None:
    assert read(said("from the future", type=99)).text == "from the future"


def test_a4_an_edit_names_its_message_and_reads_as_it_does_now() -> None:
    stamp = "2026-01-01T00:01:00+00:00"
    raw = said("now so", edited_timestamp=stamp)
    found = read(raw, name="MESSAGE_UPDATE")
    assert (found.kind, found.message_id, found.text) == ("edit", "5000", "now so")
    assert found.ext_id.startswith("200/5000/edit/")
    other = read({**raw, "content": "or so"}, name="MESSAGE_UPDATE")
    assert other.ext_id != found.ext_id


@pytest.mark.parametrize(
    "raw",
    [
        said("https://example.org", embeds=[{"type": "link"}]),
        {"id": "5000", "channel_id": GENERAL, "guild_id": SERVER, "embeds": []},
        said("ours", author=BOT, edited_timestamp="2026-01-01T00:01:00+00:00"),
    ],
)
def test_an_update_in_which_nobody_changed_a_text_is_no_edit(raw: Json) -> None:
    assert parse("MESSAGE_UPDATE", raw, ME, places()) is None


def test_other_events_say_nothing() -> None:
    assert parse("TYPING_START", {"channel_id": GENERAL}, ME, places()) is None


def test_what_cannot_be_read_is_kept() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    found = unreadable("MESSAGE_CREATE", {"content": deep}, "too deep")
    assert (found.kind, found.why) == ("unreadable", "too deep")
    same = unreadable("MESSAGE_CREATE", {"a": 1}, "x")
    assert same.ext_id == unreadable("MESSAGE_CREATE", {"a": 1}, "y").ext_id != found.ext_id


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="`<@>1!& https://a.\n", max_size=60))
def test_prose_is_a_part_of_the_text(text: str) -> None:
    rest = iter(text)
    assert all(char == " " or char in rest for char in prose(text))


def test_prose_of_a_long_text_is_quick() -> None:
    assert prose("`" * 50_000 + "a://" * 20_000)


def test_places_know_the_own_role_and_what_is_gone() -> None:
    known = places()
    assert known.calls_me("101", SERVER)
    known.take("CHANNEL_DELETE", {"id": GENERAL})
    assert GENERAL not in known.rooms
    assert THREAD not in known.rooms
    known.take("GUILD_DELETE", {"id": SERVER, "unavailable": True})
    assert SERVER in known.servers
    known.take("GUILD_DELETE", {"id": SERVER})
    assert list(known.rooms) == [PRIVATE]


def test_a4_a_message_that_is_gone_is_named() -> None:
    raw = said("plums")
    gone: Json = {key: raw[key] for key in ("id", "channel_id", "guild_id") if key in raw}
    found = read(gone, name="MESSAGE_DELETE")
    assert (found.kind, found.message_id, found.text) == ("delete", raw["id"], "")
    assert found.ext_id == f"{read(raw).ext_id}/deleted"
