"""What intake writes down of a message, and what it takes out of it first."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import Any

from channels.message import InboundMessage, Media
from gateway.intake.access import Decision
from gateway.storage.ledger.rows import InboxRow
from tape.entry import NewEntry, event


def meta_of(
    row: InboxRow,
    lane: str | None,
    link: dict[str, Any] | None = None,
    decision: Decision | None = None,
) -> dict[str, object]:
    """Return what an entry's meta holds of a message: ids, and what was decided about it."""
    said = row.message
    found: dict[str, object] = {
        "inbox": row.id,
        "author": said.sender.id,
        "name": said.sender.name,
        "handle": said.sender.handle,
        "text": said.text,
        "channel": said.channel,
        "account": said.account,
        "chat": said.chat_id,
        "message_id": said.message_id,
        "said_at": said.date,
        "addressed": said.addressed,
        "why": said.why,
        "access": _access(decision) if decision else None,
        "lane": lane,
        "link": link,
        "thread": said.thread_id,
        "reply_to": said.reply_to,
        "mentions": list(said.mentions),
        "media": [_media_meta(media) for media in said.media],
        "command": (said.addressed and is_command(said)) or None,
    }
    return {name: value for name, value in found.items() if value not in (None, [], {}, "")} | {
        "text": said.text
    }


def _access(decision: Decision) -> dict[str, str]:
    return {"role": decision.role.name.lower(), "rule": decision.rule}


def is_command(said: InboundMessage) -> bool:
    """Tell whether a message is a command; forwarded words are somebody else's, and none."""
    return said.text.lstrip().startswith(",") and said.forwarded is None


def _media_meta(media: Media) -> dict[str, object]:
    return {name: value for name, value in asdict(media).items() if value}


def refusal_event(name: str, row: InboxRow, why: str) -> NewEntry:
    """Record that a message was not let in: who and why, and not a word of its text."""
    return event(name, {"author": row.message.sender.id, "why": why, "inbox": row.id})


def cleaned(said: InboundMessage) -> InboundMessage:
    """Take out of a message what neither JSON nor a database holds: NUL and lone surrogates.

    Numbers that a platform tells are kept within what both hold.
    """
    return replace(
        said,
        **_clean_texts(said),
        sender=replace(said.sender, **_clean_texts(said.sender)),
        mentions=tuple(clean(name) for name in said.mentions),
        media=tuple(_clean_media(media) for media in said.media),
        quote=replace(said.quote, **_clean_texts(said.quote)) if said.quote else None,
        forwarded=replace(said.forwarded, **_clean_texts(said.forwarded))
        if said.forwarded
        else None,
    )


def clean(text: str) -> str:
    """Return a text that can be written down."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _clean_texts(value: Any) -> dict[str, Any]:
    """Return the texts of a value of ours, ids among them, that cannot be written as they are."""
    texts = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {
        name: fit for name, text in texts if isinstance(text, str) and (fit := clean(text)) != text
    }


def _clean_media(media: Media) -> Media:
    return replace(
        media,
        **_clean_texts(media),
        size=_bounded(media.size),
        width=_bounded(media.width),
        height=_bounded(media.height),
        seconds=_bounded(media.seconds),
    )


def _bounded(number: int) -> int:
    """Keep a number that a platform tells within what JSON and a database hold."""
    return number if 0 <= number < 2**53 else 0
