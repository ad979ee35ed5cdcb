"""Reads what a message says; new messages, edits, quotes and forwards are read by this alone.

A message asks only with a field that is read here: any other field makes it a change of the chat,
recorded by the field's name. docs/reference/content.md lists the fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from channels.content import Content
from channels.message import Excerpt, Media
from channels.telegram.addressing import mentioned
from channels.telegram.entities import MarkedText, link, with_addresses
from channels.telegram.fields import Raw, called, part, parts, string
from channels.telegram.media import FIELDS, media_of
from channels.telegram.rich_blocks import read_rich
from channels.telegram.text_files import is_text_file
from channels.telegram.titles import RENAMED, new_title

ENVELOPE: Final = frozenset(
    (
        *("message_id", "message_thread_id", "direct_messages_topic", "is_topic_message", "chat"),
        *("date", "edit_date", "from", "sender_chat", "sender_tag", "sender_boost_count"),
        *("sender_business_bot", "business_connection_id", "guest_query_id", "via_bot"),
        *("guest_bot_caller_user", "guest_bot_caller_chat", "receiver_user"),
        *("ephemeral_message_id", "forward_origin", "forward_from", "forward_from_chat"),
        *("forward_from_message_id", "forward_signature", "forward_sender_name", "forward_date"),
        *("is_automatic_forward", "reply_to_message", "external_reply", "quote", "origin"),
        *("reply_to_story", "reply_to_checklist_task_id", "reply_to_poll_option_id"),
        *("has_protected_content", "is_from_offline", "is_paid_post", "media_group_id"),
        *("author_signature", "paid_star_count", "text", "entities", "link_preview_options"),
        *("suggested_post_info", "effect_id", "caption", "caption_entities", "reply_markup"),
        *("show_caption_above_media", "has_media_spoiler"),
    )
)
"""Fields that say who wrote a message, where and how; none of them is a kind of message."""

MAX_KIND: Final = 100  # maximum number of characters of the name of a kind

READ: Final = frozenset((*ENVELOPE, *FIELDS, "rich_message", RENAMED))

EMPTY: Final = "empty_message"
"""The kind of a message that has no field of its own."""


def read_content(raw: Raw) -> Content:
    """Return what a message says, within the limits; malformed parts of it are left out."""
    return read(raw)[0]


def read(raw: Raw) -> tuple[Content, MarkedText]:
    """Return what a message says, and its sender's own words with their entities.

    Whom the message addresses is decided by these words.
    """
    words, media = _said(raw)
    excerpts: list[Excerpt] = [*new_title(raw)]
    if made := _made_by_bot(raw, words, media):
        words = MarkedText()
        media = tuple(one for one in media if one.file)
        excerpts.append(made)
    # Of another chat's message, only what its text hides is here: the text itself is the quote.
    if words.text.strip() or media or excerpts or "origin" in raw:
        excerpts += _hidden(raw, words)
    kind = "" if words.text.strip() or media or excerpts else kind_of(raw)
    content = Content(
        words.text,
        media,
        tuple(excerpts),
        tuple(mentioned(words.text, words.entities)),
        omitted=() if kind else tuple(_unread(raw)),
        kind=kind,
        incomplete=any(map(is_text_file, media)),
    )
    return content.limited(), words


def kind_of(raw: Raw) -> str:
    """Return the names of the fields that make a message without content what it is."""
    names = [name for name, value in raw.items() if name not in ENVELOPE and value is not None]
    return ",".join(names)[:MAX_KIND] or EMPTY


def _unread(raw: Raw) -> Iterator[str]:
    """Yield what stands beside a message's words, and is of a kind that is not known."""
    for name, value in raw.items():
        if name not in READ and isinstance(value, Mapping | list):
            yield f"{name.replace('_', ' ')[:MAX_KIND]}, a kind that cannot be read"


def _said(raw: Raw) -> tuple[MarkedText, tuple[Media, ...]]:
    media = media_of(raw)
    rich = part(raw, "rich_message")
    if rich:  # it comes in place of a text
        words, inside = read_rich(rich)
        if words.text or inside:
            return words, (*inside, *media)
    if raw.get("text") is not None:
        return with_addresses(str(raw["text"]), raw.get("entities")), media
    return with_addresses(str(raw.get("caption") or ""), raw.get("caption_entities")), media


def _made_by_bot(raw: Raw, words: MarkedText, media: Sequence[Media]) -> Excerpt | None:
    """Return what an inline bot wrote; its files are the sender's choice, as any other file."""
    bot = part(raw, "via_bot")
    if not bot or bot.get("id") == part(raw, "from").get("id"):
        return None
    described = tuple(one for one in media if not one.file)
    if not words.text.strip() and not described:
        return None
    number = str(bot.get("id") or "")
    return Excerpt("message made with a bot", words.text, called(bot), number, media=described)


def _hidden(raw: Raw, words: MarkedText) -> list[Excerpt]:
    """Return what shows addresses without being a part of the text: a preview, buttons."""
    found = []
    preview = string(part(raw, "link_preview_options"), "url")
    if preview and preview not in words.text:
        found.append(Excerpt("link preview", preview, source="page"))
    rows = part(raw, "reply_markup").get("inline_keyboard")
    lines = [_buttons(row) for row in rows if isinstance(row, list)] if rows else ()
    if text := "\n".join(line for line in lines if line):
        found.append(Excerpt("buttons", text))
    return found


def _buttons(row: Sequence[object]) -> str:
    return " | ".join(_button(one) for one in parts({"row": row}, "row"))


def _button(raw: Raw) -> str:
    pages = (string(part(raw, name), "url") for name in ("web_app", "login_url"))
    copied = string(part(raw, "copy_text"), "text")
    label = link(string(raw, "text"), string(raw, "url") or next(filter(None, pages), ""))
    return f"{label} ({copied})" if copied else label
