"""The features of a new message that are the same in every comparison."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import log
from typing import Final

from tape.linking.features_text import gist
from tape.linking.room import Heard, LinkerRoom, minute, signs_of
from tape.linking.standing import stands_alone
from tape.linking.utterance import Utterance

Row = tuple[float, ...]
"""Features; each is a float, as the trees compare those four times as fast as ints and bools."""

LONG_AGO: Final = 999.0
RECENT_MESSAGES: Final = 20  # number of last messages from which the pace of a room is computed
UNKNOWN_WORD_WEIGHT: Final = 9.0  # weight of a word that the table of weights does not have

KIND_MESSAGES: Final = 60
"""Number of people's last messages that say which kind of room it is."""

MIN_PACE: Final = 0.05  # minimum minutes a message, as times are in whole minutes
RARE_WEIGHT: Final = 7.0  # minimum weight of a rare word


class MessageFeatures:
    """A new message with its features in the room."""

    def __init__(
        self, room: LinkerRoom, utterance: Utterance, weights: Mapping[int, float]
    ) -> None:
        text = gist(utterance.text)
        self.author = utterance.author
        self.mentions = frozenset(utterance.mentions)
        self.minute = minute(utterance.at)
        self.replied = utterance.reply_to is not None
        self.calls = utterance.calls
        self.alone = stands_alone(utterance.text)
        self.answer = room.answer_to_others(utterance)
        self.now = room.number
        self.own = room.last_of(utterance.author)
        self.own_to = _addressees(room, self.own) if self.own else frozenset()
        self.exchanges, self.exchanges_last = _exchanges(room, utterance.author)
        weighed = _weighed(room, text.words, weights)
        self.total = sum(weighed.values(), 0.0)
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
        self.kind = _kind(room, self)
        self.pace = max(self.kind[2], MIN_PACE)
        self.words = _words(self.shared, weighed, room)
        self.with_agent = _with_agent(room, self)


def _kind(room: LinkerRoom, new: MessageFeatures) -> Row:
    """Return what says which kind of room it is, and how long ago was what, by its pace.

    These are the shares of messages that mention somebody and that reply, minutes and words a
    message, and the minutes since the room's and the author's last message in those of a message.
    """
    mentions = replies = words = count = 0
    oldest = newest = None
    for heard in reversed(room.heard):
        if heard.agent:
            continue
        newest = newest or heard
        oldest = heard
        mentions += bool(heard.mentions)
        replies += heard.replied
        words += heard.length
        count += 1
        if count == KIND_MESSAGES:
            break
    if oldest is None or newest is None:
        return 0.0, 0.0, 0.0, 0.0, LONG_AGO, LONG_AGO
    minutes = (newest.minute - oldest.minute) / count
    pace = max(minutes, MIN_PACE)
    return (
        mentions / count,
        replies / count,
        minutes,
        words / count,
        (new.minute - newest.minute) / pace,
        (new.minute - new.own.minute) / pace if new.own else LONG_AGO,
    )


def _words(
    shared: Mapping[int, tuple[float, float]], weighed: Mapping[int, float], room: LinkerRoom
) -> Row:
    """Return how rare the words of a message are, and which of them the room knows."""
    known = [weight for word, weight in weighed.items() if word in room.frequency]
    unknown = [weight for word, weight in weighed.items() if word not in room.frequency]
    last = range(room.number - RECENT_MESSAGES // 2, room.number)
    return (
        float(len(known)),
        sum(known) / (sum(known) + sum(unknown) + 1),
        max(known, default=0.0),
        float(sum(weight >= RARE_WEIGHT for weight in unknown)),
        max(unknown, default=0.0),
        max((shared[number][0] for number in last if number in shared), default=0.0),
    )


def _with_agent(room: LinkerRoom, new: MessageFeatures) -> Row:
    """Return the features of what is said to the agent, and of the agent's last messages."""
    recent = list(islice(reversed(room.heard), RECENT_MESSAGES))
    last = room.by_agent[-1] if room.by_agent else None
    asker = room.asker(last) if last else None
    own = new.own
    answered = own is not None and any(heard.parent == own.key for heard in room.by_agent)
    return (
        float(new.calls),
        float(new.alone),
        float(new.answer is not None),
        float(sum(heard.agent for heard in recent)),
        float(sum(heard.calls for heard in recent)),
        float(asker == new.author),
        float(asker is not None and asker != new.author),
        float(new.now - last.number) if last else LONG_AGO,
        float(new.minute - last.minute) if last else LONG_AGO,
        float(own is not None and own.calls),
        float(answered),
    )


def _addressees(room: LinkerRoom, heard: Heard) -> frozenset[str]:
    parent = room.by_key.get(heard.parent) if heard.parent else None
    if parent is None or parent.agent:
        return frozenset(heard.mentions)
    return frozenset((*heard.mentions, parent.author))


def _exchanges(room: LinkerRoom, author: str) -> tuple[dict[str, float], dict[str, int]]:
    """Map people to their number of messages exchanged with an author, and to the last of these."""
    counts: dict[str, float] = {}
    last: dict[str, int] = {}
    for heard in room.authors.get(author, ()):
        for person in _addressees(room, heard):
            counts[person] = counts.get(person, 0.0) + 1
            last[person] = heard.number
    for heard in room.mentioning.get(author, ()):
        person = heard.author
        counts[person] = counts.get(person, 0.0) + 1
        last[person] = max(last.get(person, 0), heard.number)
    return counts, last


def _weighed(
    room: LinkerRoom, words: tuple[int, ...], weights: Mapping[int, float]
) -> dict[int, float]:
    count = len(room.heard) + 1
    return {
        word: min(weights.get(word, UNKNOWN_WORD_WEIGHT), log(count / room.frequency[word]) + 1)
        if word in room.frequency
        else weights.get(word, UNKNOWN_WORD_WEIGHT)
        for word in words
    }


def _shared(room: LinkerRoom, weighed: dict[int, float]) -> dict[int, tuple[float, float]]:
    """Map messages, by number, to the sum and maximum of the weights of shared words."""
    shared = {}
    words = frozenset(word for word in weighed if word in room.frequency)
    signs = signs_of(words)
    for heard in room.heard:
        if signs & heard.signs:
            found = [weighed[word] for word in heard.words if word in words]
            if found:
                shared[heard.number] = (sum(found), max(found))
    return shared


def _named(room: LinkerRoom, new: MessageFeatures, spoken: frozenset[str]) -> frozenset[str]:
    return frozenset(
        author
        for author, heard in room.authors.items()
        if len(heard[-1].called) > 2
        and heard[-1].called in spoken
        and author not in new.mentions
        and author != new.author
    )


def _own_past(room: LinkerRoom, new: MessageFeatures) -> Row:
    """Return the features of the author's last message, and of later messages to the author."""
    own = new.own
    addressing = room.mentioning.get(new.author, ())
    if own is None:
        return LONG_AGO, LONG_AGO, float(len(addressing)), 0.0, 0.0
    since = sum(heard.number > own.number for heard in addressing)
    return (
        float(new.now - own.number),
        float(new.minute - own.minute),
        float(since),
        float(len(room.authors[new.author])),
        float(bool(new.mentions & new.own_to)),
    )


def _pace(room: LinkerRoom, new: MessageFeatures) -> Row:
    """Return the pace of the room: times, authors, lanes, mentions of people's last messages."""
    authors, lanes, answered = set(), set(), 0
    oldest = newest = None
    said = (heard for heard in reversed(room.heard) if not heard.agent)
    for heard in islice(said, RECENT_MESSAGES):
        newest = newest or heard
        oldest = heard
        authors.add(heard.author)
        lanes.add(heard.lane)
        answered += bool(heard.mentions)
    if oldest is None or newest is None:
        return 0.0, LONG_AGO, 0.0, 0.0, 0.0
    return (
        float(new.minute - oldest.minute),
        float(new.minute - newest.minute),
        float(len(authors)),
        float(len(lanes)),
        float(answered),
    )
