"""From what Slack tells to a message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import InboundMessage
from channels.slack.api import ApiSessions, SlackApi
from channels.slack.inbound import SlackSelf, edit_of, of_event, parse, unreadable
from channels.slack.name_cache import Names
from channels.slack.settings import RULES, SlackSettings
from channels.slack.workspaces import Workspace
from tests.clock import ManualClock

pytestmark = pytest.mark.anyio


def me(*rules: str) -> SlackSelf:
    """Return the app as it knows itself; with `rules` it answers only these."""
    settings = SlackSettings.model_validate({"bot_token": "xoxb-1"})
    api = SlackApi("xoxb-1", settings, ApiSessions(settings), ManualClock(), lambda _text: None)

    def spawn(_name: str, _work: Callable[[], Awaitable[None]]) -> None:
        """Nobody is looked up here."""

    names = Names(api, spawn)
    names.learn("U1", "Ada")
    workspace = Workspace("", "T1", "UBOT", "BBOT", "tapeway", "", api, names)
    return SlackSelf(workspace, ("Tapeway", "Robin"), frozenset(rules or RULES))


def event(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "channel": "C1",
        "channel_type": "channel",
        "user": "U1",
        "text": text,
        "ts": "1700000000.000100",
        **more,
    }


async def read(text: str = "hello", *rules: str, **more: Any) -> InboundMessage:
    found = of_event(event(text, **more), me(*rules))
    assert found is not None
    return found


async def test_who_said_what_where_and_when() -> None:
    said = await read(client_msg_id="m-1", thread_ts="1600000000.000001")
    assert (said.channel, said.chat_id, said.chat_kind) == ("slack", "C1", "group")
    assert (said.ext_id, said.alt_id) == ("C1/1700000000.000100", "m-1")
    assert (said.message_id, said.thread_id) == ("1700000000.000100", "1600000000.000001")
    assert (said.sender.id, said.sender.name, said.sender.is_bot) == ("U1", "Ada", False)
    assert said.date == "2023-11-14T22:13:20.000100+00:00"
    assert not said.addressed


async def test_the_twins_of_a_mention_have_one_key() -> None:
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
        (",help", {}, "command"),
        ("<@UBOT>: ,stop", {}, "command"),
        ("hi", {"channel": "D1", "channel_type": "im"}, "private chat"),
        ("hi", {"thread_ts": "1.1", "parent_user_id": "UBOT"}, "reply"),
    ],
)
async def test_b2_what_asks_the_app(text: str, more: dict[str, Any], why: str) -> None:
    said = await read(text, **more)
    assert (said.addressed, said.why) == (True, why)
    if why not in ("command", "private chat"):
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
    ],
)
async def test_b3_what_asks_others_or_nobody(text: str) -> None:
    assert not (await read(text)).addressed


async def test_a_command_after_a_mention_is_that_command() -> None:
    assert (await read("<@UBOT> ,stop all")).text == ",stop all"
    assert (await read("<@UBOT> please ,stop")).text == "@UBOT please ,stop"


async def test_what_follows_in_a_thread_may_be_for_the_app() -> None:
    assert (await read(thread_ts="1.1")).follows
    assert not (await read(thread_ts="1700000000.000100")).follows
    assert not (await read("<@U2> and you?", thread_ts="1.1")).follows
    assert not (await read("hello", "mention", thread_ts="1.1")).follows


async def test_b5_the_app_s_own_messages_are_nothing() -> None:
    assert of_event(event(user="UBOT"), me()) is None
    assert of_event(event(user="", bot_id="BBOT"), me()) is None
    assert of_event(event(subtype="message_changed", message=event(user="UBOT")), me()) is None


async def test_bots_are_known_as_bots() -> None:
    classic = await read(user=None, bot_id="B2", subtype="bot_message", username="CI")
    assert (classic.sender.id, classic.sender.name, classic.sender.is_bot) == ("B2", "CI", True)
    modern = await read(user="U9", bot_id="B2", bot_profile={"name": "Robot"})
    assert (modern.sender.id, modern.sender.name, modern.sender.is_bot) == ("U9", "Robot", True)


@pytest.mark.parametrize("subtype", ["channel_join", "channel_topic", "x_y"])
async def test_a_channel_s_affairs_are_no_messages(subtype: str) -> None:
    assert of_event(event(subtype=subtype), me()) is None


async def test_a4_an_edit_names_its_message_and_a_preview_is_none() -> None:
    now = event("plums", edited={"user": "U1", "ts": "1700000009.000000"})
    told = event(subtype="message_changed", message=now, previous_message=event("pears"))
    told["ts"] = "1700000009.000200"
    found = of_event(told, me())
    assert found is not None
    assert (found.kind, found.text, found.message_id) == ("edit", "plums", "1700000000.000100")
    assert found.ext_id.startswith("C1/1700000000.000100/edit/1700000009.000000-")
    again = edit_of({**now, "channel": "C1"}, me())
    assert again is not None
    assert again.ext_id == found.ext_id
    preview = event(subtype="message_changed", message=now, previous_message=event("plums"))
    assert of_event(preview, me()) is None


async def test_a4_a_message_that_is_gone_is_named_also_where_a_stone_is_left() -> None:
    was = event("plums")
    deleted = {"subtype": "message_deleted", "deleted_ts": was["ts"], "previous_message": was}
    stone = {"message": {**was, "subtype": "tombstone", "user": "USLACKBOT"}}
    for told in (deleted, {"subtype": "message_changed", **stone, "previous_message": was}):
        found = of_event(event(**told) | {"ts": "1700000009.000200"}, me())
        assert found is not None
        assert (found.kind, found.message_id, found.text) == ("delete", was["ts"], "")
        assert found.ext_id == f"C1/{was['ts']}/deleted"


async def test_shared_words_are_somebody_else_s() -> None:
    shared = {"is_share": True, "author_id": "U2", "author_name": "Bob", "text": "secret plum"}
    bare = await read("", attachments=[shared])
    assert bare.text == "secret plum"
    assert bare.forwarded is not None
    assert (bare.forwarded.author, bare.forwarded.author_id) == ("Bob", "U2")
    said = await read("look", attachments=[shared])
    assert (said.text, said.forwarded) == ("look", None)
    assert said.quote is not None
    assert said.quote.text == "secret plum"


async def test_being_added_removed_and_stopped() -> None:
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
async def test_whatever_a_field_holds_is_read_or_raises_and_can_be_kept(
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
