"""Frame a person's message for the model: a header line, then the text, quoted in groups.

The format must never change: an entry is written once, and every view shows the same bytes. The
header shows the time of the message itself. No person's text or name can imitate a header.
"""

from __future__ import annotations

import re
from typing import Final

from channels.message import InboundMessage, Media
from tape.entry import parse_date

_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f\[\]\u2028\u2029]+")


def frame(message: InboundMessage) -> str:
    """Return the framed message, which is the text of its entry."""
    group = message.chat_kind == "group"
    where = _fit(message.chat_title or message.chat_id) if group else "private chat"
    thread = f" | thread {_fit(message.thread_id)}" if message.thread_id else ""
    moment = parse_date(message.date).strftime("%Y-%m-%d %H:%MZ")
    who = _who(message.sender.name, message.sender.id)
    lines = [f"[{where}{thread} | {who} | {moment}]"]
    if message.quote is not None:
        quote = message.quote
        whose = "you" if quote.ours else _who(quote.author, quote.author_id)
        lines.append(f'[in reply to {whose}: "{_fit(quote.text, 500)}"]')
    if message.forwarded is not None:
        origin = message.forwarded
        lines.append(f"[forwarded from {_who(origin.author, origin.author_id)}]")
    quoted = group or message.forwarded is not None
    if message.text or not message.media:
        lines.append(_quoted(message.text) if quoted else message.text)
    lines += [f"[{describe(media)}]" for media in message.media]
    return "\n".join(lines)


def describe(media: Media) -> str:
    """Describe an attachment by its name, type and size."""
    parts = [media.label]
    if media.name:
        parts.append(f'"{_fit(media.name)}"')
    if media.mime and media.kind not in ("image", "other"):
        parts.append(_fit(media.mime))
    if media.width and media.height:
        parts.append(f"{media.width}x{media.height}")
    if media.seconds:
        parts.append(f"{media.seconds} s")
    if media.size:
        parts.append(_size(media.size))
    if media.detail:
        parts.append(_fit(media.detail, 500))
    return ", ".join(parts)


def _who(name: str, number: str) -> str:
    if number == name:
        return f"id {_fit(number)}" if number else ""
    return f"{_fit(name)} (id {_fit(number)})" if number else _fit(name)


def _size(size: int) -> str:
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _fit(text: str, most: int = 80) -> str:
    return _UNFIT.sub(" ", text).strip()[:most]


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines() or [""])
