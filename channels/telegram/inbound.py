"""Parses updates from the Bot API into messages.

Updates stay plain JSON: in the SDK, one unexpected field would block all the later updates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from channels.message import REST, Author, InboundMessage, Quote, unreadable_message
from channels.telegram.addressing import (
    FOR_ANOTHER,
    TelegramSelf,
    addressed,
    as_command,
    may_follow,
    mentioned,
    reply_to,
)
from channels.telegram.chat_changes import SILENT, change, membership, pressed, stopped
from channels.telegram.fields import (
    CHANNEL,
    Raw,
    author_of,
    identity_of,
    name_of,
    text_of,
    utf16_length,
)
from channels.telegram.media import media_of

MESSAGES: Final = ("message", "channel_post")
EDITS: Final = ("edited_message", "edited_channel_post")
ALLOWED_UPDATES: Final = (
    *MESSAGES,
    *EDITS,
    "callback_query",
    "my_chat_member",
    "stopped_message_generation",
)

MIN_PASTE_LENGTH: Final = 2048
"""Minimum UTF-16 units of a part that others follow: apps cut at a good place in the second half
of 4096 units."""

MAX_QUOTE: Final = 1000  # maximum number of characters kept of a quoted message


def parse(update: Raw, me: TelegramSelf) -> InboundMessage | None:
    """Parse an update, or return None if no tape needs it; raises any error if it is malformed."""
    for kind in MESSAGES:
        if kind in update:
            return _message(update[kind], me, update)
    for kind in EDITS:
        if kind in update:
            return _edit(update[kind], me, update)
    if "callback_query" in update:
        return pressed(update["callback_query"], update)
    if "my_chat_member" in update:
        return membership(update["my_chat_member"], update)
    if "stopped_message_generation" in update:
        return stopped(update["stopped_message_generation"], update)
    return None


def unreadable(update: Any, why: str) -> InboundMessage:
    """Return a message that records an update which cannot be parsed."""
    number = update.get("update_id") if isinstance(update, Mapping) else None
    key = str(number) if isinstance(number, int) else ""
    found = unreadable_message(CHANNEL, update, why, key=key)
    private = _private_chat(update)
    if not private:
        return replace(found, chat_kind="group")
    return replace(found, chat_id=private, sender=Author(private, ""))


def _private_chat(update: Any) -> str:
    message = update.get("message") if isinstance(update, Mapping) else None
    chat = message.get("chat") if isinstance(message, Mapping) else None
    if not isinstance(chat, Mapping) or chat.get("type") != "private":
        return ""
    number = chat.get("id")
    return str(number) if isinstance(number, int) and not isinstance(number, bool) else ""


def _message(raw: Raw, me: TelegramSelf, update: Raw) -> InboundMessage | None:
    author = author_of(raw)
    if author.id == str(me.id):
        return None
    changed = change(raw, update)
    if changed is not None or SILENT & raw.keys():
        return changed
    text, entities = text_of(raw)
    forwarded = _forwarded(raw)
    is_addressed, why = addressed(raw, text, entities, me, forwarded=forwarded is not None)
    return InboundMessage(
        **identity_of(raw, update),
        sender=author,
        text=text,
        reply_to=reply_to(raw),
        mentions=tuple(mentioned(text, entities)),
        addressed=is_addressed,
        why=why,
        media=media_of(raw),
        quote=_quote(raw, me),
        forwarded=forwarded,
        command="" if forwarded else as_command(text, entities, me),
        joins=_joins(raw, text, forwarded),
        follows=not is_addressed and why != FOR_ANOTHER and may_follow(raw, entities, me),
    )


def _edit(raw: Raw, me: TelegramSelf, update: Raw) -> InboundMessage | None:
    author = author_of(raw)
    if author.id == str(me.id):
        return None
    text, _entities = text_of(raw)
    identity = identity_of(raw, update)
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    identity["ext_id"] = f"{identity['ext_id']}/edit/{int(raw.get('edit_date') or 0)}-{digest}"
    return InboundMessage(**identity, sender=author, text=text, kind="edit")


def _quote(raw: Raw, me: TelegramSelf) -> Quote | None:
    replied = raw.get("reply_to_message") if reply_to(raw) else raw.get("external_reply")
    if not replied:
        return None
    chosen = (raw.get("quote") or {}).get("text")
    text = str(chosen or text_of(replied)[0])[:MAX_QUOTE]
    if replied.get("from") or replied.get("sender_chat"):
        author = author_of({"chat": raw["chat"], **replied})
        ours = author.id == str(me.id)
        return Quote(author.name, author.id, text, ours, chosen is not None)
    origin = _origin(replied.get("origin") or {})
    return Quote(origin.author, origin.author_id, text) if origin else None


def _forwarded(raw: Raw) -> Quote | None:
    if raw.get("forward_origin"):
        return _origin(raw["forward_origin"]) or Quote("somebody")
    old = raw.get("forward_from") or raw.get("forward_from_chat")
    if old:
        return Quote(name_of(old), str(old["id"]))
    hidden = raw.get("forward_sender_name")
    return Quote(str(hidden)) if hidden else None


def _origin(origin: Raw) -> Quote | None:
    user = origin.get("sender_user") or origin.get("sender_chat") or origin.get("chat")
    if user:
        return Quote(name_of(user), str(user["id"]))
    name = origin.get("sender_user_name")
    return Quote(str(name)) if name else None


def _joins(raw: Raw, text: str, forwarded: Quote | None) -> str:
    if raw.get("media_group_id"):
        return f"album:{raw['media_group_id']}"
    is_long = utf16_length(text) >= MIN_PASTE_LENGTH
    return REST if is_long and not forwarded else ""
