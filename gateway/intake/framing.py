"""Frame a person's message for the model: a header, then the text.

    [12:03 #42 Ann] the first line
    > every further line
    [photo, 640x480]
    [forwarded message of #7 Zed, 2026-11-01 12:03]
    >> what the sender did not write (see `tape.excerpts`)
    [in it: photo, 640x480]
    [left out: 3 more files]

Only the gateway begins a line with `[` or `>> `. The header shows the time of the message itself in
UTC, and the person's short number in this chat. The format must never change: an entry is written
once, and every view shows the same bytes. The date stands above the first message of a day (see
`tape.turn_events`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agent.names import fit, fit_label, fit_quote, shown_name
from channels.message import Excerpt, InboundMessage, Media, Quote
from tape.entry import parse_date
from tape.excerpts import IN_IT, LEFT_OUT, MARK

MAX_QUOTE: Final = 500
MAX_DETAIL: Final = 4_000  # a poll or a checklist with all that stands in it

_BREAKS: Final = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def frame(message: InboundMessage, numbers: Mapping[str, int]) -> str:
    """Return the framed message; `numbers` maps the ids of the chat's people to short numbers."""
    moment = parse_date(message.date).strftime("%H:%M")
    header = f"{moment} {who(message.sender.id, message.sender.name, numbers)}"
    if message.quote is not None:
        header += f", replying to {_quoted(message.quote, numbers)}"
    if message.forwarded is not None:
        header += f", forwarding {_whose(message.forwarded, numbers)}"
    lines = [f"[{header}] {quoted(message.text)}" if message.text else f"[{header}]"]
    lines += [f"[{describe(media)}]" for media in message.media]
    for excerpt in message.excerpts:
        lines += _excerpt(excerpt, numbers)
    if message.omitted:
        lines.append(f"{LEFT_OUT}{', '.join(fit(one) for one in message.omitted)}]")
    return "\n".join(lines)


def people_of(message: InboundMessage) -> list[str]:
    """Return the ids of the people whom a message's frame names."""
    origins = (one for one in (message.quote, message.forwarded, *message.excerpts) if one)
    return [message.sender.id, *(one.author_id for one in origins if not one.ours)]


def quoted(text: str) -> str:
    """Return a person's text with a mark before every line but the first."""
    return _BREAKS.sub("\n> ", text)


def _quoted(quote: Quote, numbers: Mapping[str, int]) -> str:
    """Return whose message is replied to, with its words and what came with it."""
    whose = _whose(quote, numbers)
    words = [f'"{fit_quote(quote.text, MAX_QUOTE)}"'] if quote.text else []
    said = [*words, *(f"[{describe(media)}]" for media in quote.media)]
    return f"{whose}: {' '.join(said)}" if said else whose


def _whose(quote: Quote, numbers: Mapping[str, int]) -> str:
    return "you" if quote.ours else who(quote.author_id, quote.author, numbers)


def _excerpt(excerpt: Excerpt, numbers: Mapping[str, int]) -> list[str]:
    """Return the lines of an excerpt: two or more, by which it differs from a file."""
    header = fit_label(excerpt.label)
    if excerpt.ours:
        header += " of you"
    elif excerpt.author or excerpt.author_id in numbers:
        header += f" of {who(excerpt.author_id, excerpt.author, numbers)}"
    if moment := _moment(excerpt.date):
        header += f", {moment}"
    words = _BREAKS.sub(f"\n{MARK}", excerpt.text)
    lines = [f"[{header}]", *([f"{MARK}{words}"] if words else [])]
    inside = [describe(media) for media in excerpt.media]
    if not (words or inside):
        inside = ["nothing that can be read"]
    return [*lines, *(f"{IN_IT}{one}]" for one in inside)]


def _moment(date: str) -> str:
    try:
        return parse_date(date).strftime("%Y-%m-%d %H:%M") if date else ""
    except ValueError:  # it is another platform's word, and only shown
        return ""


def who(person: str, name: str, numbers: Mapping[str, int]) -> str:
    """Return how views name a person: the short number, if there is one, and the name."""
    return shown_name(name, numbers.get(person))


def describe(media: Media) -> str:
    """Describe an attachment by its name, type and size."""
    parts = [fit_label(media.label)]
    if media.name:
        parts.append(f'"{fit_quote(media.name)}"')
    if media.mime and media.kind not in ("image", "other"):
        parts.append(fit(media.mime))
    if media.width and media.height:
        parts.append(f"{media.width}x{media.height}")
    if media.seconds:
        parts.append(f"{media.seconds} s")
    if media.size:
        parts.append(_size(media.size))
    if media.detail:
        parts.append(fit(media.detail, MAX_DETAIL))
    return ", ".join(parts)


def _size(size: int) -> str:
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
