"""Link threads and replies by rules, and other messages too if there is no model."""

from __future__ import annotations

from typing import Final

from tape.linking.features_text import gist
from tape.linking.room import Heard, LinkerRoom, minute
from tape.linking.standing import stands_alone
from tape.linking.utterance import (
    NO_SIGN,
    NOTHING_BEFORE,
    REPLY,
    SHORT_REMARK,
    SILENCE,
    THREAD,
    LaneLink,
    Utterance,
    starts,
)

MAX_REMARK_WORDS: Final = 6  # maximum content words of a remark on the previous message
LULL_MINUTES: Final = 30.0
"""Minutes of silence after which a room with a single conversation starts another."""


def given(room: LinkerRoom, new: Utterance, replied_lane: str | None = None) -> LaneLink | None:
    """Return the link given by a platform's thread or reply, or None if there is neither.

    A reply to what the agent said in others' conversation may only be a way of asking it, so that
    such a reply joins only if it does not stand alone.
    """
    if new.thread is not None:
        lane = THREAD + new.thread
        known = room.lanes.get(lane)
        newest = known.heard[-1].key if known else None
        return LaneLink(lane, new.reply_to or newest, "thread")
    if new.reply_to is None:
        return None
    if room.answer_to_others(new) is not None and stands_alone(new.text):
        return None
    replied = room.by_key.get(new.reply_to)
    if replied is not None:
        return LaneLink(replied.lane, replied.key, REPLY)
    if replied_lane is not None:
        return LaneLink(replied_lane, new.reply_to, REPLY)
    return None


def by_rules(room: LinkerRoom, new: Utterance) -> LaneLink:
    found = _mentioned(room, new) or _own(room, new) or _addressed(room, new) or _remark(room, new)
    if found is None:
        return starts(new, NO_SIGN if _last(room) else NOTHING_BEFORE)
    parent, why = found
    return LaneLink(parent.lane, parent.key, why)


def by_recency(room: LinkerRoom, new: Utterance) -> LaneLink:
    """Link a message to the last one, or after a lull to none; for rooms of one conversation."""
    last = _last(room)
    if last is None:
        return starts(new, NOTHING_BEFORE)
    if (silent := minute(new.at) - last.minute) > LULL_MINUTES:
        return starts(new, f"{SILENCE} {silent}")
    return LaneLink(last.lane, last.key, "the only conversation")


def _mentioned(room: LinkerRoom, new: Utterance) -> tuple[Heard, str] | None:
    """Find the last message of a person mentioned, preferably one that mentions the author."""
    for person in new.mentions:
        theirs = [heard for heard in room.authors.get(person, ()) if not heard.threaded]
        for heard in reversed(theirs):
            if new.author in heard.mentions and _within(new, heard, 60):
                return heard, "mention"
        if theirs and _within(new, theirs[-1], 120):
            return theirs[-1], "mention"
    return None


def _own(room: LinkerRoom, new: Utterance) -> tuple[Heard, str] | None:
    own = room.last_of(new.author)
    if own is None or own.threaded or not _within(new, own, 8):
        return None
    for heard in reversed(room.heard):
        if heard is own:
            return own, "own last message"
        if new.author in heard.mentions:
            return None
    return None


def _addressed(room: LinkerRoom, new: Utterance) -> tuple[Heard, str] | None:
    for heard in reversed(room.heard):
        if not _within(new, heard, 15):
            return None
        if new.author in heard.mentions and not heard.threaded:
            return heard, "was addressed"
    return None


def _remark(room: LinkerRoom, new: Utterance) -> tuple[Heard, str] | None:
    last = _last(room)
    text = gist(new.text)
    if last is None or text.asks or len(text.words) > MAX_REMARK_WORDS:
        return None
    # What is said to the agent after its answer to somebody else may be a task of its own.
    to_others = last.agent and room.asker(last) != new.author
    return None if new.calls and to_others and stands_alone(new.text) else (last, SHORT_REMARK)


def _last(room: LinkerRoom) -> Heard | None:
    return next((heard for heard in reversed(room.heard) if not heard.threaded), None)


def _within(new: Utterance, heard: Heard, minutes: float) -> bool:
    return minute(new.at) - heard.minute <= minutes
