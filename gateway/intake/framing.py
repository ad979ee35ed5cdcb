"""Frame a person's message for the model: a header, then the text.

    [12:03 #42 Ann] the first line
    > every further line
    [photo, 640x480]

Only the gateway begins a line with `[`. The header shows the time of the message itself in UTC, and
the person's short number in this chat. The format must never change: an entry is written once, and
every view shows the same bytes. The date stands above the first message of a day (see
`tape.turn_events`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agent.names import fit, fit_quote, shown_name
from channels.message import InboundMessage, Media
from tape.entry import parse_date

MAX_QUOTE: Final = 500

_BREAKS: Final = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def frame(message: InboundMessage, numbers: Mapping[str, int]) -> str:
    """Return the framed message; `numbers` maps the ids of the chat's people to short numbers."""
    moment = parse_date(message.date).strftime("%H:%M")
    header = f"{moment} {who(message.sender.id, message.sender.name, numbers)}"
    if message.quote is not None:
        quote = message.quote
        whose = "you" if quote.ours else who(quote.author_id, quote.author, numbers)
        header += f', replying to {whose}: "{fit_quote(quote.text, MAX_QUOTE)}"'
    if message.forwarded is not None:
        origin = message.forwarded
        header += f", forwarding {who(origin.author_id, origin.author, numbers)}"
    lines = [f"[{header}] {quoted(message.text)}" if message.text else f"[{header}]"]
    lines += [f"[{describe(media)}]" for media in message.media]
    return "\n".join(lines)


def people_of(message: InboundMessage) -> list[str]:
    """Return the ids of the people whom a message's frame names."""
    origins = (origin for origin in (message.quote, message.forwarded) if origin is not None)
    return [message.sender.id, *(one.author_id for one in origins if not one.ours)]


def quoted(text: str) -> str:
    """Return a person's text with a mark before every line but the first."""
    return _BREAKS.sub("\n> ", text)


def who(person: str, name: str, numbers: Mapping[str, int]) -> str:
    """Return how views name a person: the short number, if there is one, and the name."""
    return shown_name(name, numbers.get(person))


def describe(media: Media) -> str:
    """Describe an attachment by its name, type and size."""
    parts = [media.label]
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
        parts.append(fit(media.detail, MAX_QUOTE))
    return ", ".join(parts)


def _size(size: int) -> str:
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
