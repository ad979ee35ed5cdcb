"""A new message in its room: what is computed once for it, whatever it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Final

from tape.linking.features_text import gist
from tape.linking.room import Heard, LinkerRoom, minute
from tape.linking.utterance import Utterance

LONG_AGO: Final = 999
NEAR: Final = 20
"""How many of the last messages tell what a room is like just now."""

RAREST: Final = 9.0
"""The weight of a word that is in no table."""


class MessageFeatures:
    """A new message, and how it stands to its room."""

    __slots__ = (
        "author",
        "exchanges",
        "exchanges_last",
        "mentions",
        "message",
        "minute",
        "named",
        "now",
        "own",
        "own_to",
        "replied",
        "shared",
        "total",
    )

    def __init__(self, room: LinkerRoom, said: Utterance, weights: Mapping[int, float]) -> None:
        """Compute what every comparison needs."""
        text = gist(said.text)
        self.author = said.author
        self.mentions = frozenset(said.mentions)
        self.minute = minute(said.at)
        self.replied = said.reply_to is not None
        self.now = room.number
        self.own = room.last_of(said.author)
        self.own_to = _addressees(room, self.own) if self.own else frozenset()
        self.exchanges, self.exchanges_last = _exchanges(room, said.author)
        weighed = _weighed(room, text.words, weights)
        self.total = sum(weighed.values())
        self.shared = _shared(room, weighed)
        self.named = _named(room, self, text.spoken)
        self.message = (
            float(text.length),
            float(text.asks),
            float(text.opens),
            float(text.holds),
            float(len(self.mentions)),
            float(sum(person in room.authors for person in self.mentions)),
            self.total,
            *_own_past(room, self),
            *_pace(room, self),
        )


def _addressees(room: LinkerRoom, heard: Heard) -> frozenset[str]:
    """Return whom a remembered message is for: those it mentions, and whose it goes on from."""
    parent = room.by_key.get(heard.parent) if heard.parent else None
    return frozenset((*heard.mentions, parent.author) if parent else heard.mentions)


def _exchanges(room: LinkerRoom, author: str) -> tuple[dict[str, int], dict[str, int]]:
    """Count how often someone and each other person spoke to each other, and when last."""
    counts: dict[str, int] = {}
    last: dict[str, int] = {}
    for heard in room.authors.get(author, ()):
        for person in _addressees(room, heard):
            counts[person] = counts.get(person, 0) + 1
            last[person] = heard.number
    for heard in room.mentioning.get(author, ()):
        person = heard.author
        counts[person] = counts.get(person, 0) + 1
        last[person] = max(last.get(person, 0), heard.number)
    return counts, last


def _weighed(
    room: LinkerRoom, words: tuple[int, ...], weights: Mapping[int, float]
) -> dict[int, float]:
    """Weigh words by their rarity, in general and in this room."""
    count = len(room.heard) + 1
    return {
        word: min(weights.get(word, RAREST), log(count / room.frequency[word]) + 1)
        if word in room.frequency
        else weights.get(word, RAREST)
        for word in words
    }


def _shared(room: LinkerRoom, weighed: dict[int, float]) -> dict[int, tuple[float, float]]:
    """Return the weight of the words shared with each remembered message that shares any.

    By the message's number: their sum, and the heaviest.
    """
    shared = {}
    words = frozenset(word for word in weighed if word in room.frequency)
    if words:
        for heard in room.heard:
            if not words.isdisjoint(heard.words):
                found = [weighed[word] for word in heard.words if word in words]
                shared[heard.number] = (sum(found), max(found))
    return shared


def _named(room: LinkerRoom, asked: MessageFeatures, spoken: frozenset[str]) -> frozenset[str]:
    """Return who is called by name in the text although the platform tells of no mention."""
    return frozenset(
        author
        for author, said in room.authors.items()
        if len(said[-1].called) > 2
        and said[-1].called in spoken
        and author not in asked.mentions
        and author != asked.author
    )


def _own_past(room: LinkerRoom, asked: MessageFeatures) -> tuple[float, ...]:
    """Say how the author was heard before, and who spoke to them since."""
    own = asked.own
    told = room.mentioning.get(asked.author, ())
    if own is None:
        return LONG_AGO, LONG_AGO, float(len(told)), 0.0, 0.0
    since = sum(heard.number > own.number for heard in told)
    return (
        float(asked.now - own.number),
        float(asked.minute - own.minute),
        float(since),
        float(len(room.authors[asked.author])),
        float(bool(asked.mentions & asked.own_to)),
    )


def _pace(room: LinkerRoom, asked: MessageFeatures) -> tuple[float, ...]:
    """Say how fast the room is just now, how many speak, and of how many things."""
    authors, lanes, answered = set(), set(), 0
    oldest = newest = None
    for count, heard in enumerate(reversed(room.heard)):
        if count == NEAR:
            break
        newest = newest or heard
        oldest = heard
        authors.add(heard.author)
        lanes.add(heard.lane)
        answered += bool(heard.mentions)
    if oldest is None or newest is None:
        return 0.0, LONG_AGO, 0.0, 0.0, 0.0
    return (
        float(asked.minute - oldest.minute),
        float(asked.minute - newest.minute),
        float(len(authors)),
        float(len(lanes)),
        float(answered),
    )
