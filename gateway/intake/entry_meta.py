"""Build the meta of a message's entry, and clean messages before they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any, Final, TypeVar

from agent.taint import FILE, PAGE, QUOTE, TAINT
from channels.message import Author, Excerpt, InboundMessage, Media, Quote
from gateway.access.access import Decision
from gateway.access.pairing import VOID_CODE
from gateway.storage.ledger.rows import InboxRow
from tape.entry import NewEntry, event
from tape.excerpts import EXCERPTS, OMITTED

Part = TypeVar("Part", Quote, Excerpt)
Value = TypeVar("Value", InboundMessage, Author, Media, Quote, Excerpt)

COMMAND: Final = "command"  # why a message asks the agent that is a command


def meta_of(
    row: InboxRow,
    lane: str | None,
    link: dict[str, Any] | None = None,
    decision: Decision | None = None,
    *,
    quotes_own: bool = False,
) -> dict[str, object]:
    """Return the meta of a message's entry: its ids, and the decisions about the message.

    `quotes_own` says that what it quotes is no text of others for its author.
    """
    message = row.message
    found: dict[str, object] = {
        "inbox": row.id,
        "author": message.sender.id,
        "name": message.sender.name,
        "handle": message.sender.handle,
        "text": message.text,
        "channel": message.channel,
        "account": message.account,
        "chat": message.chat_id,
        "message_id": message.message_id,
        "said_at": message.date,
        "addressed": message.addressed,
        "why": message.why,
        "access": {"role": decision.role.name.lower(), "rule": decision.rule} if decision else None,
        "lane": lane,
        "link": link,
        "thread": message.thread_id,
        "reply_to": message.reply_to,
        "mentions": list(message.mentions),
        **parts_meta(message, quotes_own=quotes_own),
        "command": (message.addressed and is_command(message)) or None,
    }
    return {name: value for name, value in found.items() if value not in (None, [], {}, "")} | {
        "text": message.text
    }


def parts_meta(message: InboundMessage, *, quotes_own: bool = False) -> dict[str, object]:
    """Return what the meta of an entry that shows a message says about its parts.

    The words themselves stand in the entry's content only, so that an erasure finds them once. `of`
    is the platform's id of the quoted message: views leave the quote out once that is deleted.
    """
    quoted = _origin(message.quote)
    if quoted is not None and message.reply_to:
        quoted["of"] = message.reply_to
    found: dict[str, object] = {
        "quote": quoted,
        "forwarded": _origin(message.forwarded),
        "media": _media(message.media),
        EXCERPTS: [_excerpt(one) for one in message.excerpts],
        OMITTED: list(message.omitted),
        TAINT: _taints_of(message, quotes_own=quotes_own),
    }
    return {name: value for name, value in found.items() if value}


def _origin(origin: Quote | None) -> dict[str, object] | None:
    """Return who wrote a quoted or forwarded text: `ours`, or the author's id and name."""
    if origin is None:
        return None
    author = "ours" if origin.ours else origin.author_id
    media = {"media": _media(origin.media)} if origin.media else {}
    return {"author": author, "name": origin.author, **media}


def _excerpt(excerpt: Excerpt) -> dict[str, object]:
    """Return what an excerpt is, who wrote it, and what came in it, as `_origin` does."""
    found: dict[str, object] = {
        "label": excerpt.label,
        "author": "ours" if excerpt.ours else excerpt.author_id,
        "name": excerpt.author,
        "source": excerpt.source if excerpt.source != "person" else "",
        "media": _media(excerpt.media),
    }
    return {name: value for name, value in found.items() if value}


def _media(media: Iterable[Media]) -> list[dict[str, object]]:
    return [{name: value for name, value in asdict(one).items() if value} for one in media]


def _taints_of(message: InboundMessage, *, quotes_own: bool) -> list[str]:
    """Return which text in a message is not its author's."""
    origins, excerpts = (message.quote, message.forwarded), message.excerpts
    foreign = [one for one in (*origins, *excerpts) if one is not None]
    quotes = message.quote is not None and not quotes_own
    found = {
        FILE: bool(message.media) or any(one.media for one in foreign),
        QUOTE: quotes or bool(message.forwarded) or any(one.source != "page" for one in excerpts),
        PAGE: any(one.source == "page" for one in excerpts),
    }
    return [taint for taint, holds in found.items() if holds]


def is_command(message: InboundMessage) -> bool:
    """Return whether a message that was taken in is a command; see `KnownCommands`."""
    return bool(message.command)


def word_of(message: InboundMessage) -> str:
    """Return the name of the command that a message has the form of, or ""."""
    words = message.command.removeprefix(",").split(maxsplit=1)
    return words[0] if words else ""  # a former version took a comma alone for a command


def closed_command(message: InboundMessage) -> str:
    """Return the command of a message if a closed chat understands it, or "".

    That is `,open`, and in private `,console` by itself: who may use them is decided by the
    platform, too.
    """
    if not (message.addressed and is_command(message)):
        return ""
    words = message.command.lower().split()
    if words == [",console"] and message.chat_kind == "private":
        return words[0]
    return words[0] if words[0] == ",open" else ""


def refusal_event(name: str, row: InboxRow, why: str) -> NewEntry:
    """Return the event that records a refused message's author and reason, but not its text.

    `code` says that a pairing code stood in it, which is void because of that.
    """
    code = {"code": "void"} if VOID_CODE in row.message.text else {}
    return event(name, {"author": row.message.sender.id, "why": why, "inbox": row.id, **code})


def cleaned(message: InboundMessage, redact: Callable[[str], str] = str) -> InboundMessage:
    """Remove what the database cannot store (NUL, lone surrogates, huge numbers), and secrets."""

    def clean_part(part: Part) -> Part:
        files = tuple(_clean_media(media, redact) for media in part.media)
        return _changed(part, **_clean_texts(part, redact), media=files)

    return _changed(
        message,
        **_clean_texts(message, redact),
        sender=_changed(message.sender, **_clean_texts(message.sender, redact)),
        mentions=tuple(clean(name) for name in message.mentions),
        media=tuple(_clean_media(media, redact) for media in message.media),
        quote=message.quote and clean_part(message.quote),
        forwarded=message.forwarded and clean_part(message.forwarded),
        excerpts=tuple(map(clean_part, message.excerpts)),
        omitted=tuple(redact(clean(one)) for one in message.omitted),
    )


def clean(text: str) -> str:
    """Return the text without NUL characters and lone surrogates."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _clean_texts(value: Any, redact: Callable[[str], str]) -> dict[str, Any]:
    texts = ((name, getattr(value, name)) for name in value.__slots__)
    return {
        name: fit
        for name, text in texts
        if isinstance(text, str) and (fit := redact(clean(text))) != text
    }


def _changed(value: Value, **fields: Any) -> Value:
    """Return a message, or a part of one, with other fields: itself, if these are the same."""
    changes = {name: new for name, new in fields.items() if new != getattr(value, name)}
    return replace(value, **changes) if changes else value


def _clean_media(media: Media, redact: Callable[[str], str]) -> Media:
    return _changed(
        media,
        **_clean_texts(media, redact),
        size=_bounded(media.size),
        width=_bounded(media.width),
        height=_bounded(media.height),
        seconds=_bounded(media.seconds),
    )


def _bounded(number: int) -> int:
    return number if 0 <= number < 2**53 else 0  # the integers that JSON represents exactly
