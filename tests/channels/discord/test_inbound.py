"""Messages parsed from raw events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.discord.identity import DiscordSelf
from channels.discord.inbound import parse, unreadable, without_code
from channels.message import InboundMessage, Quote
from tests.channels.discord.raw import (
    ADA,
    BOB,
    BOT,
    FORUM,
    GENERAL,
    HIDDEN,
    ME,
    POST,
    PRIVATE,
    SERVER,
    THREAD,
    Json,
    guild_cache,
    message,
    replying,
)
from tests.kit.examples import examples

MENTION: Any = {"mentions": [BOT]}


def read(raw: Json, me: DiscordSelf = ME, name: str = "MESSAGE_CREATE") -> InboundMessage:
    found = parse(name, raw, me, guild_cache())
    assert found is not None
    return found


def addressed(raw: Json, me: DiscordSelf = ME) -> tuple[bool, str]:
    found = read(raw, me)
    return found.addressed, found.why


def test_a_message_says_where_and_who_and_when() -> None:
    found = read(message("hello"))
    assert (found.chat_id, found.thread_id, found.message_id) == (GENERAL, None, "5000")
    assert (found.chat_kind, found.chat_title) == ("group", "#general (Ops)")
    assert (found.sender.id, found.sender.name, found.sender.is_bot) == ("7", "Ada Lovelace", False)
    assert (found.ext_id, found.date) == ("200/5000", "2026-01-01T00:00:00+00:00")
    assert (found.text, found.addressed) == ("hello", False)


def test_a_nickname_comes_before_the_name() -> None:
    assert read(message(member={"nick": "The Countess"})).sender.name == "The Countess"
    assert read(message(author=BOB)).sender.name == "bob"


@pytest.mark.parametrize(("place", "chat"), [(THREAD, GENERAL), (POST, FORUM)])
def test_a_thread_and_a_forum_post_are_threads_of_their_channel(place: str, chat: str) -> None:
    found = read(message(channel=place))
    assert (found.chat_id, found.thread_id) == (chat, place)
    assert found.chat_title in ("#general (Ops)", "#questions (Ops)")


def test_a_private_thread_is_a_chat_of_its_own() -> None:
    found = read(message("and then?", channel=HIDDEN))
    assert (found.chat_id, found.thread_id, found.parent_id) == (HIDDEN, None, GENERAL)
    assert (found.chat_title, found.chat_kind, found.follows) == ("#layoffs (Ops)", "group", True)
    assert read(message()).parent_id == read(message(channel=THREAD)).parent_id == ""


def test_the_name_of_a_private_thread_is_known_inside_it_only() -> None:
    assert read(message(f"see <#{HIDDEN}>")).text == f"see <#{HIDDEN}>"
    assert read(message(f"see <#{HIDDEN}>", channel=THREAD)).text == f"see <#{HIDDEN}>"
    assert read(message(f"see <#{HIDDEN}>", channel=HIDDEN)).text == "see #layoffs"


@pytest.mark.parametrize("place", [GENERAL, THREAD, HIDDEN])
def test_every_message_of_a_server_names_it(place: str) -> None:
    assert read(message(channel=place)).server_id == SERVER
    assert read({**message(channel=place), "guild_id": SERVER}, name="MESSAGE_DELETE").server_id
    assert read(message(channel=PRIVATE)).server_id == ""


def test_a_webhook_writes_as_somebody_else_and_a_person_or_bot_as_itself() -> None:
    hook = message(author={"id": "55", "username": "Ada Lovelace"}, webhook_id="55")
    assert read(hook).sender.acts_as == "other"
    assert read(message()).sender.acts_as == "person"


def test_a5_equal_message_ids_in_different_channels_are_different_messages() -> None:
    assert read(message()).ext_id != read(message(channel=THREAD)).ext_id


def test_a_private_message_asks_unless_that_is_switched_off() -> None:
    found = read(message(channel=PRIVATE))
    assert (found.chat_kind, found.chat_title) == ("private", "")
    assert (found.addressed, found.why) == (True, "private chat")
    silent = replace(ME, answers=frozenset({"mention"}))
    assert addressed(message(channel=PRIVATE), silent)[0] is False


@pytest.mark.parametrize("text", ["<@1> hi", "hi <@!1>", "(<@1>)", "hi<@1>"])
def test_b2_a_mention_addresses_the_bot(text: str) -> None:
    assert addressed(message(text, **MENTION)) == (True, "mention")


def test_b2_a_mention_of_the_bots_own_role_addresses_it_and_other_roles_do_not() -> None:
    assert addressed(message("<@&101> hi", mention_roles=["101"])) == (True, "mention")
    for role in ("102", "103", "100"):
        assert addressed(message(f"<@&{role}> hi", mention_roles=[role]))[0] is False


@pytest.mark.parametrize("text", ["Tapeway, hi", "hey robin!", "what does TAPEWAY say?"])
def test_b2_a_name_addresses_the_bot(text: str) -> None:
    assert addressed(message(text)) == (True, "name")


def test_b2_a_reply_to_the_bot_addresses_it_and_one_to_others_does_not() -> None:
    assert addressed(replying(message(author=BOT, id="4000"))) == (True, "reply")
    assert addressed(replying(message(author=BOB, id="4000")))[0] is False


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (message("<@1> hi", **MENTION), "mention"),
        (message("Tapeway?"), "name"),
        (replying(message(author=BOT, id="4000")), "reply"),
    ],
)
def test_b2_each_rule_can_be_switched_off(raw: Json, rule: str) -> None:
    assert addressed(raw, replace(ME, answers=ME.answers - {rule}))[0] is False


@pytest.mark.parametrize(
    "raw",
    [
        message("@everyone hi", mention_everyone=True),
        message("@here hi", mention_everyone=True),
        message("<@8> hi", mentions=[BOB]),
        message("`<@1>` is how"),
        message("```\n<@1> Tapeway\n```"),
        message("https://example.org/<@1>/about", **MENTION),
        message("https://example.org/Tapeway and https://tapeway.example.org/"),
        message("the log says `Tapeway started`"),
        message(r"\<@1> is how one writes it"),
        message("<:tapeway:123456> nice"),
        message("<@8> hi", mentions=[{**BOB, "username": "tapeway"}]),
    ],
)
def test_b3_mentions_of_others_and_names_in_code_or_links_do_not_address_the_bot(raw: Json) -> None:
    assert addressed(raw)[0] is False


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (",help", ",help"),
        ("/help", ",help"),
        ("<@1> ,help", ",help"),
        ("<@!1>:\u00a0/Stop all", ",stop all"),
        ("<@&101> ,stop", ",stop"),
        ("<@&102> ,stop", ""),
        ("<@8> ,help", ""),
        ("> ,help", ""),
        ("`,help`", ""),
        (", help", ""),
        (",np <@8>", ",np @bob"),
    ],
)
def test_what_has_the_form_of_a_command_asks_as_a_sentence_does(content: str, line: str) -> None:
    raw = message(content, mentions=[{"id": "1"}, BOB] if "<@" in content else [])
    assert read(raw).command == line
    assert addressed(raw)[0] is any(mark in content for mark in ("<@1>", "<@!1>", "<@&101>"))


def test_b2_a_follow_up_in_a_thread_may_address_the_bot_unless_it_is_for_somebody_else() -> None:
    assert read(message("and then?", channel=THREAD)).follows
    assert not read(message("and then?")).follows
    assert not read(message("<@8> and you?", channel=THREAD, mentions=[BOB])).follows
    assert not read(message("@everyone", channel=THREAD, mention_everyone=True)).follows
    to_bob = replying(message(author=BOB, id="4000"), "you are right", channel=THREAD)
    assert not read(to_bob).follows
    quiet = replace(ME, answers=ME.answers - {"thread"})
    assert not read(message("and then?", channel=THREAD), quiet).follows


def test_ids_in_a_text_become_names() -> None:
    text = "<@1> <@7> <@!8> <@&102> <#200> <:wave:9> <a:dance:9> <@99> <t:1:R> 1 < 2"
    found = read(message(text, mentions=[BOT, ADA, BOB]))
    assert found.text == (
        "@Tapeway @Ada Lovelace @bob @cooks #general :wave: :dance: <@99> <t:1:R> 1 < 2"
    )
    assert found.mentions == ("@7", "@8")


def test_a_reply_quotes_what_it_answers() -> None:
    found = read(replying(message("the plum tree", author=BOB, id="4000"), "dead"))
    assert found.reply_to == "4000"
    assert found.quote == Quote("bob", "8", "the plum tree")
    ours = read(replying(message("yes", author=BOT, id="4000")))
    assert ours.quote is not None
    assert ours.quote.ours


def test_a_reply_to_a_deleted_message_is_kept() -> None:
    raw = replying(message(id="4000"))
    found = read({**raw, "referenced_message": None})
    assert (found.reply_to, found.quote) == ("4000", None)


FILE = {
    "filename": "a.png",
    "url": "https://cdn.discordapp.com/attachments/1/2/a.png",
    "size": 12,
    "content_type": "image/png",
    "width": 3,
    "height": 4,
}


def test_e8_attachments_and_stickers_are_named() -> None:
    raw = message(
        "",
        attachments=[FILE, {"filename": "b.bin", "url": "u", "size": 5}],
        sticker_items=[{"id": "1", "name": "wave"}],
    )
    image, file, sticker = read(raw).media
    assert (image.kind, image.mime, image.size, image.width) == ("image", "image/png", 12, 3)
    assert (file.kind, file.name, file.size) == ("file", "b.bin", 5)
    assert (sticker.label, sticker.detail) == ("sticker", "wave")


def test_e8_a_voice_message_is_labeled_as_one() -> None:
    sound = {"filename": "v.ogg", "content_type": "audio/ogg; codecs=opus", "duration_secs": 2.5}
    (voice,) = read(message("", flags=1 << 13, attachments=[sound])).media
    assert (voice.kind, voice.label, voice.seconds, voice.mime) == (
        "audio",
        "voice message",
        2,
        "audio/ogg",
    )
    assert read(message("", attachments=[sound])).media[0].label == "audio file"


def test_cards_and_components_of_bots_are_text() -> None:
    robot = {"id": "9", "username": "ci", "bot": True}
    card = {"title": "Build", "description": "failed", "fields": [{"name": "at", "value": "3"}]}
    found = read(message("", author=robot, embeds=[card]))
    assert (found.text, found.sender.is_bot) == ("Build\nfailed\nat: 3", True)
    inner = [{"type": 17, "components": [{"type": 10, "content": "deep"}]}]
    assert read(message("", author=robot, components=inner)).text == "deep"


def test_b5_webhooks_are_bots_and_our_own_messages_are_ignored() -> None:
    assert read(message(webhook_id="55")).sender.is_bot
    assert parse("MESSAGE_CREATE", message(author=BOT), ME, guild_cache()) is None
    own = message(author={"id": "55", "username": "x"}, webhook_id="55", application_id="1")
    assert parse("MESSAGE_CREATE", own, ME, guild_cache()) is None


def test_a4_an_edit_has_its_messages_id_and_new_text() -> None:
    stamp = "2026-01-01T00:01:00+00:00"
    raw = message("now so", edited_timestamp=stamp)
    found = read(raw, name="MESSAGE_UPDATE")
    assert (found.kind, found.message_id, found.text) == ("edit", "5000", "now so")
    assert found.ext_id.startswith("200/5000/edit/")
    other = read({**raw, "content": "or so"}, name="MESSAGE_UPDATE")
    assert other.ext_id != found.ext_id


@pytest.mark.parametrize(
    "raw",
    [
        message("https://example.org", embeds=[{"type": "link"}]),
        message("https://example.org", pinned=True),
        {"id": "5000", "channel_id": GENERAL, "guild_id": SERVER, "embeds": []},
        message("ours", author=BOT, edited_timestamp="2026-01-01T00:01:00+00:00"),
    ],
)
def test_an_update_without_a_changed_text_is_not_an_edit(raw: Json) -> None:
    assert parse("MESSAGE_UPDATE", raw, ME, guild_cache()) is None


def test_other_events_have_no_message() -> None:
    assert parse("TYPING_START", {"channel_id": GENERAL}, ME, guild_cache()) is None


def test_an_unreadable_event_is_kept() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    found = unreadable("MESSAGE_CREATE", {"content": deep}, "too deep")
    assert (found.kind, found.why) == ("unreadable", "too deep")
    same = unreadable("MESSAGE_CREATE", {"a": 1}, "x")
    assert same.ext_id == unreadable("MESSAGE_CREATE", {"a": 1}, "y").ext_id != found.ext_id


@examples(100)
@given(st.text(alphabet="`<@>1!& https://a.\n", max_size=60))
def test_the_text_without_code_is_a_part_of_the_text(text: str) -> None:
    rest = iter(text)
    assert all(char == " " or char in rest for char in without_code(text))


def test_removing_code_from_a_long_text_is_quick() -> None:
    assert without_code("`" * 50_000 + "a://" * 20_000)


def test_the_cache_knows_our_role_and_forgets_deleted_channels() -> None:
    known = guild_cache()
    assert known.is_own_role("101", SERVER)
    known.apply("CHANNEL_DELETE", {"id": GENERAL})
    assert GENERAL not in known.channels
    assert THREAD not in known.channels
    known.apply("GUILD_DELETE", {"id": SERVER, "unavailable": True})
    assert SERVER in known.guilds
    known.apply("GUILD_DELETE", {"id": SERVER})
    assert list(known.channels) == [PRIVATE]


def test_a4_a_deletion_has_the_messages_id() -> None:
    raw = message("plums")
    gone: Json = {key: raw[key] for key in ("id", "channel_id", "guild_id") if key in raw}
    found = read(gone, name="MESSAGE_DELETE")
    assert (found.kind, found.message_id, found.text) == ("delete", raw["id"], "")
    assert found.ext_id == f"{read(raw).ext_id}/deleted"
