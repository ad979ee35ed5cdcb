"""Parses what happens to a conversation: who joins and leaves, its name, its id, a press."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from channels.message import Author, InboundMessage
from channels.slack.event_fields import Raw, SlackSelf, author_of, location_of
from channels.slack.format import ACTION

STOP: Final = ",stop"
MAX_SENTENCE: Final = 500
"""Maximum characters that are kept of a notice of Slack's."""

LOCATION: Final = ("channel", "account", "chat_id", "chat_kind", "chat_title", "date", "server_id")
"""Fields that a stop command copies from the message whose answer it stops."""

_MEMBERSHIP: Final = {
    "member_joined_channel": ("added", "{} added the app to the channel."),
    "channel_left": ("removed", "{} removed the app from the channel."),
    "group_left": ("removed", "{} removed the app from the channel."),
}


def change_of(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage | None:
    """Parse an event that is no message; None for one that changes nothing here."""
    kind = event["type"]
    if kind in _MEMBERSHIP:
        return _membership(event, me, event_id)
    if kind == "agent_session_stopped":
        return _stopped(event, me, event_id)
    if kind in ("channel_rename", "group_rename"):
        return _renamed(event, me, event_id)
    return _moved(event, me, event_id) if kind == "channel_id_changed" else None


def notice_of(event: Raw, me: SlackSelf, event_id: str, kind: str) -> InboundMessage:
    """Return the record of a message that nobody wrote; `kind` is Slack's name for it."""
    location = location_of(event, me, event_id)
    location["ext_id"] = f"{location['chat_id']}/{kind}/{location['message_id']}"
    text = me.read(str(event.get("text") or ""))[:MAX_SENTENCE]
    return InboundMessage(
        **location, sender=author_of(event, me), text=text, kind="change", change=kind
    )


def pressed(body: Raw, me: SlackSelf) -> InboundMessage | None:
    """Parse the press of a button; None if it is not one of ours."""
    actions = (one for one in body["actions"] if str(one.get("action_id")).startswith(ACTION))
    action = next(actions, None)
    if action is None:
        return None
    place, below, user = body.get("container") or {}, body.get("message") or {}, body["user"]
    chat_id, user_id, stamp = str(body["channel"]["id"]), str(user["id"]), str(action["action_ts"])
    thread = below.get("thread_ts") or place.get("thread_ts")
    location = location_of({"channel": chat_id, "ts": stamp}, me, "")
    ts = str(below.get("ts") or place["message_ts"])
    location |= {
        "ext_id": f"press/{chat_id}/{stamp}/{user_id}",
        "message_id": ts,
        "thread_id": str(thread) if thread and thread != ts else None,
    }
    sender = Author(user_id, me.workspace.names.person(user_id))
    return InboundMessage(
        **location, sender=sender, text="", kind="press", press=str(action.get("value") or "")
    )


def stop_of(location: Mapping[str, Any], sender: Author, stopped: str) -> InboundMessage:
    """Return the command of a Stop button; `stopped` is the timestamp of the stopped answer."""
    fields = {**location, "ext_id": f"{location['chat_id']}/stop/{stopped}", "message_id": ""}
    return InboundMessage(
        **fields,
        sender=sender,
        text=STOP,
        command=STOP,
        addressed=True,
        why="the Stop of an answer",
    )


def _stopped(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    location = location_of({"ts": event["event_ts"], **event}, me, event_id)
    user_id = str(event.get("user") or "")
    streams = event.get("streaming_message_ts") or [f"{event['thread_ts']}/{event['event_ts']}"]
    return stop_of(location, Author(user_id, me.workspace.names.person(user_id)), str(streams[0]))


def _membership(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage | None:
    if event["type"] == "member_joined_channel" and event.get("user") != me.workspace.user:
        return None
    change, sentence = _MEMBERSHIP[event["type"]]
    who = str(event.get("inviter") or event.get("actor_id") or "")
    sender = Author(who, me.workspace.names.person(who) if who else "Somebody")
    return _change(
        event, event["channel"], change, sentence.format(sender.name), sender, me, event_id
    )


def _renamed(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    channel = event["channel"]
    name = str(channel.get("name") or "")
    me.workspace.names.learn(str(channel["id"]), name)
    text = f"The channel has a new name: {name}."
    return _change(event, channel["id"], "renamed", text, Author("", "Somebody"), me, event_id)


def _moved(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    # A private channel gets a new id when it is shared with another company.
    old, new = str(event["old_channel_id"]), str(event["new_channel_id"])
    text = f"The channel has a new id: {new}."
    return _change(event, old, "migrated", text, Author("", "Somebody"), me, event_id, new)


def _change(
    event: Raw,
    chat_id: str,
    change: str,
    text: str,
    sender: Author,
    me: SlackSelf,
    event_id: str,
    to_chat: str = "",
) -> InboundMessage:
    stamp = str(event.get("event_ts") or event_id)
    location = location_of({"channel": chat_id, "ts": stamp}, me, event_id)
    location |= {"ext_id": f"{chat_id}/{change}/{to_chat or stamp}", "message_id": ""}
    return InboundMessage(
        **location, sender=sender, text=text, kind="change", change=change, to_chat=to_chat
    )
