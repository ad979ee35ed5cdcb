"""How a message of a person reads to a model: a header line, then the text, in groups as a quote.

The frame is fixed for ever: an entry is written once, and every view shows the same bytes. The time
is the message's own. Whatever a person writes or is called cannot look like a header.
"""

from __future__ import annotations

import re
from typing import Final

from channels.message import InboundMessage
from tape.entry import parse_date

_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f\[\]\u2028\u2029]+")


def frame(message: InboundMessage) -> str:
    """Return the text of a message's entry."""
    group = message.chat_kind == "group"
    where = _fit(message.chat_title or message.chat_id) if group else "private chat"
    thread = f" | thread {_fit(message.thread_id)}" if message.thread_id else ""
    moment = parse_date(message.date).strftime("%Y-%m-%d %H:%M UTC")
    who = f"{_fit(message.sender.name)} (id {_fit(message.sender.id)})"
    body = _quoted(message.text) if group else message.text
    return f"[{where}{thread} | {who} | {moment}]\n{body}"


def _fit(text: str) -> str:
    return _UNFIT.sub(" ", text).strip()[:80]


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines() or [""])
