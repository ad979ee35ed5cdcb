"""Wake a sleeping lane where a message would begin one of its own.

A lane sleeps if the room's window has none of its messages. It is woken by a message that has
several rare words in common with one of its messages, which makes up much of what the new message
says; less is enough where its author or those whom it mentions took part.

A score of a few facts decides, not trees: what was learned from the same rows recognized fewer
lanes (docs/explanation/linking.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import Final

from tape.linking.features_message import UNKNOWN_WORD_WEIGHT
from tape.linking.features_text import gist
from tape.linking.room import LinkerRoom, minute
from tape.linking.utterance import THREAD, LaneLink, Utterance

WOKE: Final = "woke"
"""Why a message is in a conversation: it returns to what was said there long before."""

RAREST: Final = 12
"""Maximum words of a message that are looked up, the rarest first."""

MAX_HOLDERS: Final = 100
"""Maximum forgotten messages with a word; one that is in more is not looked up."""

MIN_SHARED: Final = 2
"""Minimum words that a message has in common with one of the lane."""

OF_COVERED: Final = 12.0
OF_AUTHOR: Final = 8.0
OF_MENTIONED: Final = 8.0
OF_SIZE: Final = 2.0
"""What counts beside the weight of the shared words: the share of the message that they cover; that
its author took part in the lane, and that somebody did whom it mentions; and, against it, the
logarithms of the lane's messages and, once, of its days asleep.
"""

LEAST: Final = 28.0
"""The score from which on a lane is woken."""

MINUTES_PER_DAY: Final = 1440
SCALE: Final = 5.0  # added to a message's own weight, so that two short ones prove little


@dataclass(slots=True)
class _Found:
    """A sleeping lane that shares words with a message; its size and people are of its outlines."""

    shared: float
    covered: float
    size: int = 0
    key: str = ""
    minute: int = 0
    authors: set[str] = field(default_factory=set)


def or_woken(
    room: LinkerRoom, new: Utterance, link: LaneLink, weights: Mapping[int, float]
) -> LaneLink:
    """Return the link to the lane that a message wakes, or the one given if it wakes none."""
    if link.parent is not None or not len(room.asleep):
        return link
    found = _found(room, new, weights)
    if not found:
        return link
    for outline in room.asleep.outlines:
        lane = found.get(outline.lane)
        if lane is not None:
            lane.size += 1
            lane.key, lane.minute = outline.key, outline.minute
            lane.authors.add(outline.author)
    score, name = max((_score(lane, new), name) for name, lane in found.items())
    return LaneLink(name, found[name].key, WOKE) if score >= LEAST else link


def _found(room: LinkerRoom, new: Utterance, weights: Mapping[int, float]) -> dict[str, _Found]:
    """Return the sleeping lanes with a message that has enough in common with the new one."""
    known = {word: weights.get(word, UNKNOWN_WORD_WEIGHT) for word in gist(new.text).words}
    rarest = sorted(known, key=lambda word: -known[word])[:RAREST]
    holders = room.asleep.holders(rarest, MAX_HOLDERS)
    everything = len(room) + len(room.asleep) + 1
    total = SCALE
    shared: dict[int, float] = {}
    counts: dict[int, int] = {}
    for word in rarest:
        weight, places = known[word], holders.get(word, ())
        if places:
            seen = len(places) + room.frequency.get(word, 0)
            weight = min(weight, log(everything / seen) + 1)
        total += weight
        for place in places:
            shared[place] = shared.get(place, 0.0) + weight
            counts[place] = counts.get(place, 0) + 1
    found: dict[str, _Found] = {}
    for place, weight in shared.items():
        lane = room.asleep.outlines[place].lane
        likely = weight + OF_COVERED * weight / total + OF_AUTHOR + OF_MENTIONED >= LEAST
        if counts[place] < MIN_SHARED or not likely or lane in room.lanes:
            continue
        if (lane not in found or weight > found[lane].shared) and not lane.startswith(THREAD):
            found[lane] = _Found(weight, weight / total)
    return found


def _score(lane: _Found, new: Utterance) -> float:
    lane.authors.discard("")
    author = new.author in lane.authors
    if new.calls and not author:
        return 0.0  # What somebody asks the agent takes no part in what others spoke of before.
    days = max(0, minute(new.at) - lane.minute) / MINUTES_PER_DAY
    return (
        lane.shared
        + OF_COVERED * lane.covered
        + OF_AUTHOR * author
        + OF_MENTIONED * (not lane.authors.isdisjoint(new.mentions))
        - OF_SIZE * log(lane.size)
        - log(1 + days)
    )
