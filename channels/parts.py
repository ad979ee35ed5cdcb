"""Cuts a message that is too large for a platform, or for what stands before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from channels.markdown.split import split
from channels.message import OutboundMessage

SMALLEST: Final = 200  # characters of a text that is not cut further
ROOM: Final = 40  # characters that a half may be longer than half of the text


def in_parts(message: OutboundMessage) -> list[OutboundMessage]:
    """Return a message in two parts with keys of their own, or nothing if it is too short.

    The first part replies and becomes of the draft, the last one has the buttons.
    """
    text = message.text
    if len(text) < SMALLEST:
        return []
    pieces = split(text, len(text) // 2 + ROOM, len)
    if len(pieces) < 2:
        return []
    last = len(pieces) - 1
    return [
        replace(
            message,
            text=piece,
            idem=f"{message.idem}~{number}" if message.idem else "",
            edits=None if number else message.edits,
            reply_to=None if number else message.reply_to,
            piece=message.piece if not number else message.piece + number,
            buttons=message.buttons if number == last else (),
        )
        for number, piece in enumerate(pieces)
    ]
