"""Parses changes of a chat: members, titles, topics, migration; presses of buttons, and Stop."""

from __future__ import annotations

from typing import Final

from channels.message import Author, InboundMessage
from channels.telegram.fields import Raw, author_of, identity_of

PRESS: Final = "press/"  # what the keys of presses begin with
_AWAY: Final = ("left", "kicked")
_CHANGES: Final = {
    "forum_topic_closed": "The topic was closed.",
    "forum_topic_reopened": "The topic was reopened.",
    "new_chat_title": "The chat has a new name: {}.",
}
SILENT: Final = frozenset(
    (
        "new_chat_members",
        "left_chat_member",
        "new_chat_photo",
        "delete_chat_photo",
        "group_chat_created",
        "supergroup_chat_created",
        "channel_chat_created",
        "message_auto_delete_timer_changed",
        "pinned_message",
        "forum_topic_created",
        "forum_topic_edited",
        "general_forum_topic_hidden",
        "general_forum_topic_unhidden",
        "video_chat_scheduled",
        "video_chat_started",
        "video_chat_ended",
        "video_chat_participants_invited",
        "boost_added",
        "chat_background_set",
        "write_access_allowed",
        "users_shared",
        "chat_shared",
        "connected_website",
        "proximity_alert_triggered",
    )
)
"""Kinds of service messages that are not put on the tape."""

_MEMBERSHIP: Final = {
    (False, False): "added the bot to the group.",
    (False, True): "removed the bot from the group.",
    (True, False): "started a chat with the bot.",
    (True, True): "blocked the bot.",
}


def membership(raw: Raw, update: Raw) -> InboundMessage | None:
    """Parse a change of the bot's membership: it was added, removed, blocked or unblocked."""
    was, away = (_is_away(raw[f"{when}_chat_member"]) for when in ("old", "new"))
    if was == away:
        return None
    sender = author_of(raw)
    private = raw["chat"]["type"] == "private"
    text = f"{sender.name} {_MEMBERSHIP[(private, away)]}"
    change = "removed" if away else "added"
    if raw["chat"]["type"] == "channel" or raw["chat"].get(
        "is_direct_messages"
    ):  # a greeting there would go to all its readers
        change = f"{change}_as_admin"
    return _change_of(raw, update, change, text, sender)


def _is_away(member: Raw) -> bool:
    return member["status"] in _AWAY or member.get("is_member") is False


def pressed(raw: Raw, update: Raw) -> InboundMessage | None:
    """Parse a press of a button; the author is the person, also for an anonymous administrator."""
    below = raw.get("message")
    if below is None:  # the button is not in a chat with the bot
        return None
    identity = identity_of({**below, "date": None}, update)
    identity["ext_id"] = f"{PRESS}{raw['id']}"
    sender = author_of({"from": raw["from"]})
    return InboundMessage(
        **identity, sender=sender, text="", kind="press", press=str(raw.get("data") or "")
    )


def stopped(raw: Raw, update: Raw) -> InboundMessage:
    """Parse a press of a draft's Stop button, which works like the stop command."""
    sender = author_of({"from": raw.get("from") or raw.get("user") or raw.get("chat")})
    chat = raw.get("chat") or {"id": int(sender.id), "type": "private"}
    number = int(update["update_id"])
    topic = {"message_thread_id": raw.get("message_thread_id"), "is_topic_message": True}
    identity = identity_of(
        {"chat": chat, "message_id": 0, "date": raw.get("date"), **topic}, update
    )
    identity["ext_id"] = f"{identity['chat_id']}/stop/{number}"
    identity["message_id"] = ""
    return InboundMessage(
        **identity, sender=sender, text=",stop", addressed=True, why="the Stop of a draft"
    )


def change(raw: Raw, update: Raw) -> InboundMessage | None:
    """Parse a service message about a change of the chat, or return None for any other message."""
    sender = author_of(raw)
    if raw.get("migrate_to_chat_id"):
        return _migrated(raw, update, sender, str(int(raw["migrate_to_chat_id"])))
    if raw.get("migrate_from_chat_id"):
        # The new group reports the same migration: both must have the same key.
        old = {**raw, "chat": {**raw["chat"], "id": raw["migrate_from_chat_id"]}}
        return _migrated(old, update, sender, str(int(raw["chat"]["id"])))
    for name, sentence in _CHANGES.items():
        if name in raw:
            return _change_of(raw, update, name, sentence.format(raw[name]), sender)
    return None


def _migrated(raw: Raw, update: Raw, sender: Author, to_chat: str) -> InboundMessage:
    text = f"The group has become a supergroup; its id is now {to_chat}."
    return _change_of(raw, update, "migrated", text, sender, to_chat)


def _change_of(
    raw: Raw, update: Raw, change: str, text: str, sender: Author, to_chat: str = ""
) -> InboundMessage:
    identity = identity_of({"message_id": 0, **raw}, update)
    stamp = to_chat or raw.get("message_id") or update.get("update_id")
    identity["ext_id"] = f"{identity['chat_id']}/{change}/{stamp}"
    identity["message_id"] = str(raw.get("message_id") or "")
    return InboundMessage(
        **identity, sender=sender, text=text, kind="change", change=change, to_chat=to_chat
    )
