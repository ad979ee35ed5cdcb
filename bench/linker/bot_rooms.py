"""Rooms in which people talk with the agent, made from annotated logs.

Some of a log's conversations begin with a call of the agent, and its answers stand behind the
questions. Right behind answers come other people's tasks, join-ins, replies and follow-ups: real
lines of other logs of the same set (`bot_bank`). The room's clock goes on by the gaps before them.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from bench.irc import Line, Log
from bench.linker.bot_bank import Bank, Dialogue, bare
from bench.linker.play import from_annotation
from bench.linker.vary import (
    COLD,
    DROPPED,
    FASTEST,
    REPLIED,
    SLOWEST,
    SYLLABLES,
    Scene,
    changed,
    scene,
)
from tape.scripts import has_unspaced

Kind = Literal[
    "task",
    "task at once",
    "task between",
    "reply task",
    "join",
    "reply join",
    "follow",
    "bare follow",
    "reply",
]
"""A task comes right behind an answer, before the answer to another, or between people's lines."""

BEGINNINGS: Final[frozenset[Kind]] = frozenset(
    {"task", "task at once", "task between", "reply task"}
)

AGENT_NAME: Final = "tapeway"
CALLED: Final = 0.35  # the share of a log's conversations that begin with a call
CALLED_LATER: Final = 0.25  # the share of the later lines of their authors that call
BEGUN: Final = 0.6  # how often an episode begins right behind an answer
BETWEEN: Final = 0.02  # how often one begins behind a line of the log
AT_ONCE: Final = 0.15  # how often another task comes before a task is answered
REPLY_TASKS: Final = 0.12  # the share of tasks that reply to the answer of another conversation
GOES_ON: Final = 0.75  # how often an episode goes on
MOST_AT_ONCE: Final = 3
ADDED_SHARE: Final = 0.3  # added lines for each line of the log, at most
NEWCOMERS: Final = (0.1, 0.3, 0.6)  # shares of those who speak next that are new
RECENT: Final = 40
"""Last lines whose authors may be the next to ask."""

GAPS: Final = (0.0, 0.0, 3.0, 10.0, 30.0, 60.0, 180.0, 600.0, 3600.0)
"""Seconds from an answer to another person's task."""

JOIN_SECONDS: Final = (5.0, 120.0)
FOLLOW_SECONDS: Final = (10.0, 400.0)
ANSWER_SECONDS: Final = (2.0, 40.0)
SIZES: Final = ((1.0, 0.5), (1.0, 0.5), (0.4, 0.8), (0.15, 2.0), (0.05, 6.0))
"""Shares of a log's conversations that are kept, each with the added lines for a line of them."""

OWN_WORDS: Final = 0.3
"""The share of the join-ins to learn from whose text is the generator's own."""

ADDED: Final = ("and with {}?", "what about {}?", "does that also work for {}?", "same for {}?")
ADDED_WIDE: Final = ("那{}呢", "{}也一样吗", "用{}可以吗", "那换成{}行不行")
"""Join-ins of the generator's own, with a word of another conversation."""


@dataclass(frozen=True, slots=True)
class Moment:
    """An added line that is judged: what it is, and how many seconds after the last line."""

    kind: Kind
    gap: float


@dataclass(frozen=True, slots=True)
class BotRoom:
    """A room with the agent in it; `moments` are the added lines that are judged, by number."""

    scene: Scene
    moments: Mapping[int, Moment] = field(repr=False)


@dataclass(slots=True, eq=False)
class _Row:
    """A line of a room that is being made."""

    line: Line
    conversation: object
    parents: list[_Row] = field(default_factory=list)
    old: int | None = None
    calls: bool = False
    answers: _Row | None = None
    reply: _Row | None = None
    moment: Moment | None = None


@dataclass(slots=True)
class _Event:
    """A line of an episode to come, after some seconds, and some lines of the log."""

    kind: Kind | Literal["answer"]
    text: str
    gap: float
    wait: int = 0


@dataclass(slots=True)
class _Episode:
    """A conversation with the agent that goes on between the lines of the log."""

    conversation: object
    asker: str
    events: deque[_Event]
    dialogue: Dialogue | None = None
    own: tuple[str, ...] = ()
    question: _Row | None = None
    answer: _Row | None = None


def bot_room(
    log: Log, bank: Bank, seed: int, *, added: float = ADDED_SHARE, own_words: float = 0.0
) -> BotRoom:
    """Return a room with the agent made from a log, the same for the same seed.

    `added` is the number of added lines for each line of the log, at most, and `own_words` the
    share of the join-ins whose text is the generator's own.
    """
    return _Making(log, bank, random.Random(f"bots {seed} {log.name}"), added, own_words).run()


def varied_bot_room(log: Log, bank: Bank, seed: int) -> BotRoom:
    """Return a room to learn from: of any size and pace, some with hardly anybody else."""
    rng = random.Random(f"bots varied {seed} {log.name}")
    kept, added = rng.choice(SIZES)
    pace = math.exp(rng.uniform(math.log(FASTEST), math.log(SLOWEST)))
    if rng.random() < COLD or kept < 1:
        heard = tuple(line for line in log.lines if line.number >= log.first_line)
        log = replace(log, lines=heard)
    other = changed(log, kept=kept, dropped=rng.choice(DROPPED), pace=pace, seed=seed).log
    if other.links == "conversations":
        other = replace(other, replies=scene(other, rng.choice(REPLIED), seed).replies)
    return bot_room(other, bank, seed, added=added, own_words=OWN_WORDS)


def without_agent(room: BotRoom) -> Scene:
    """Return the same room without the agent's lines, in which nobody calls it.

    A reply to an answer is one to its question, if it goes on with that.
    """
    known, answers = room.scene, room.scene.answers
    lines = tuple(line for line in known.log.lines if line.number not in answers)
    parents = {
        number: tuple(sorted({answers.get(one, one) for one in before} - {number}))
        for number, before in known.log.parents.items()
        if number not in answers
    }
    moved = {number for number, one in room.moments.items() if one.kind == "reply task"}
    replies = {
        number: answers.get(one, one)
        for number, one in known.replies.items()
        if number not in moved
    }
    return Scene(replace(known.log, lines=lines, parents=parents, replies=replies), replies)


class _Making:
    """One room being made."""

    def __init__(
        self, log: Log, bank: Bank, rng: random.Random, share: float, own_words: float
    ) -> None:
        self.log, self.bank, self.rng, self.own_words = log, bank, rng, own_words
        self.most = share * len(from_annotation(log))
        self.newcomers = rng.choice(NEWCOMERS)
        self.rows: list[_Row] = []
        self.by_old: dict[int, _Row] = {}
        self.episodes: list[_Episode] = []
        wide = sum(has_unspaced(line.text) for line in log.lines) > len(log.lines) / 2
        others = (one for one in bank.tasks if one.log != log.name)
        self.tasks = [one for one in others if has_unspaced(one.asked) == wide]
        rng.shuffle(self.tasks)
        self.called = self._called()
        self.now = 0.0
        self.added = 0
        self.people = 0

    def run(self) -> BotRoom:
        lines = from_annotation(self.log)
        before = lines[0].at if lines else 0.0
        for line in lines:
            self.now += max(0.0, line.at - before)
            before = line.at
            self._pass(line)
            if self.rng.random() < BETWEEN and self._has_place():
                self._begin(set(), "task between")
            self._go_on()
        while self.episodes:
            self._go_on()
        return _numbered(self.log, self.rows)

    def _called(self) -> dict[int, tuple[str, tuple[str, ...]]]:
        """Choose the conversations that begin with a call: their authors and later helpers."""
        found: dict[int, tuple[str, tuple[str, ...]]] = {}
        by_conversation: dict[int, list[Line]] = {}
        for line in self.log.lines:
            conversation = self.log.dispatcher.get(line.number)
            if conversation is not None and conversation >= self.log.first_line:
                by_conversation.setdefault(conversation, []).append(line)
        for conversation, (one, *rest) in by_conversation.items():
            if rest and not one.mentions and self.rng.random() < CALLED:
                helpers = tuple(bare(line) for line in rest if line.author != one.author)
                found[conversation] = (one.author, helpers)
        return found

    def _pass(self, line: Line) -> None:
        """Take a line of the log; it may call the agent."""
        conversation = self.log.dispatcher.get(line.number)
        parents = [
            self.by_old[one] for one in self.log.parents.get(line.number, ()) if one in self.by_old
        ]
        key = ("log", conversation) if conversation is not None else None
        row = _Row(replace(line, at=self.now), key, parents, line.number)
        row.reply = self.by_old.get(self.log.replies.get(line.number, -1))
        self.rows.append(row)
        self.by_old[line.number] = row
        asker, helpers = self.called.get(-1 if conversation is None else conversation, ("", ()))
        if line.author != asker or line.mentions:
            return
        if line.number == conversation or self.rng.random() < CALLED_LATER:
            row.calls = True
            event = _Event("answer", "", self._within(ANSWER_SECONDS), self._few(2))
            self.episodes.append(_Episode(key, asker, deque([event]), None, helpers, row))

    def _go_on(self) -> None:
        """Say what the episodes have to say after a line of the log."""
        for episode in list(self.episodes):
            while episode.events and not episode.events[0].wait:
                self._say(episode, episode.events.popleft())
            if episode.events:
                episode.events[0].wait -= 1
        self.episodes = [one for one in self.episodes if one.events]

    def _say(self, episode: _Episode, event: _Event) -> None:
        if event.kind == "answer":
            self._answer(episode, event)
            return
        self.now += event.gap
        mine = event.kind not in ("join", "reply join")
        author = episode.asker if mine else self._person({episode.asker})
        line = Line(0, self.now, author, event.text)
        last = self.rows[-1]
        parents = [one for one in (episode.answer or episode.question,) if one]
        row = _Row(line, episode.conversation, parents, moment=Moment(event.kind, event.gap))
        self.added += 1
        self.rows.append(row)
        if event.kind == "reply task":
            row.reply = last
        elif event.kind in ("reply", "reply join"):
            row.reply = episode.answer
        if event.kind != "bare follow":
            row.calls = True
            episode.question = row
        if event.kind in BEGINNINGS and self.rng.random() < AT_ONCE:
            self._begin({episode.asker}, "task at once")

    def _answer(self, episode: _Episode, event: _Event) -> None:
        """Say the agent's answer, behind which another episode may begin."""
        question = episode.question
        if question is None:
            return
        self.now += event.gap
        text = self.bank.answer(question.line.text, episode.own, self.log.name, self.rng)
        line = Line(0, self.now, AGENT_NAME, text)
        row = _Row(line, episode.conversation, [question], answers=question)
        self.rows.append(row)
        episode.answer = row
        goes_on = bool(episode.events) and not episode.events[0].wait
        if self._has_place() and not goes_on and self.rng.random() < BEGUN:
            kind: Kind = "reply task" if self.rng.random() < REPLY_TASKS else "task"
            self._begin({episode.asker, question.line.author}, kind)

    def _has_place(self) -> bool:
        at_once = sum(one.dialogue is not None for one in self.episodes)
        return at_once < MOST_AT_ONCE and self.added < self.most

    def _begin(self, but: set[str], kind: Kind) -> None:
        """Begin the conversation of another person with the agent."""
        if not self.tasks:
            return
        dialogue = self.tasks.pop()
        first = _Event(kind, dialogue.asked, self.rng.choice(GAPS))
        events = deque([first, self._answered(), *self._later(dialogue)])
        one = _Episode(object(), self._person(but), events, dialogue, dialogue.helpers)
        self._say(one, one.events.popleft())
        self.episodes.append(one)

    def _later(self, dialogue: Dialogue) -> Iterator[_Event]:
        """Give what follows a task: follow-ups, join-ins and replies, with answers."""
        later, joins = deque(dialogue.later), deque(self._joins(dialogue))
        answered = True
        while (later or (joins and answered)) and self.rng.random() < GOES_ON:
            if joins and answered and (not later or self.rng.random() < 0.5):
                kind: Kind = "reply join" if self.rng.random() < 0.2 else "join"
                yield _Event(kind, joins.popleft(), self._within(JOIN_SECONDS))
            else:
                kind = self.rng.choice(("follow", "follow", "bare follow", "reply"))
                yield _Event(kind, later.popleft(), self._within(FOLLOW_SECONDS), self._few(3))
            answered = kind != "bare follow"
            if answered:
                yield self._answered()

    def _joins(self, dialogue: Dialogue) -> list[str]:
        """Return what others may add to a task."""
        if self.rng.random() >= self.own_words:
            return self.rng.sample(dialogue.joins, min(2, len(dialogue.joins)))
        other = self.rng.choice(self.tasks or [dialogue]).asked
        wide = has_unspaced(other)
        spoken = [one for one in other.lower().split() if one.isalpha()] or ["that"]
        word = other[:3] if wide else max(spoken, key=len)
        return [self.rng.choice(ADDED_WIDE if wide else ADDED).format(word)]

    def _answered(self) -> _Event:
        return _Event("answer", "", self._within(ANSWER_SECONDS), self._few(2))

    def _person(self, but: set[str]) -> str:
        """Return who speaks next: somebody of the last lines, or somebody new."""
        last = [row.line.author for row in self.rows[-RECENT:] if row.answers is None]
        recent = sorted(set(last) - but)
        if recent and self.rng.random() >= self.newcomers:
            return self.rng.choice(recent)
        self.people += 1
        name, rest = "", self.people
        while rest:
            rest, at = divmod(rest, len(SYLLABLES))
            name += SYLLABLES[at]
        return name

    def _within(self, seconds: tuple[float, float]) -> float:
        return round(self.rng.uniform(*seconds))

    def _few(self, most: int) -> int:
        """Return a number of lines of the log, often none."""
        return 0 if self.rng.random() < 0.6 else self.rng.randint(1, most)


def _numbered(log: Log, rows: list[_Row]) -> BotRoom:
    """Number the lines, the first annotated one as in the log."""
    first = log.first_line - sum(row.old is not None and row.old < log.first_line for row in rows)
    number = {id(row): at for at, row in enumerate(rows, first)}
    begun: dict[object, int] = {}
    for row in rows:
        if row.conversation is not None:
            begun.setdefault(row.conversation, number[id(row)])
    lines = tuple(replace(row.line, number=number[id(row)]) for row in rows)
    parents = {
        number[id(row)]: tuple(number[id(one)] for one in row.parents)
        for row in rows
        if row.parents
    }
    dispatcher = {
        number[id(row)]: begun[row.conversation] for row in rows if row.conversation is not None
    }
    replies = {number[id(row)]: number[id(row.reply)] for row in rows if row.reply}
    made = Scene(
        replace(log, lines=lines, parents=parents, dispatcher=dispatcher, replies=replies),
        replies,
        {number[id(row)]: number[id(row.answers)] for row in rows if row.answers},
        frozenset(number[id(row)] for row in rows if row.calls),
    )
    return BotRoom(made, {number[id(row)]: row.moment for row in rows if row.moment})
