"""Link by rules: real threads and replies always, the others if there is no model.

The order of the others: the people whom the message mentions, its author's last message, a message
that addresses the author, a short remark on the line before.
"""

from __future__ import annotations

from typing import Final

from tape.linking.features_text import gist
from tape.linking.room import Heard, LinkerRoom, minute
from tape.linking.utterance import THREAD, LaneLink, Utterance, starts

MAX_REMARK_WORDS: Final = 6
"""Maximum content words of a remark on the line before."""

LULL_MINUTES: Final = 30.0
"""Minutes of silence after which a room of one conversation starts another."""


def given(
    room: LinkerRoom, utterance: Utterance, replied_lane: str | None = None
) -> LaneLink | None:
    """Return the link of a platform's thread or reply; None if there is neither."""
    if utterance.thread is not None:
        lane = THREAD + utterance.thread
        known = room.lanes.get(lane)
        newest = known.heard[-1].key if known else None
        return LaneLink(lane, utterance.reply_to or newest, "thread")
    if utterance.reply_to is None:
        return None
    replied = room.by_key.get(utterance.reply_to)
    if replied is not None:
        return LaneLink(replied.lane, replied.key, "reply")
    if replied_lane is not None:
        return LaneLink(replied_lane, utterance.reply_to, "reply")
    return None


def by_rules(room: LinkerRoom, utterance: Utterance) -> LaneLink:
    """Link a message by the rules."""
    found = (
        _mentioned(room, utterance)
        or _own(room, utterance)
        or _addressed(room, utterance)
        or _remark(room, utterance)
    )
    if found is None:
        return starts(utterance)
    parent, why = found
    return LaneLink(parent.lane, parent.key, why)


def by_recency(room: LinkerRoom, utterance: Utterance) -> LaneLink:
    """Link a message to the last one, until a lull: the room has one conversation at a time."""
    last = _last(room)
    if last is None or minute(utterance.at) - last.minute > LULL_MINUTES:
        return starts(utterance)
    return LaneLink(last.lane, last.key, "the only conversation")


def _mentioned(room: LinkerRoom, utterance: Utterance) -> tuple[Heard, str] | None:
    """Find the last message of a person mentioned, preferably one that mentions the author."""
    for person in utterance.mentions:
        theirs = [heard for heard in room.authors.get(person, ()) if not heard.threaded]
        for heard in reversed(theirs):
            if utterance.author in heard.mentions and _within(utterance, heard, 60):
                return heard, "mention"
        if theirs and _within(utterance, theirs[-1], 120):
            return theirs[-1], "mention"
    return None


def _own(room: LinkerRoom, utterance: Utterance) -> tuple[Heard, str] | None:
    """Find the author's own last message, unless another message addressed them since."""
    own = room.last_of(utterance.author)
    if own is None or own.threaded or not _within(utterance, own, 8):
        return None
    for heard in reversed(room.heard):
        if heard is own:
            return own, "own last message"
        if utterance.author in heard.mentions:
            return None
    return None


def _addressed(room: LinkerRoom, utterance: Utterance) -> tuple[Heard, str] | None:
    for heard in reversed(room.heard):
        if not _within(utterance, heard, 15):
            return None
        if utterance.author in heard.mentions and not heard.threaded:
            return heard, "was addressed"
    return None


def _remark(room: LinkerRoom, utterance: Utterance) -> tuple[Heard, str] | None:
    last = _last(room)
    text = gist(utterance.text)
    if last is None or text.asks or len(text.words) > MAX_REMARK_WORDS:
        return None
    return last, "short remark"


def _last(room: LinkerRoom) -> Heard | None:
    return next((heard for heard in reversed(room.heard) if not heard.threaded), None)


def _within(utterance: Utterance, heard: Heard, minutes: float) -> bool:
    return minute(utterance.at) - heard.minute <= minutes
