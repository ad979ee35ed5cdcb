"""Parsing of Slack's events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import InboundMessage
from channels.slack.inbound import edit_of, fill_names, of_event, parse, unreadable
from channels.slack.settings import RULES
from tests.channels.slack.events import event, me


async def read(text: str = "hello", *rules: str, **more: Any) -> InboundMessage:
    found = of_event(event(text, **more), me(*rules))
    assert found is not None
    return found


async def test_author_text_place_and_time_of_a_message() -> None:
    message = await read(client_msg_id="m-1", thread_ts="1600000000.000001")
    assert (message.channel, message.chat_id, message.chat_kind) == ("slack", "C1", "group")
    assert (message.ext_id, message.alt_id) == ("C1/1700000000.000100", "m-1")
    assert (message.message_id, message.thread_id) == ("1700000000.000100", "1600000000.000001")
    assert (message.sender.id, message.sender.name, message.sender.is_bot) == ("U1", "Ada", False)
    assert message.date == "2023-11-14T22:13:20.000100+00:00"
    assert not message.addressed


async def test_names_that_became_known_later_are_filled_in() -> None:
    app = me()
    message = of_event(event("hi <@U7>, see <#C9|> and <@U8>: U7", user="U7"), app)
    joined = {"type": "member_joined_channel", "user": "UBOT", "inviter": "U7", "channel": "C1"}
    change = of_event({**joined, "event_ts": "1700000000.000500"}, app)
    assert message is not None
    assert change is not None
    assert fill_names(message, app.workspace.names) is message
    for some_id, name in (("U7", "Bob"), ("C9", "weeds"), ("C1", "garden")):
        app.workspace.names.learn(some_id, name)
    filled = fill_names(message, app.workspace.names)
    assert (filled.sender.name, filled.chat_title) == ("Bob", "garden")
    assert filled.text == "hi @Bob, see #weeds and @U8: U7"
    assert fill_names(change, app.workspace.names).text == "Bob added the app to the channel."


async def test_both_events_of_a_mention_have_the_same_key() -> None:
    one = await read("<@UBOT> hi")
    twin = event("<@UBOT> hi", type="app_mention")
    del twin["channel_type"]
    other = of_event(twin, me())
    assert other is not None
    assert (other.ext_id, other.addressed, other.chat_kind) == (one.ext_id, True, "group")
    assert one.addressed


@pytest.mark.parametrize(
    ("text", "more", "why"),
    [
        ("<@UBOT> hello", {}, "mention"),
        ("hello <@UBOT|tapeway>", {}, "mention"),
        ("robin, hello", {}, "name"),
        ("<@UBOT>: ,stop", {}, "mention"),
        ("hi", {"channel": "D1", "channel_type": "im"}, "private chat"),
        ("hi", {"thread_ts": "1.1", "parent_user_id": "UBOT"}, "reply"),
    ],
)
async def test_b2_messages_that_are_addressed_to_the_app(
    text: str, more: dict[str, Any], why: str
) -> None:
    message = await read(text, **more)
    assert (message.addressed, message.why) == (True, why)
    if why != "private chat":
        rest = [rule for rule in RULES if rule != why]
        assert not (await read(text, *rest, **more)).addressed


@pytest.mark.parametrize(
    "text",
    [
        "<@U2> hello",
        "<!everyone> lunch",
        "`Robin` and ```Robin```",
        "<https://robin.example.org/Robin>",
        "&lt;@UBOT&gt;",
        "the robins are back",
        "<@U2> ,stop",
        ",help",
    ],
)
async def test_b3_messages_that_are_not_addressed_to_the_app(text: str) -> None:
    assert not (await read(text)).addressed


async def test_a_command_may_follow_a_mention_of_the_app() -> None:
    said = await read("<@UBOT> ,stop all")
    assert (said.text, said.command) == ("@UBOT ,stop all", ",stop all")
    assert (await read("<@UBOT>\u00a0/stop")).command == ",stop"
    assert (await read(",web.fetch <https://example.org>")).command == (
        ",web.fetch https://example.org"
    )
    for text in ("<@UBOT> please ,stop", "<@U2> ,stop", "&gt; ,stop", "`,stop`", ", stop"):
        assert not (await read(text)).command


async def test_a_reply_in_a_thread_may_be_for_the_app() -> None:
    assert (await read(thread_ts="1.1")).follows
    assert not (await read(thread_ts="1700000000.000100")).follows
    assert not (await read("<@U2> and you?", thread_ts="1.1")).follows
    assert not (await read("hello", "mention", thread_ts="1.1")).follows


async def test_b5_the_app_s_own_messages_are_ignored() -> None:
    assert of_event(event(user="UBOT"), me()) is None
    assert of_event(event(user="", bot_id="BBOT"), me()) is None
    assert of_event(event(subtype="message_changed", message=event(user="UBOT")), me()) is None


async def test_bots_are_marked_as_bots() -> None:
    classic = await read(user=None, bot_id="B2", subtype="bot_message", username="CI")
    assert (classic.sender.id, classic.sender.name, classic.sender.is_bot) == ("B2", "CI", True)
    modern = await read(user="U9", bot_id="B2", bot_profile={"name": "Robot"})
    assert (modern.sender.id, modern.sender.name, modern.sender.is_bot) == ("U9", "Robot", True)


@pytest.mark.parametrize("subtype", ["channel_join", "channel_topic", "x_y"])
@pytest.mark.parametrize(
    "place",
    [
        {},
        {"channel": "D1", "channel_type": "im"},
        {"thread_ts": "1.1", "parent_user_id": "UBOT"},
        {"thread_ts": "1.1"},
    ],
)
async def test_a_notice_asks_nothing_wherever_it_stands_and_is_recorded_by_name(
    subtype: str, place: dict[str, Any]
) -> None:
    notice = await read("<@UBOT> robin, <@U1> did it", subtype=subtype, **place)
    assert (notice.kind, notice.change) == ("change", subtype)
    assert (notice.addressed, notice.follows) == (False, False)
    assert notice.text == "@UBOT robin, @Ada did it"
    assert notice.ext_id == f"{notice.chat_id}/{subtype}/1700000000.000100"
    assert edit_of(event(subtype=subtype, edited={"ts": "1.1"}), me()) is None


@pytest.mark.parametrize("place", [{"channel": "D1", "channel_type": "im"}, {"thread_ts": "1.1"}])
async def test_a_message_that_says_nothing_is_no_question(place: dict[str, Any]) -> None:
    empty = await read(" ", blocks=[{"type": "divider"}], parent_user_id="UBOT", **place)
    assert (empty.kind, empty.change, empty.addressed) == ("change", "message", False)
    shared = await read("", subtype="file_share", files=[], **place)
    assert (shared.kind, shared.change) == ("change", "file_share")


async def test_the_notice_that_a_thread_has_a_reply_is_not_news() -> None:
    assert of_event(event(subtype="message_replied", message=event()), me()) is None


async def test_a4_an_edit_names_its_message_and_what_changes_nothing_is_no_edit() -> None:
    now = event("plums", edited={"user": "U1", "ts": "1700000009.000000"})
    notice = event(subtype="message_changed", message=now, previous_message=event("pears"))
    notice["ts"] = "1700000009.000200"
    found = of_event(notice, me())
    assert found is not None
    assert (found.kind, found.text, found.message_id) == ("edit", "plums", "1700000000.000100")
    assert found.ext_id.startswith("C1/1700000000.000100/edit/1700000009.000000-")
    again = edit_of({**now, "channel": "C1"}, me())
    assert again is not None
    assert again.ext_id == found.ext_id
    same = event(subtype="message_changed", message=now, previous_message=event("plums"))
    assert of_event(same, me()) is None


async def test_a4_a_deletion_names_its_message_even_if_a_tombstone_remains() -> None:
    was = event("plums")
    deleted = {"subtype": "message_deleted", "deleted_ts": was["ts"], "previous_message": was}
    stone = {"message": {**was, "subtype": "tombstone", "user": "USLACKBOT"}}
    changed = {"subtype": "message_changed", **stone, "previous_message": was}
    noticed = [event(**one) | {"ts": "1700000009.000200"} for one in (deleted, changed)]
    for notice in (*noticed, event(subtype="tombstone", user="USLACKBOT")):
        found = of_event(notice, me())
        assert found is not None
        assert (found.kind, found.message_id, found.text) == ("delete", was["ts"], "")
        assert found.ext_id == f"C1/{was['ts']}/deleted"


async def test_a_channel_with_a_new_id_names_both() -> None:
    moved = {"type": "channel_id_changed", "old_channel_id": "G1", "new_channel_id": "C1"}
    found = of_event({**moved, "event_ts": "1700000000.000500"}, me())
    assert found is not None
    assert (found.kind, found.change) == ("change", "migrated")
    assert (found.chat_id, found.to_chat, found.ext_id) == ("G1", "C1", "G1/migrated/C1")


async def test_membership_changes_and_the_stop_button() -> None:
    stamp = {"event_ts": "1700000000.000500"}
    added = of_event(
        {
            "type": "member_joined_channel",
            "user": "UBOT",
            "inviter": "U1",
            "channel": "C1",
            **stamp,
        },
        me(),
    )
    assert added is not None
    assert (added.kind, added.change, added.text) == (
        "change",
        "added",
        "Ada added the app to the channel.",
    )
    other = {"type": "member_joined_channel", "user": "U2", "channel": "C1", **stamp}
    assert of_event(other, me()) is None
    left = of_event({"type": "channel_left", "channel": "C1", "actor_id": "U1", **stamp}, me())
    assert left is not None
    assert left.change == "removed"
    stopped = of_event(
        {
            "type": "agent_session_stopped",
            "channel": "C1",
            "user": "U1",
            "thread_ts": "1700000000.000100",
            "streaming_message_ts": ["1700000000.000300"],
            **stamp,
        },
        me(),
    )
    assert stopped is not None
    assert (stopped.text, stopped.sender.id, stopped.thread_id) == (
        ",stop",
        "U1",
        "1700000000.000100",
    )
    assert stopped.ext_id == "C1/stop/1700000000.000300"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("channel", "user", "text", "ts", "thread_ts", "files", "attachments", "subtype", "edited")


@given(st.sampled_from(FIELDS), JSON)
async def test_any_value_of_a_field_is_parsed_or_can_be_stored_as_unreadable(
    name: str, value: Any
) -> None:
    body = {"type": "event_callback", "event": event() | {name: value}}
    try:
        found = parse(body, me())
    except Exception as cause:
        kept = unreadable(body, str(cause), "")
        assert InboundMessage.from_payload(kept.to_payload()) == kept
    else:
        assert found is None or InboundMessage.from_payload(found.to_payload()) == found
