"""A log is linked, line by line, by the code that links; rows are gathered with what is true."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from bench.irc import Line, Log
from bench.linker.vary import Scene
from gateway.context.rooms.reading import answer_in
from tape.linking import Linker
from tape.linking.features_message import MessageFeatures
from tape.linking.features_pair import candidates, pair_rows
from tape.linking.features_relevance import Judgement, relevance_rows
from tape.linking.linker import is_quiet
from tape.linking.model import Model
from tape.linking.room import WINDOW, LinkerRoom
from tape.linking.rules import by_rules, given
from tape.linking.utterance import LaneLink, Utterance

Lanes = Literal["annotated", "own"]

SETTLED: Final = 30
"""Annotated lines after which a room is full enough to look back."""

FALSE_PAIRS: Final = 0.15
FALSE_IN_HINDSIGHT: Final = 0.3
LOOKED_BACK: Final = 0.35
"""Shares that are kept, of what is not true and there is most of; and of lines that look back."""


@dataclass(slots=True)
class Rows:
    """Rows of one stage, flat, with what is true of each and what it weighs."""

    width: int = 0
    values: array[float] = field(default_factory=lambda: array("f"))
    truth: array[float] = field(default_factory=lambda: array("f"))
    weight: array[float] = field(default_factory=lambda: array("f"))

    def add(self, row: Sequence[float], truth: float, weight: float = 1.0) -> None:
        """Add a row."""
        self.width = len(row)
        self.values.extend(row)
        self.truth.append(truth)
        self.weight.append(weight)

    def extend(self, other: Rows) -> None:
        """Add the rows of another."""
        self.width = self.width or other.width
        self.values.extend(other.values)
        self.truth.extend(other.truth)
        self.weight.extend(other.weight)


@dataclass(slots=True)
class Gathered:
    """The rows of every stage."""

    pair: Rows = field(default_factory=Rows)
    lane: Rows = field(default_factory=Rows)
    new: Rows = field(default_factory=Rows)
    relevance: Rows = field(default_factory=Rows)

    def extend(self, other: Gathered) -> None:
        """Add the rows of another."""
        self.pair.extend(other.pair)
        self.lane.extend(other.lane)
        self.new.extend(other.new)
        self.relevance.extend(other.relevance)


def said_of(line: Line, scene: Scene) -> Utterance:
    """Return a person's line as a platform would tell it."""
    reply = scene.replies.get(line.number)
    reply_to = None if reply is None else str(reply)
    return Utterance(
        str(line.number),
        line.at,
        line.author,
        line.author,
        line.text,
        line.mentions,
        reply_to,
        calls=line.number in scene.calls,
    )


def answer_of(line: Line, scene: Scene, room: LinkerRoom) -> tuple[Utterance, LaneLink]:
    """Return a line of the agent, in the lane that its question was given."""
    asked = room.by_key.get(str(scene.answers[line.number]))
    lane = asked.lane if asked else f"said:{scene.answers[line.number]}"
    said, link = answer_in(room, lane, "", line.text, line.at)
    return replace(said, key=str(line.number)), link


def linked(scene: Scene, linker: Linker) -> dict[int, LaneLink]:
    """Play a log in the lanes that a linker decides on; return the links of all lines."""
    room, links = LinkerRoom(), {}
    for line in from_annotation(scene.log):
        if line.number in scene.answers:
            said, link = answer_of(line, scene, room)
        else:
            said = said_of(line, scene)
            link = linker.link(room, said)
        room.add(said, link)
        links[line.number] = link
    return links


def from_annotation(log: Log) -> tuple[Line, ...]:
    """Return the annotated lines, and as many before them as a room remembers."""
    first = next((at for at, line in enumerate(log.lines) if line.number >= log.first_line), 0)
    return log.lines[max(0, first - WINDOW) :]


def gather(scene: Scene, model: Model, lanes: Lanes, stages: Iterable[str], seed: int) -> Gathered:
    """Play a log in lanes as annotated or as the model decides; return the rows of some stages."""
    return _Play(scene, model, lanes, frozenset(stages), random.Random(seed)).run()


class _Play:
    """One log being played."""

    def __init__(
        self, scene: Scene, model: Model, lanes: Lanes, stages: frozenset[str], rng: random.Random
    ) -> None:
        self.scene, self.log = scene, scene.log
        self.model, self.lanes, self.stages, self.rng = model, lanes, stages, rng
        self.linker = Linker(model)
        self.of = {str(number): one for number, one in self.log.dispatcher.items()}
        self.room = LinkerRoom()
        self.gathered = Gathered()
        self.before: Counter[int] = Counter()

    def run(self) -> Gathered:
        """Play all of it."""
        for line in from_annotation(self.log):
            if line.number in self.scene.answers:
                self._answer(line)
                continue
            said = said_of(line, self.scene)
            asked = MessageFeatures(self.room, said, self.model.weights)
            judged = self._judge(asked) if self._teaches(line, said) else None
            link = self._link(line, said, judged)
            if judged is not None:
                self._gather(line, asked, judged, link.lane)
            self._count(line)
            self.room.add(said, link)
        return self.gathered

    def _answer(self, line: Line) -> None:
        """Take a line of the agent, which nobody has to link."""
        self.room.add(*answer_of(line, self.scene, self.room))
        self._count(line)

    def _count(self, line: Line) -> None:
        conversation = self.log.dispatcher.get(line.number)
        if conversation is not None and line.number >= self.log.first_line:
            self.before[conversation] += 1

    def _teaches(self, line: Line, said: Utterance) -> bool:
        """Return whether there is something to learn from a line, and the model is asked of it."""
        known = line.number in self.log.dispatcher
        reply = not known and line.number in self.log.parents and "pair" in self.stages
        there = line.number >= self.log.first_line and bool(self.room.heard)
        return (known or reply) and there and not is_quiet(self.room, said)

    def _judge(self, asked: MessageFeatures) -> Judgement:
        """Judge a line, or only compare it if no other stage is learned."""
        if self.lanes == "own" or self.stages != {"pair"}:
            return self.model.judge(self.room, asked)
        against = candidates(self.room, asked)
        pairs = pair_rows(self.room, asked, against)
        return Judgement(against, pairs, [], [], [], [], (), 0.0)

    def _link(self, line: Line, said: Utterance, judged: Judgement | None) -> LaneLink:
        """Return a line's link: the platform's, the annotated one, or the model's own."""
        link = given(self.room, said)
        if link is not None:
            return link
        if self.lanes == "own":
            return self.linker.link(self.room, said, judged=judged)
        conversation = self.log.dispatcher.get(line.number)
        if conversation is None or line.number < self.log.first_line:
            return by_rules(self.room, said)
        parents = self.log.parents.get(line.number)
        return LaneLink(f"said:{conversation}", str(max(parents)) if parents else None, "annotated")

    def _gather(self, line: Line, asked: MessageFeatures, judged: Judgement, lane: str) -> None:
        """Take the rows of a line; of a hidden reply no more than what it replies to is known."""
        if "pair" in self.stages:
            self._pairs(line, judged)
        conversation = self.log.dispatcher.get(line.number)
        if conversation is None:
            return
        there = [self.of.get(heard.key) for heard in self.room.heard].count(conversation)
        if "lane" in self.stages:
            for likely, row in zip(judged.lanes, judged.rows, strict=True):
                self.gathered.lane.add(row, self._agreement(likely.lane, conversation, there))
        if "new" in self.stages and judged.lanes:
            self.gathered.new.add(judged.new_row, not there)
        if "relevance" in self.stages:
            self._look_back(conversation, asked, judged, lane)

    def _pairs(self, line: Line, judged: Judgement) -> None:
        """Take the rows of the first stage: true is what the line is annotated to go on from."""
        parents = {str(parent) for parent in self.log.parents.get(line.number, ())}
        for heard, row in zip(judged.against, judged.pairs, strict=True):
            if heard.key in parents:
                self.gathered.pair.add(row, 1.0)
            elif self.rng.random() < FALSE_PAIRS:
                self.gathered.pair.add(row, 0.0, 1 / FALSE_PAIRS)

    def _agreement(self, lane: str, conversation: int, there: int) -> float:
        """Return how well a lane agrees with a conversation: the harmonic mean of both shares."""
        keys = [heard.key for heard in self.room.lanes[lane].heard]
        known = [self.of[key] for key in keys if key in self.of]
        hits = known.count(conversation)
        return 2 * hits / (len(known) + there) if hits else 0.0

    def _look_back(
        self, conversation: int, asked: MessageFeatures, judged: Judgement, lane: str
    ) -> None:
        """Take the rows of the third stage, for some of the lines that have something to find."""
        there = self.before[conversation]
        settled = sum(self.before.values()) >= SETTLED
        if not there or not settled or self.rng.random() >= LOOKED_BACK:
            return
        rows = relevance_rows(self.room, asked, judged, lane)
        for heard, row in zip(reversed(self.room.heard), rows, strict=True):
            if int(heard.key) < self.log.first_line:
                continue
            if self.of.get(heard.key) == conversation:
                self.gathered.relevance.add(row, 1.0, there**-0.5)
            elif self.rng.random() < FALSE_IN_HINDSIGHT:
                self.gathered.relevance.add(row, 0.0, there**-0.5 / FALSE_IN_HINDSIGHT)


def texts(logs: Iterable[Log]) -> Iterator[str]:
    """Give every text of some logs."""
    for log in logs:
        for line in log.lines:
            yield line.text
