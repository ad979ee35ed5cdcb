"""The last messages that a linker remembers of one chat, with counts."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from sys import intern
from typing import Final, TypeVar

from tape.linking.asleep import REACH, Asleep, Outline
from tape.linking.features_text import called, gist
from tape.linking.standing import stands_alone
from tape.linking.utterance import THREAD, LaneLink, Utterance

WINDOW: Final = 200
MAX_TEXT_CHARACTERS: Final = 200  # maximum characters of a text to remember, in which to find names
SIGNS: Final = 240  # bits of a number that Python computes with in eight steps
K = TypeVar("K")


def minute(at: float) -> int:
    """Convert a time in unix seconds to a minute."""
    # Some logs have no seconds, so a model trained on them must not see any.
    return int(at // 60)


def signs_of(words: Iterable[int]) -> int:
    """Return a number with a bit for each word; two with no bit in common have no word in common.

    Several words share a bit.
    """
    signs = 0
    for word in words:
        signs |= 1 << word % SIGNS
    return signs


class Heard:
    """What the linker remembers of a message.

    alone  whether its text stands alone
    signs  of its words, by which most messages without a word of another are passed over; see
           `signs_of`
    """

    __slots__ = (
        "agent",
        "alone",
        "asks",
        "author",
        "called",
        "calls",
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
        "reply_to",
        "signs",
        "text",
        "threaded",
        "words",
    )

    def __init__(self, utterance: Utterance, link: LaneLink, number: int) -> None:
        text = gist(utterance.text)
        self.key = utterance.key
        self.minute = minute(utterance.at)
        self.author = intern(utterance.author)
        self.called = intern(called(utterance.name))
        self.mentions = tuple(map(intern, utterance.mentions))
        self.agent = utterance.agent
        self.calls = utterance.calls
        self.alone = stands_alone(utterance.text)
        self.reply_to = utterance.reply_to
        self.replied = utterance.reply_to is not None
        self.threaded = link.lane.startswith(THREAD)
        self.lane = intern(link.lane)
        self.parent = link.parent
        self.number = number
        self.words = array("H", text.words)
        self.signs = signs_of(text.words)
        self.length = text.length
        self.opens = text.opens
        self.asks = text.asks
        self.holds = text.holds
        self.text = utterance.text[:MAX_TEXT_CHARACTERS]

    def as_utterance(self) -> Utterance:
        """Return the message as far as it is remembered."""
        return Utterance(
            key=self.key,
            at=self.minute * 60.0,
            author=self.author,
            name=self.called,
            text=self.text,
            mentions=self.mentions,
            reply_to=self.reply_to,
            agent=self.agent,
            calls=self.calls,
        )


@dataclass(slots=True)
class Lane:
    """The remembered messages of one conversation, oldest first; `authors` counts each person's."""

    heard: list[Heard] = field(default_factory=list)
    authors: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class LinkerRoom:
    """The last `most` messages of one chat and their links, and outlines of the `reach` before.

    It depends on nothing else: a room replayed from the tape links like the original. A message
    with the key of one of the `most` before it is another version of that one: it is counted, and
    not remembered.

    answers     maps a message's key to the number of remembered messages that continue it
    authors     maps a person to the messages that the person wrote
    mentioning  maps a person to the messages that mention the person
    by_agent    the agent's messages
    again       maps the key of a message that was said twice to the number of the last time
    asleep      the outlines

    The agent is no person: its messages count in no map of people.
    """

    most: int = WINDOW
    reach: int = REACH
    number: int = field(default=0, init=False)
    heard: list[Heard] = field(default_factory=list, init=False)
    by_key: dict[str, Heard] = field(default_factory=dict, init=False)
    answers: dict[str, int] = field(default_factory=dict, init=False)
    authors: dict[str, list[Heard]] = field(default_factory=dict, init=False)
    mentioning: dict[str, list[Heard]] = field(default_factory=dict, init=False)
    by_agent: list[Heard] = field(default_factory=list, init=False)
    again: dict[str, int] = field(default_factory=dict, init=False)
    lanes: dict[str, Lane] = field(default_factory=dict, init=False)
    frequency: dict[int, int] = field(default_factory=dict, init=False)
    asleep: Asleep = field(init=False)

    def __post_init__(self) -> None:
        self.asleep = Asleep(self.reach)

    def __len__(self) -> int:
        return len(self.heard)

    def add(self, utterance: Utterance, link: LaneLink) -> None:
        """Remember a message and its link, unless the key is known; forget what is too old."""
        if utterance.key in self.by_key or utterance.key in self.again:
            self.again[utterance.key] = self.number
            self.number += 1
        else:
            self.remember(Heard(utterance, link, self.number))
        first = self.first
        while self.heard and self.heard[0].number < first:
            self._forget()
        if self.again:
            self.again = {key: number for key, number in self.again.items() if number >= first}

    @property
    def first(self) -> int:
        """The number of the first of the last `most` messages, or less if there are fewer."""
        return self.number - self.most

    def recall(self, older: Asleep) -> None:
        """Keep outlines of messages before all that were remembered."""
        for outline, words in self.asleep:
            older.add(outline, words)
        self.asleep = older

    def outlines_of(self, older: Iterable[tuple[Utterance, LaneLink]]) -> Asleep:
        """Return outlines of messages, oldest first; the room is left as it is.

        To know which of them are versions of others, give the `most` messages before the oldest of
        which an outline is to be kept, too.
        """
        asleep, seen = Asleep(self.reach), dict[str, int]()
        for number, (said, link) in enumerate(older):
            earlier = seen.get(said.key)
            seen[said.key] = number
            if earlier is not None and number - earlier <= self.most:
                continue
            author = "" if said.agent else intern(said.author)
            outline = Outline(intern(link.lane), said.key, author, minute(said.at))
            asleep.add(outline, gist(said.text).words)
        return asleep

    def last_of(self, author: str) -> Heard | None:
        own = self.authors.get(author)
        return own[-1] if own else None

    def begins(self, heard: Heard) -> bool:
        """Return whether a remembered message begins its conversation."""
        return heard.parent is None and self.lanes[heard.lane].heard[0] is heard

    def asker(self, heard: Heard) -> str | None:
        """Return whom one of the agent's messages answers, or None if that is not remembered."""
        asked = self.by_key.get(heard.parent) if heard.agent and heard.parent else None
        return asked.author if asked else None

    def answer_to_others(self, utterance: Utterance) -> Heard | None:
        """Return the agent's message in others' conversation that is replied to, if any."""
        replied = self.by_key.get(utterance.reply_to) if utterance.reply_to else None
        if replied is None or not replied.agent:
            return None
        return None if utterance.author in self.lanes[replied.lane].authors else replied

    def before(self, key: str) -> LinkerRoom:
        """Return the room as it was just before a remembered message."""
        room = LinkerRoom(self.most, self.reach)
        for heard in self.heard:
            if heard.key == key:
                break
            room.remember(heard)
        return room

    def remember(self, new: Heard) -> None:
        """Add a message to the window, which forgets none."""
        self.number = new.number + 1
        self.heard.append(new)
        self.by_key[new.key] = new
        lane = self.lanes.setdefault(new.lane, Lane())
        lane.heard.append(new)
        if new.agent:
            self.by_agent.append(new)
        else:
            lane.authors[new.author] = lane.authors.get(new.author, 0) + 1
            self.authors.setdefault(new.author, []).append(new)
            for person in set(new.mentions):
                self.mentioning.setdefault(person, []).append(new)
        for word in new.words:
            self.frequency[word] = self.frequency.get(word, 0) + 1
        if new.parent is not None:
            self.answers[new.parent] = self.answers.get(new.parent, 0) + 1

    def _forget(self) -> None:
        old = self.heard.pop(0)
        del self.by_key[old.key]
        if old.parent is not None:
            _fewer(self.answers, old.parent)
        lane = self.lanes[old.lane]
        lane.heard.pop(0)
        if old.agent:
            self.by_agent.pop(0)
        else:
            _fewer(lane.authors, old.author)
            _drop(self.authors, old.author)
            for person in set(old.mentions):
                _drop(self.mentioning, person)
        if not lane.heard:
            del self.lanes[old.lane]
        for word in old.words:
            _fewer(self.frequency, word)
        author = "" if old.agent else old.author
        self.asleep.add(Outline(old.lane, old.key, author, old.minute), old.words)


def _drop(queues: dict[str, list[Heard]], key: str) -> None:
    queue = queues[key]
    queue.pop(0)
    if not queue:
        del queues[key]


def _fewer(counts: dict[K, int], key: K) -> None:
    if counts[key] == 1:
        del counts[key]
    else:
        counts[key] -= 1
