"""People who ask in many chats, and what became of their questions."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from typing import Final

from bench.stage import LONGEST, USERNAME, Stage, number_of
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.updates import Update
from tests.fakes.telegram.world import Chat, User

PEOPLE: Final = 25
"""So many people are in all groups together."""

_POLL: Final = 0.02
_SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Question:
    """A question by its number, and the update by which the bot gets it."""

    number: int
    update: Update


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of questions; durations in seconds since the update was handed out.

    missing  how many were not answered
    again    how many answers were more than the one that a question has
    """

    to_model: list[float]
    to_answer: list[float]
    missing: int
    again: int


@dataclass(slots=True)
class Crowd:
    """Private chats and groups, one question after the other going to the next chat."""

    stage: Stage
    private: int
    groups: int
    _asked: int = field(default=0, init=False)
    _seen: int = field(default=0, init=False)
    _answered: Counter[int] = field(default_factory=Counter, init=False)
    _all: list[tuple[Chat, User]] = field(init=False)
    _places: Iterator[tuple[Chat, User]] = field(init=False)

    def __post_init__(self) -> None:
        telegram = self.stage.telegram
        people = [telegram.user(1000 + number, f"Person {number}") for number in range(PEOPLE)]
        own = [telegram.user(5000 + number, f"Friend {number}") for number in range(self.private)]
        places = [(telegram.private_chat(user), user) for user in own]
        for number in range(self.groups):
            group = telegram.group(-1_001_000_000_000 - number, f"Group {number}")
            places.append((group, people[number % PEOPLE]))
        random.Random(_SEED).shuffle(places)
        self._all, self._places = places, cycle(places)

    def go_on_in(self, chats: int) -> None:
        """Ask the next questions in so many of the chats only."""
        self._places = cycle(self._all[:chats])

    def ask(self, text: str = "is the deploy of the billing service through?") -> Question:
        """Let the next person ask."""
        return self.ask_in(*next(self._places), text)

    def ask_in(self, chat: Chat, user: User, text: str) -> Question:
        """Post a question by somebody in a chat."""
        self._asked += 1
        called = f"@{USERNAME} " if chat.kind != "private" else ""
        self.stage.telegram.say(chat, user, f"{called}question {self._asked}: {text}")
        return Question(self._asked, self.stage.telegram.updates.all[-1])

    async def ask_at(self, rate: float, seconds: float) -> list[Question]:
        """Ask at random moments, so many times a second on average; returns when all was asked."""
        chance = random.Random(_SEED)
        asked: list[Question] = []
        begun = moment = time.perf_counter()
        while (moment := moment + chance.expovariate(rate)) < begun + seconds:
            await asyncio.sleep(max(0.0, moment - time.perf_counter()))
            asked.append(self.ask())
        return asked

    async def ask_fast(self, count: int, at_once: int) -> list[Question]:
        """Ask so many questions, never more than `at_once` of them unanswered."""
        asked: list[Question] = []
        while len(asked) < count:
            if self._asked - self.answered() < at_once:
                asked.append(self.ask())
            else:
                await asyncio.sleep(_POLL / 4)
        return asked

    def answered(self) -> int:
        """Return how many questions have an answer."""
        calls = self.stage.telegram.calls
        while self._seen < len(calls):
            call = calls[self._seen]
            self._seen += 1
            number = number_of(str(call.params.get("text", "")))
            if call.method == "sendMessage" and call.ok and number is not None:
                self._answered[number] += 1
        return len(self._answered)

    async def all_answered(self) -> None:
        """Wait until every question is answered, or for as long as there is hope."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST):
                # Not by an event of the fake: that would look at every call again at every change.
                while self.answered() < self._asked:  # noqa: ASYNC110
                    await asyncio.sleep(_POLL)

    def outcome(self, questions: Sequence[Question]) -> Outcome:
        """Tell what became of questions."""
        asked_model: dict[int | None, float] = {}
        for request in self.stage.model.requests:
            asked_model.setdefault(number_of(request.last_user_text), request.received_at)
        answered: dict[int | None, float] = {}
        for call in self.stage.telegram.calls_of("sendMessage"):
            answered.setdefault(number_of(str(call.params.get("text", ""))), call.at)
        given = {question.number: question.update.handed_out or 0.0 for question in questions}
        return Outcome(
            [asked_model[number] - at for number, at in given.items() if number in asked_model],
            [answered[number] - at for number, at in given.items() if number in answered],
            sum(not self._answered[number] for number in given),
            sum(max(0, self._answered[number] - 1) for number in given),
        )


def chatter(telegram: FakeTelegram, count: int, groups: int) -> list[Update]:
    """Let people write to each other in groups; returns the updates, all made before any went."""
    chats = [telegram.group(-1_002_000_000_000 - n, f"Group {n}") for n in range(groups)]
    people = [telegram.user(1000 + number, f"Person {number}") for number in range(PEOPLE)]
    before = len(telegram.updates.all)
    for number in range(count):
        text = f"the nightly job failed again, same stack trace as on Tuesday: number {number}"
        telegram.say(chats[number % groups], people[number % PEOPLE], text)
    return telegram.updates.all[before:]
