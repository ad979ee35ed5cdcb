"""Reads the fields that all kinds of Bot API messages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from channels.message import Author
from channels.telegram.address import chat_of, message_of, names_of

Raw = Mapping[str, Any]

CHANNEL: Final = "telegram"
ANONYMOUS: Final = 1087968824  # GroupAnonymousBot: the user in the place of an anonymous admin


def identity_of(raw: Raw, update: Raw) -> dict[str, Any]:
    """Return the InboundMessage fields that identify a message and its chat."""
    chat = raw["chat"]
    chat_id, message_id = chat_of(raw), message_of(raw)
    private = chat.get("type", "private" if int(chat["id"]) > 0 else "group") == "private"
    number = update.get("update_id")
    return {
        "channel": CHANNEL,
        "chat_id": chat_id,
        "chat_kind": "private" if private else "group",
        "chat_title": "" if private else _title_of(raw),
        "ext_id": f"{chat_id}/{message_id}",
        "alt_id": str(number) if number is not None else None,
        "message_id": message_id,
        "thread_id": thread_of(raw),
        "date": _date(raw.get("date")),
        # Who may write in a channel's direct messages, and in a group, is decided for all of them.
        "parent_id": "" if chat_id == str(int(chat["id"])) else str(int(chat["id"])),
    }


def _title_of(raw: Raw) -> str:
    chat, whose = raw["chat"], names_of(raw)
    title = str(chat.get("title") or chat.get("username") or "")
    return f"{title}: {whose}" if whose else title


def thread_of(raw: Raw) -> str | None:
    """Return the topic's id; a forum message without a topic is in General, whose id is 1."""
    if raw.get("is_topic_message") and raw.get("message_thread_id"):
        return str(int(raw["message_thread_id"]))
    return "1" if raw["chat"].get("is_forum") and raw["chat"].get("type") != "private" else None


def _date(stamp: Any) -> str:
    moment = datetime.fromtimestamp(stamp, UTC) if stamp else datetime.now(UTC)
    return moment.isoformat()


def author_of(raw: Raw) -> Author:
    """Return the author, which is a chat for an anonymous admin or a linked channel."""
    user, here = raw.get("from") or {}, raw.get("chat") or {}
    chat = raw.get("sender_chat") or (here if user.get("id") in (None, ANONYMOUS) else None)
    if chat:
        name = str(chat.get("title") or chat.get("username") or chat["id"])
        number = int(chat["id"])
        return Author(str(number), name, acts_as="chat" if number == here.get("id") else "other")
    handle = user.get("username")
    known = handle if isinstance(handle, str) else ""
    return Author(str(int(user["id"])), name_of(user), bool(user.get("is_bot")), known)


def name_of(user: Raw) -> str:
    """Return the visible name of a user or a chat."""
    full = " ".join(str(user[key]) for key in ("first_name", "last_name") if user.get(key))
    return full or str(user.get("username") or user.get("title") or user["id"])


def text_of(raw: Raw) -> tuple[str, Sequence[Raw]]:
    """Return a message's text or caption, with its entities."""
    if raw.get("text") is not None:
        return str(raw["text"]), raw.get("entities") or ()
    return str(raw.get("caption") or ""), raw.get("caption_entities") or ()


def covered(text: str, entity: Raw) -> str:
    """Return the part of a text that an entity covers; entity offsets count UTF-16 units."""
    start = int(entity["offset"]) * 2
    units = text.encode("utf-16-le", "surrogatepass")
    return units[start : start + int(entity["length"]) * 2].decode("utf-16-le", "replace")


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 units, as Telegram counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
