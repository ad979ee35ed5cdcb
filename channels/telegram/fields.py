"""Reads the fields that all kinds of Bot API messages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from channels.message import Author
from channels.telegram.address import chat_of, message_of, names_of

Raw = Mapping[str, Any]

CHANNEL: Final = "telegram"
MAX_SIGNATURE: Final = 64  # maximum number of characters shown of an author's signature
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
        "date": moment_of(raw.get("date")),
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


def moment_of(stamp: Any) -> str:
    """Return a Unix time as ISO 8601 in UTC; without one, the time now."""
    moment = datetime.fromtimestamp(stamp, UTC) if stamp else datetime.now(UTC)
    return moment.isoformat()


def author_of(raw: Raw) -> Author:
    """Return the author, which is a chat for an anonymous admin or a linked channel."""
    user, here = raw.get("from") or {}, raw.get("chat") or {}
    chat = raw.get("sender_chat") or (here if user.get("id") in (None, ANONYMOUS) else None)
    if chat:
        name = signed(str(chat.get("title") or chat.get("username") or chat["id"]), raw)
        number = int(chat["id"])
        return Author(str(number), name, acts_as="chat" if number == here.get("id") else "other")
    handle = user.get("username")
    known = handle if isinstance(handle, str) else ""
    return Author(str(int(user["id"])), name_of(user), bool(user.get("is_bot")), known)


def signed(name: str, raw: Raw) -> str:
    """Return the name of a chat with the signature of the person who writes in its name."""
    signature = string(raw, "author_signature")
    return f"{name} ({signature[:MAX_SIGNATURE]})" if signature else name


def called(user: Raw) -> str:
    """Return the visible name of a user or a chat that may lack any, then "somebody"."""
    return name_of({"id": "somebody", **user})


def name_of(user: Raw) -> str:
    """Return the visible name of a user or a chat."""
    full = " ".join(str(user[key]) for key in ("first_name", "last_name") if user.get(key))
    return full or str(user.get("title") or user.get("username") or user["id"])


def part(raw: Raw, name: str) -> Raw:
    """Return an object in a field, or an empty one if the field has none."""
    found = raw.get(name)
    return found if isinstance(found, dict) else {}


def parts(raw: Raw, name: str) -> Sequence[Raw]:
    """Return the objects in a field's list."""
    found = raw.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else ()


def string(raw: Raw, name: str) -> str:
    """Return the text in a field, or ""."""
    found = raw.get(name)
    return found if isinstance(found, str) else ""


def whole(raw: Raw, name: str) -> int:
    """Return the whole number in a field, or 0."""
    found = raw.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def covered(text: str, entity: Raw) -> str:
    """Return the part of a text that an entity covers; entity offsets count UTF-16 units."""
    start = int(entity["offset"]) * 2
    units = text.encode("utf-16-le", "surrogatepass")
    return units[start : start + int(entity["length"]) * 2].decode("utf-16-le", "replace")


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 units, as Telegram counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
