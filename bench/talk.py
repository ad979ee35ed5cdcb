"""Groups in which three conversations alternate, and people answer each other and ask the agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final

from bench.crowd import Crowd, Question
from bench.rooms import NAMES, SUBJECTS, Talk
from tests.fakes.openai.script import Reply, Request, Text
from tests.fakes.telegram.world import Chat, User

TALKS: Final = 3
LINES_A_CALL: Final = 30
"""Lines of a room up to and with a call of the agent."""

MENTIONS: Final = 0.4
REPLIES: Final = 0.15
_TALKING: Final = 9  # people of the conversations; the others have tasks of their own
_FIRST_ID: Final = 2000


@dataclass(slots=True)
class TalkingRoom:
    """A group with three conversations; the same number says the same."""

    crowd: Crowd
    number: int
    _random: Random = field(init=False)
    _chat: Chat = field(init=False)
    _people: dict[str, User] = field(init=False)
    _talks: list[Talk] = field(init=False)
    _newcomers: list[str] = field(init=False)
    _others: list[str] = field(init=False)
    _ids: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        telegram = self.crowd.stage.telegram
        self._random = Random(f"room {self.number}")
        self._chat = telegram.group(-1_003_000_000_000 - self.number, f"Room {self.number}")
        names = self._random.sample(NAMES, len(NAMES))
        first = _FIRST_ID + self.number * len(names)
        self._people = {n: telegram.user(first + at, n.title()) for at, n in enumerate(names)}
        subjects = self._random.sample(SUBJECTS, len(SUBJECTS))
        talking, self._newcomers = names[:_TALKING], names[_TALKING:]
        self._others = subjects[TALKS:]
        self._talks = [Talk(subjects[at].split(), talking[at::TALKS]) for at in range(TALKS)]

    def go_on(self, lines: int, *, task: bool) -> Question:
        """Say so many lines, the last of which asks the agent; return that question.

        It is of one of the conversations, or else another person's `task` of another subject.
        """
        for _line in range(lines - 1):
            self._say(self._any())
        talk = self._task() if task else self._any()
        who, text = talk.go_on(self._random, len(self._ids), MENTIONS)
        question = self.crowd.ask_in(self._chat, self._people[who], text)
        self._ids.append(next(reversed(self._chat.messages)))
        return question

    def _task(self) -> Talk:
        subject, who = self._random.choice(self._others), self._random.choice(self._newcomers)
        return Talk(subject.split(), [who])

    def _any(self) -> Talk:
        return self._random.choice(self._talks)

    def _say(self, talk: Talk) -> None:
        replied = None
        if talk.last and self._random.random() < REPLIES:
            replied = self._ids[talk.last[-1][0]]
        who, text = talk.go_on(self._random, len(self._ids), MENTIONS)
        self.crowd.stage.telegram.say(self._chat, self._people[who], text, reply_to=replied)
        self._ids.append(next(reversed(self._chat.messages)))


def answer_in_words(request: Request) -> Reply:
    """Answer a question at once, in words of its own."""
    asked = request.last_user_text.rpartition("question ")[2]
    return Text((f"To question {asked}: ", "that is what I know of it. ", "Is that enough?"))
