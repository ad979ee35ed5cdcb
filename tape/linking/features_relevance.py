"""The third stage's features, which compare a message with every earlier one, in hindsight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tape.linking.features_lane import UNSEEN, LikelyLane
from tape.linking.features_message import LONG_AGO, MessageFeatures, Row
from tape.linking.room import Heard, LinkerRoom

_OF_ASKED: Final = (0, 1, 4, 7, 12)
"""Indexes of the message's own features: length, question, mentions, own last message, pace."""


@dataclass(slots=True)
class Judgement:
    """The result of the first two stages for a new message, with the features used."""

    against: list[Heard]
    pairs: list[Row]
    chances: list[float]
    lanes: list[LikelyLane]
    rows: list[Row]
    scores: list[float]
    new_row: Row
    new: float


def relevance_rows(
    room: LinkerRoom, new: MessageFeatures, judged: Judgement, lane: str
) -> list[Row]:
    """Return the features of a lane's message and each message before it, newest first."""
    view = _View(room, new, judged, lane)
    lanes: dict[str, Row] = {}
    since: dict[str, float] = {}
    kind = new.kind[:4]
    rows: list[Row] = []
    for heard in reversed(room.heard):
        name = heard.lane
        if name not in lanes:
            lanes[name] = tuple(map(float, view.of_lane(name)))
        after = since.get(name, 0.0)
        rows.append(
            (
                *lanes[name],
                *view.of_message(heard, after),
                *view.same_for_all,
                *view.with_agent(heard),
                (new.minute - heard.minute) / new.pace,
                1.0 if heard.alone else 0.0,
                *kind,
            )
        )
        since[name] = after + 1
    return rows


class _View:
    """The room as seen from one message."""

    def __init__(
        self, room: LinkerRoom, new: MessageFeatures, judged: Judgement, lane: str
    ) -> None:
        self.room, self.new, self.judged, self.lane = room, new, judged, lane
        self.places = {likely.lane: at for at, likely in enumerate(judged.lanes)}
        numbers = [heard.number for heard in judged.against]
        self.chances = dict(zip(numbers, judged.chances, strict=True))
        self.best_score = max(judged.scores, default=0.0)
        self.total = sum(judged.scores, 0.0)
        best = judged.lanes[judged.scores.index(self.best_score)] if judged.lanes else None
        self.people = room.lanes[best.lane].authors if best else {}
        self.hops = _hops(room, best.best if best else None)
        self.begins = lane not in room.lanes
        self.same_for_all = (
            self.best_score,
            self.total,
            judged.new,
            max(judged.chances, default=0.0),
            float(len(judged.lanes)),
            *(new.message[at] for at in _OF_ASKED),
        )

    def of_lane(self, name: str) -> Row:
        new, lane, place = self.new, self.room.lanes[name], self.places.get(name)
        score = total = highest = UNSEEN
        rank = LONG_AGO
        if place is not None:
            score = self.judged.scores[place]
            total, highest = self.judged.lanes[place].total, self.judged.lanes[place].highest
            rank = sum(other > score for other in self.judged.scores)
        return (
            name == self.lane,
            name == self.lane and new.replied,
            score,
            self.best_score - score,
            score / (self.total + 0.01),
            rank,
            total,
            highest,
            len(lane.heard),
            len(lane.authors),
            lane.authors.get(new.author, 0),
            sum(lane.authors.get(person, 0) for person in new.mentions),
            sum(person in self.people for person in lane.authors),
            new.now - lane.heard[-1].number,
        )

    def of_message(self, heard: Heard, after: float) -> Row:
        """Return the features of one message; `after` counts the later messages in its lane."""
        new, people, them, to = self.new, self.people, heard.author, heard.mentions
        author, mentions = new.author, new.mentions
        return (
            float(new.now - heard.number),
            float(new.minute - heard.minute),
            self.chances.get(heard.number, UNSEEN),
            after,
            self.hops.get(heard.key, LONG_AGO),
            1.0 if them == author else 0.0,
            1.0 if them in mentions else 0.0,
            1.0 if author in to else 0.0,
            0.0 if mentions.isdisjoint(to) else 1.0,
            new.shared.get(heard.number, (0.0, 0.0))[0],
            float(people.get(them, 0)),
            float(sum(person in people for person in to)) if to else 0.0,
            float(len(to)),
            new.exchanges.get(them, 0.0),
            float(self.room.lanes[heard.lane].authors.get(them, 0)),
            float(self.room.answers.get(heard.key, 0)),
            1.0 if heard.parent is None else 0.0,
            float(heard.length),
            1.0 if heard.asks else 0.0,
            1.0 if heard.replied else 0.0,
        )

    def with_agent(self, heard: Heard) -> Row:
        """Return the features of one message that have to do with the agent."""
        new = self.new
        asker = self.room.asker(heard) if heard.agent else None
        return (
            1.0 if heard.agent else 0.0,
            1.0 if heard.calls else 0.0,
            1.0 if asker == new.author else 0.0,
            1.0 if asker is not None and asker != new.author else 0.0,
            1.0 if heard is new.answer else 0.0,
            1.0 if new.answer is not None and heard.lane == new.answer.lane else 0.0,
            1.0 if self.begins else 0.0,
            *new.with_agent,
        )


def _hops(room: LinkerRoom, heard: Heard | None) -> dict[str, float]:
    hops: dict[str, float] = {}
    while heard is not None and heard.key not in hops:
        hops[heard.key] = float(len(hops))
        heard = room.by_key.get(heard.parent) if heard.parent else None
    return hops
