"""Parses updates from the Bot API into messages.

Updates stay plain JSON: in the SDK, one unexpected field would block all the later updates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from channels.content import Content, with_or_without
from channels.message import REST, Author, InboundMessage, Quote, unreadable_message
from channels.telegram.addressing import (
    FOR_ANOTHER,
    TelegramSelf,
    addressed,
    as_command,
    may_follow,
    reply_to,
    without_own,
)
from channels.telegram.chat_changes import membership, migration, pressed, service, stopped
from channels.telegram.content import read
from channels.telegram.entities import MarkedText
from channels.telegram.fields import (
    CHANNEL,
    Raw,
    author_of,
    identity_of,
    moment_of,
    string,
    utf16_length,
)
from channels.telegram.quotes import forwarded, quote_of
from channels.telegram.titles import NEW_TITLE, new_title, title_of

MESSAGES: Final = ("message", "channel_post")
EDITS: Final = ("edited_message", "edited_channel_post")
ALLOWED_UPDATES: Final = (
    *MESSAGES,
    *EDITS,
    "callback_query",
    "my_chat_member",
    "stopped_message_generation",
)

BESIDE: Final = ("reply_to_message", "external_reply", "quote", "reply_markup")
"""Fields beside the words of a message; none of them says whose words these are."""

MIN_PASTE_LENGTH: Final = 2048
"""Minimum UTF-16 units of a part that others follow: apps cut at a good place in the second half
of 4096 units."""


def parse(update: Raw, me: TelegramSelf) -> InboundMessage | None:
    """Parse an update, or return None if no tape needs it; raises any error if it is malformed."""
    for kind in MESSAGES:
        if kind in update:
            return with_or_without(BESIDE, lambda raw: _message(raw, me, update), update[kind])
    for kind in EDITS:
        if kind in update:
            return with_or_without(BESIDE, lambda raw: _edit(raw, me, update), update[kind])
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
    if author_of(raw).id == str(me.id):
        return None
    content, words = read(raw)
    return migration(raw, update) or _made(raw, me, update, content, words)


def _made(
    raw: Raw, me: TelegramSelf, update: Raw, content: Content, words: MarkedText
) -> InboundMessage:
    if content.is_empty:
        return service(raw, update, content.kind)
    author, origin = author_of(raw), forwarded(raw, me)
    is_addressed, why = addressed(raw, words.text, words.entities, me, forwarded=origin is not None)
    if any(new_title(raw)):
        is_addressed, why = False, NEW_TITLE
    follows = not is_addressed and why not in (FOR_ANOTHER, NEW_TITLE)
    follows = follows and may_follow(raw, words.entities, me)
    title = title_of(raw, me.id) if is_addressed or follows else ()
    return InboundMessage(
        **identity_of(raw, update),
        sender=author,
        text=content.text,
        reply_to=reply_to(raw),
        mentions=without_own(content.mentions, me),
        addressed=is_addressed,
        why=why,
        media=content.media,
        excerpts=(*title, *content.excerpts),
        omitted=content.omitted,
        incomplete=content.incomplete,
        quote=quote_of(raw, me),
        forwarded=origin,
        command="" if origin else as_command(words.text, words.entities, me),
        joins=_joins(raw, string(raw, "text"), origin),
        follows=follows,
    )


def _edit(raw: Raw, me: TelegramSelf, update: Raw) -> InboundMessage | None:
    """Parse an edit: what the message says now, in all its fields, as if it were new."""
    if author_of(raw).id == str(me.id):
        return None
    content, words = read(raw)
    now = _made(raw, me, update, content, words)
    stamp = int(raw.get("edit_date") or 0)
    ext_id = f"{now.ext_id}/edit/{stamp}-{content.digest()}"
    edited = moment_of(stamp or raw.get("date"))
    if now.kind == "change":
        return replace(now, ext_id=ext_id, edited=edited)
    # It waits for no other part: those of the message itself have come before.
    return replace(now, kind="edit", ext_id=ext_id, edited=edited, joins="")


def _joins(raw: Raw, text: str, forwarded: Quote | None) -> str:
    if raw.get("media_group_id"):
        return f"album:{raw['media_group_id']}"
    is_long = utf16_length(text) >= MIN_PASTE_LENGTH
    return REST if is_long and not forwarded else ""
