"""Lanes, the conversations on one tape, and which anchors hold in them.

The lane of a topic, `topic:` and the topic's id, is apart: a topic of a private chat is a
conversation of its own beside the rest of the chat, of which it shows nothing, and which shows
nothing of it. Only the start and a reset of the whole chat hold in both. Search finds all.
"""

from __future__ import annotations

from typing import Final

from tape.entry import SESSION_START, Entry

TOPIC: Final = "topic:"
CHAT_WIDE: Final = (SESSION_START, "session/reset")
"""The anchors that, without a lane, hold even in the lanes that are apart."""


def topic_lane(topic: str) -> str:
    """Return the lane of a topic with an id."""
    return f"{TOPIC}{topic}"


def is_apart(lane: object) -> bool:
    """Return whether a lane is a topic's, which views without a lane leave out."""
    return isinstance(lane, str) and lane.startswith(TOPIC)


def shown_in(entry: Entry, lane: str | None) -> bool:
    """Return whether a view of a lane, or of the chat without one, may show an entry of a tape.

    A view of a lane is read by that lane, so only the view without a lane has more to leave out.
    """
    return lane is not None or not is_apart(entry.meta.get("lane"))


def holds_in(anchor: Entry, lane: str | None) -> bool:
    """Return whether an anchor of a lane, or without one, holds in a lane, or in the chat."""
    own = anchor.meta.get("lane")
    if not isinstance(own, str):
        return not is_apart(lane) or anchor.name in CHAT_WIDE
    return own == lane if lane is not None else not is_apart(own)
