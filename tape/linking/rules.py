"""A linker's rules: for rooms that the model does not know, and where there is no model.

Real replies and threads come first, here and everywhere. Then, in this order: whom the message
mentions, what its author said last, who addressed its author, a short remark on the line before.
"""

from __future__ import annotations

from typing import Final

from tape.linking.features_text import gist
from tape.linking.room import Heard, LinkerRoom, minute
from tape.linking.utterance import THREAD, LaneLink, Utterance, starts

SHORT: Final = 6
"""Content words up to which a statement is taken for a remark on the line before."""

LULL: Final = 30.0
"""Minutes of silence after which someone in a room of one conversation starts another."""


def given(room: LinkerRoom, said: Utterance, replied_lane: str | None = None) -> LaneLink | None:
    """Return the link that the platform gives: a thread, or a reply; None where it gives none."""
    if said.thread is not None:
        lane = THREAD + said.thread
        known = room.lanes.get(lane)
        newest = known.heard[-1].key if known else None
        return LaneLink(lane, said.reply_to or newest, "thread")
    if said.reply_to is None:
        return None
    replied = room.by_key.get(said.reply_to)
    if replied is not None:
        return LaneLink(replied.lane, replied.key, "reply")
    if replied_lane is not None:
        return LaneLink(replied_lane, said.reply_to, "reply")
    return None


def by_rules(room: LinkerRoom, said: Utterance) -> LaneLink:
    """Link a message by the rules alone."""
    found = (
        _mentioned(room, said) or _own(room, said) or _addressed(room, said) or _remark(room, said)
    )
    if found is None:
        return starts(said)
    parent, why = found
    return LaneLink(parent.lane, parent.key, why)


def by_recency(room: LinkerRoom, said: Utterance) -> LaneLink:
    """Link a message in a room of one conversation at a time: to the last one, until a lull."""
    last = _last(room)
    if last is None or minute(said.at) - last.minute > LULL:
        return starts(said)
    return LaneLink(last.lane, last.key, "the only conversation")


def _mentioned(room: LinkerRoom, said: Utterance) -> tuple[Heard, str] | None:
    """Find the latest message of someone mentioned: one that mentions the author, else any."""
    for person in said.mentions:
        theirs = [heard for heard in room.authors.get(person, ()) if not heard.threaded]
        for heard in reversed(theirs):
            if said.author in heard.mentions and _within(said, heard, 60):
                return heard, "mention"
        if theirs and _within(said, theirs[-1], 120):
            return theirs[-1], "mention"
    return None


def _own(room: LinkerRoom, said: Utterance) -> tuple[Heard, str] | None:
    """Find the author's own last message, unless someone addressed them since."""
    own = room.last_of(said.author)
    if own is None or own.threaded or not _within(said, own, 8):
        return None
    for heard in reversed(room.heard):
        if heard is own:
            return own, "own last message"
        if said.author in heard.mentions:
            return None
    return None


def _addressed(room: LinkerRoom, said: Utterance) -> tuple[Heard, str] | None:
    """Find the last message that addresses the author."""
    for heard in reversed(room.heard):
        if not _within(said, heard, 15):
            return None
        if said.author in heard.mentions and not heard.threaded:
            return heard, "was addressed"
    return None


def _remark(room: LinkerRoom, said: Utterance) -> tuple[Heard, str] | None:
    """Find the line before a short remark."""
    last = _last(room)
    text = gist(said.text)
    if last is None or text.asks or len(text.words) > SHORT:
        return None
    return last, "short remark"


def _last(room: LinkerRoom) -> Heard | None:
    """Return the last message outside the platform's threads."""
    return next((heard for heard in reversed(room.heard) if not heard.threaded), None)


def _within(said: Utterance, heard: Heard, minutes: float) -> bool:
    """Tell whether a message is at most so many minutes old."""
    return minute(said.at) - heard.minute <= minutes
