"""The learned linker: three stages of trees, read from a small file of numbers.

The first judges single messages that the new one may go on from, the second the conversations they
are of and whether it starts one, the third, in hindsight, every message for its conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tape.linking.boosted_trees import Trees, chance
from tape.linking.features_lane import Likely, lane_rows, likely, new_row
from tape.linking.features_message import MessageFeatures
from tape.linking.features_pair import candidates, pair_rows
from tape.linking.features_relevance import relevance_rows
from tape.linking.room import Heard, LinkerRoom
from tape.linking.utterance import LaneLink, Utterance, starts

HOPELESS: Final = 4.0
"""How far below the best a candidate may be by the first trees, in log odds."""

HOPELESS_IN_HINDSIGHT: Final = 8.0
"""The same for the third stage: all are ranked."""


@dataclass(slots=True)
class Judgement:
    """What the first two stages say of a new message, and the numbers that they say it from."""

    against: list[Heard]
    pairs: list[tuple[float, ...]]
    chances: list[float]
    lanes: list[Likely]
    rows: list[tuple[float, ...]]
    scores: list[float]
    new_row: tuple[float, ...]
    new: float


@dataclass(frozen=True, slots=True)
class Model:
    """The trees, the weights of words, and the chance from which a message starts a lane."""

    pair: Trees
    lane: Trees
    new: Trees
    relevance: Trees
    weights: Mapping[int, float]
    least_new: float

    def link(self, room: LinkerRoom, said: Utterance) -> LaneLink:
        """Link a message by what was learned."""
        return self.decide(said, self.judge(room, MessageFeatures(room, said, self.weights)))

    def decide(self, said: Utterance, judged: Judgement) -> LaneLink:
        """Return the link that a judgement leads to."""
        if not judged.lanes or judged.new > self.least_new:
            return starts(said, f"new {judged.new:.2f}" if judged.lanes else "new")
        score = max(judged.scores)
        lane = judged.lanes[judged.scores.index(score)]
        return LaneLink(lane.lane, lane.best.key, f"model {score:.2f}")

    def judge(self, room: LinkerRoom, asked: MessageFeatures) -> Judgement:
        """Judge what a message may go on from, and which lane it may join."""
        against = candidates(room, asked)
        pairs = pair_rows(room, asked, against)
        chances = [chance(score) for score in self.pair.scores(pairs, HOPELESS)]
        lanes = likely(against, chances)
        rows = lane_rows(room, asked, lanes)
        scores = [chance(self.lane.score(row)) for row in rows]
        last = new_row(asked, lanes, scores)
        new = chance(self.new.score(last)) if lanes else 1.0
        return Judgement(against, pairs, chances, lanes, rows, scores, last, new)

    def relevant(self, room: LinkerRoom, heard: Heard) -> list[tuple[float, Heard]]:
        """Return the chance of every message of a room to be of the conversation of the next one.

        The room is as it was before that next one came.
        """
        asked = MessageFeatures(room, heard.as_said(), self.weights)
        judged = self.judge(room, asked)
        rows = relevance_rows(room, asked, judged, heard.lane)
        scores = self.relevance.scores(rows, HOPELESS_IN_HINDSIGHT)
        return [
            (chance(score), one) for score, one in zip(scores, reversed(room.heard), strict=True)
        ]
