"""Groups of twenty people in which nobody asks the agent, but where a measurement does."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from random import Random
from typing import Final

from bench.rooms import NAMES, SUBJECTS, Talk
from bench.stage import USERNAME
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.updates import Update
from tests.fakes.telegram.world import Chat, User

PEOPLE: Final = 20
TALKS: Final = 3
MENTIONS: Final = 0.2
REPLIES: Final = 0.15
_FIRST_CHAT: Final = -1_005_000_000_000
_FIRST_PERSON: Final = 1_000_000  # nobody may have the bot's number: it does not hear itself


@dataclass(slots=True)
class Group:
    """A group with three conversations, in which so many lines were `said` before.

    The same number says the same; its people are its own.
    """

    telegram: FakeTelegram
    number: int
    said: int = 0
    _random: Random = field(init=False)
    _chat: Chat = field(init=False)
    _people: dict[str, User] = field(init=False)
    _talks: list[Talk] = field(init=False)
    _ids: dict[int, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._random = Random(f"group {self.number} {self.said}")
        people = Random(f"group {self.number}")
        self._chat = self.telegram.group(_FIRST_CHAT - self.number, f"Group {self.number}")
        self._chat.ids = itertools.count(2 + self.said)
        names = people.sample(NAMES, PEOPLE)
        first = _FIRST_PERSON + self.number * PEOPLE
        self._people = {
            name: self.telegram.user(first + at, name.title()) for at, name in enumerate(names)
        }
        subjects = people.sample(SUBJECTS, TALKS)
        self._talks = [Talk(subjects[at].split(), names[at::TALKS]) for at in range(TALKS)]

    def say(self) -> None:
        """Send a message of somebody to the group, which asks nothing."""
        talk, replied = self._random.choice(self._talks), None
        if talk.last and self._random.random() < REPLIES:
            replied = self._ids.get(talk.last[-1][0])
        who, text = talk.go_on(self._random, self.said, MENTIONS)
        self.telegram.say(self._chat, self._people[who], text, reply_to=replied)
        self._ids[self.said] = next(reversed(self._chat.messages))
        self.said += 1

    def ask(self, number: int) -> Update:
        """Send a question to the agent; `number` tells it from the others."""
        who = self._random.choice(list(self._people.values()))
        text = f"@{USERNAME} question {number}: is the deploy of the billing service through?"
        self.telegram.say(self._chat, who, text)
        return self.telegram.updates.all[-1]

    def forget(self) -> None:
        """Drop the group's messages from the fake, to keep its memory small."""
        self._chat.messages.clear()
        self._ids.clear()


@dataclass(slots=True)
class Groups:
    """The first `count` groups, in each of which so many lines were said before."""

    telegram: FakeTelegram
    count: int
    said: int
    _random: Random = field(default_factory=lambda: Random("groups"), init=False)
    _made: dict[int, Group] = field(default_factory=dict, init=False)

    def one(self, number: int) -> Group:
        """Return the group of this number."""
        if number not in self._made:
            self._made[number] = Group(self.telegram, number, self.said)
        return self._made[number]

    def any(self) -> Group:
        """Return a group at random."""
        return self.one(self._random.randrange(self.count))

    def each(self) -> list[Group]:
        """Return all groups, in an order at random."""
        numbers = self._random.sample(range(self.count), self.count)
        return [self.one(number) for number in numbers]
