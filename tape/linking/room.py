"""What a linker remembers of one chat: a bounded window, and what can be computed from it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from sys import intern
from typing import Final, TypeVar

from tape.linking.features_text import called, gist
from tape.linking.utterance import THREAD, LaneLink, Utterance

WINDOW: Final = 200
REMEMBERED: Final = 200
"""Characters of a text that are remembered, for the names in it."""

K = TypeVar("K")


def minute(at: float) -> int:
    """Return the minute of a time: where clocks show no more, finer ones must not differ."""
    return int(at // 60)


class Heard:
    """A remembered message: what a linker needs of it."""

    __slots__ = (
        "agent",
        "asks",
        "author",
        "called",
        "holds",
        "key",
        "lane",
        "length",
        "mentions",
        "minute",
        "number",
        "opens",
        "parent",
        "replied",
        "text",
        "threaded",
        "words",
    )

    def __init__(self, said: Utterance, link: LaneLink, number: int) -> None:
        """Keep what matters of a message; `number` counts the messages of its room."""
        text = gist(said.text)
        self.key = said.key
        self.minute = minute(said.at)
        self.author = intern(said.author)
        self.called = intern(called(said.name))
        self.mentions = tuple(map(intern, said.mentions))
        self.agent = said.agent
        self.replied = said.reply_to is not None
        self.threaded = link.lane.startswith(THREAD)
        self.lane = intern(link.lane)
        self.parent = link.parent
        self.number = number
        self.words = array("H", text.words)
        self.length = text.length
        self.opens = text.opens
        self.asks = text.asks
        self.holds = text.holds
        self.text = said.text[:REMEMBERED]

    def as_said(self) -> Utterance:
        """Return it as it was said, as far as it is remembered."""
        replied = self.parent if self.replied else None
        at = self.minute * 60.0
        return Utterance(self.key, at, self.author, self.called, self.text, self.mentions, replied)


@dataclass(slots=True)
class Lane:
    """The remembered messages of one conversation, oldest first."""

    heard: list[Heard] = field(default_factory=list)
    authors: dict[str, int] = field(default_factory=dict)


class LinkerRoom:
    """What a linker remembers of one chat: the last `most` messages, and nothing else.

    It is a function of these messages and their links: a room that was replayed from the tape links
    as the one that was never forgotten.
    """

    __slots__ = (
        "answers",
        "authors",
        "by_key",
        "frequency",
        "heard",
        "lanes",
        "mentioning",
        "most",
        "number",
    )

    def __init__(self, most: int = WINDOW) -> None:
        """Make an empty room."""
        self.most = most
        self.number = 0
        self.heard: list[Heard] = []
        self.by_key: dict[str, Heard] = {}
        self.answers: dict[str, int] = {}
        """How many remembered messages go on from one, by its key."""
        self.authors: dict[str, list[Heard]] = {}
        self.mentioning: dict[str, list[Heard]] = {}
        """By whom is mentioned."""
        self.lanes: dict[str, Lane] = {}
        self.frequency: dict[int, int] = {}

    def __len__(self) -> int:
        """Return how many messages are remembered."""
        return len(self.heard)

    @classmethod
    def replay(cls, pairs: Iterable[tuple[Utterance, LaneLink]], most: int = WINDOW) -> LinkerRoom:
        """Make a room of messages and their recorded links, oldest first."""
        room = cls(most)
        for said, link in pairs:
            room.add(said, link)
        return room

    def add(self, said: Utterance, link: LaneLink) -> None:
        """Remember a message and its link; forget the oldest where the room is full.

        A key that is known already changes nothing.
        """
        if said.key in self.by_key:
            return
        self._keep(Heard(said, link, self.number))
        if len(self.heard) > self.most:
            self._forget()

    def last_of(self, author: str) -> Heard | None:
        """Return the last remembered message of someone."""
        said = self.authors.get(author)
        return said[-1] if said else None

    def before(self, key: str) -> LinkerRoom:
        """Return the room as it was when a remembered message came, as far as it is remembered."""
        room = LinkerRoom(self.most)
        for heard in self.heard:
            if heard.key == key:
                break
            room._keep(heard)
        return room

    def _keep(self, new: Heard) -> None:
        """Remember a message."""
        self.number = new.number + 1
        self.heard.append(new)
        self.by_key[new.key] = new
        self.authors.setdefault(new.author, []).append(new)
        for person in set(new.mentions):
            self.mentioning.setdefault(person, []).append(new)
        lane = self.lanes.setdefault(new.lane, Lane())
        lane.heard.append(new)
        lane.authors[new.author] = lane.authors.get(new.author, 0) + 1
        for word in new.words:
            self.frequency[word] = self.frequency.get(word, 0) + 1
        if new.parent is not None:
            self.answers[new.parent] = self.answers.get(new.parent, 0) + 1

    def _forget(self) -> None:
        """Forget the oldest message, and all that was counted of it."""
        old = self.heard.pop(0)
        del self.by_key[old.key]
        if old.parent is not None:
            _fewer(self.answers, old.parent)
        _drop(self.authors, old.author)
        for person in set(old.mentions):
            _drop(self.mentioning, person)
        lane = self.lanes[old.lane]
        lane.heard.pop(0)
        _fewer(lane.authors, old.author)
        if not lane.heard:
            del self.lanes[old.lane]
        for word in old.words:
            _fewer(self.frequency, word)


def _drop(queues: dict[str, list[Heard]], key: str) -> None:
    """Take the first of a queue away, and the queue where it was the last."""
    queue = queues[key]
    queue.pop(0)
    if not queue:
        del queues[key]


def _fewer(counts: dict[K, int], key: K) -> None:
    """Count one less."""
    if counts[key] == 1:
        del counts[key]
    else:
        counts[key] -= 1
