"""Parses changes of a chat, service messages of every kind, presses of buttons, and Stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from channels.message import Author, InboundMessage
from channels.telegram.content import EMPTY
from channels.telegram.fields import Raw, author_of, called, identity_of, part, parts, string

PRESS: Final = "press/"  # what the keys of presses begin with
MAX_NAMES: Final = 20  # maximum number of people whom a change names
_AWAY: Final = ("left", "kicked")
_SENTENCES: Final[Mapping[str, Callable[[Raw], str]]] = {
    "forum_topic_closed": lambda _raw: "The topic was closed.",
    "forum_topic_reopened": lambda _raw: "The topic was reopened.",
    "forum_topic_created": lambda raw: f"The topic has a name: {_name(raw)}.",
    "forum_topic_edited": lambda _raw: "The topic has a new icon.",
    "new_chat_title": lambda raw: f"The chat has a new name: {raw['new_chat_title']}.",
    "pinned_message": lambda raw: _pinned(part(raw, "pinned_message")),
    "new_chat_members": lambda raw: f"{_names(parts(raw, 'new_chat_members'))} came.",
    "left_chat_member": lambda raw: f"{called(part(raw, 'left_chat_member'))} left.",
}
"""What the kinds of service messages mean; any other kind is named."""

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
        **identity,
        sender=sender,
        text=",stop",
        command=",stop",
        addressed=True,
        why="the Stop of a draft",
    )


def migration(raw: Raw, update: Raw) -> InboundMessage | None:
    """Parse the service message about a group that got another id, or return None."""
    sender = author_of(raw)
    if raw.get("migrate_to_chat_id"):
        return _migrated(raw, update, sender, str(int(raw["migrate_to_chat_id"])))
    if raw.get("migrate_from_chat_id"):
        # The new group reports the same migration: both must have the same key.
        old = {**raw, "chat": {**raw["chat"], "id": raw["migrate_from_chat_id"]}}
        return _migrated(old, update, sender, str(int(raw["chat"]["id"])))
    return None


def service(raw: Raw, update: Raw, kind: str) -> InboundMessage:
    """Parse a message that says nothing itself: a change of the chat, with its kind's own name."""
    return _change_of(raw, update, kind, sentence_of(raw, kind), author_of(raw))


def sentence_of(raw: Raw, kind: str) -> str:
    """Return what a service message means, in a sentence; "" if it has no field of its own."""
    if kind in ("", EMPTY):
        return ""
    sentence = _SENTENCES.get(kind)
    return sentence(raw) if sentence else f"Telegram reports: {kind.replace('_', ' ')}."


def _name(raw: Raw) -> str:
    return string(part(raw, "forum_topic_created"), "name")


def _names(people: Sequence[Raw]) -> str:
    return ", ".join(map(called, people[:MAX_NAMES])) or "Somebody"


def _pinned(raw: Raw) -> str:
    # Not its words: what stands in a change would outlast the message when that is erased.
    whose = part(raw, "sender_chat") or part(raw, "from")
    number = raw.get("message_id")
    return f"Message {number}{f' of {called(whose)}' if whose else ''} was pinned."


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
