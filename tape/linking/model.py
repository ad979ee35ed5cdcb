"""The learned linker, which judges in three stages of decision trees.

The first stage judges the messages that a new message may continue, the second judges their
conversations and the start of another; the third, in hindsight, judges every message of the room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tape.linking.boosted_trees import Trees, chance
from tape.linking.features_lane import lane_rows, likely_lanes, new_row
from tape.linking.features_message import MessageFeatures
from tape.linking.features_pair import candidates, pair_rows
from tape.linking.features_relevance import Judgement, relevance_rows
from tape.linking.room import Heard, LinkerRoom
from tape.linking.utterance import NOTHING_BEFORE, LaneLink, Utterance, starts

PAIR_MARGIN: Final = 4.0
"""The first stage drops candidates whose log odds are this much below the best."""

LEAST_CHOSEN: Final = 0.6
"""`least_chosen` of a file that has none, chosen on annotated logs: it leaves out all for half of
the true beginnings, and costs set-F1 0.2.
"""

RELEVANCE_MARGIN: Final = 7.0
"""The same for the third stage, which ranks all messages.

Half of them fall behind. On `data/irc/dev` and `data/zulip`, `*.9`, no chance is wrong by more than
0.03, and the sum of the chances of a room's messages, 8.6 in the mean, by 0.3.
"""

Known = tuple[MessageFeatures, Judgement]


@dataclass(frozen=True, slots=True)
class Model:
    """The trees, the weights of words, and two bounds.

    least_new     the chance above which a message starts a lane
    least_chosen  the least chance of what is chosen for a message that starts a lane and stands
                  alone
    """

    pair: Trees
    lane: Trees
    new: Trees
    relevance: Trees
    weights: Mapping[int, float]
    least_new: float
    least_chosen: float

    def link(self, room: LinkerRoom, utterance: Utterance) -> LaneLink:
        return self.decide(utterance, self.judge_new(room, utterance))

    def decide(self, utterance: Utterance, judged: Judgement, raised: float = 0.0) -> LaneLink:
        """Return the link of the likeliest lane, or of a new one by a bound that may be raised."""
        if not judged.lanes:
            return starts(utterance, NOTHING_BEFORE)
        if judged.new > max(self.least_new, raised):
            return starts(utterance, f"new {judged.new:.2f}")
        score = max(judged.scores)
        lane = judged.lanes[judged.scores.index(score)]
        return LaneLink(lane.lane, lane.best.key, f"model {score:.2f}")

    def judge_new(self, room: LinkerRoom, utterance: Utterance) -> Judgement:
        """Judge a message that is not yet in the room."""
        return self.known(room, utterance)[1]

    def known(self, room: LinkerRoom, utterance: Utterance) -> Known:
        """Judge a message that is not yet in the room; return its features, too."""
        features = MessageFeatures(room, utterance, self.weights)
        return features, self.judge(room, features)

    def judge(self, room: LinkerRoom, features: MessageFeatures) -> Judgement:
        """Judge the messages that a new message may continue, and the lanes that it may join."""
        against = candidates(room, features)
        pairs = pair_rows(room, features, against)
        chances = [chance(score) for score in self.pair.scores(pairs, PAIR_MARGIN)]
        lanes = likely_lanes(against, chances)
        rows = lane_rows(room, features, lanes)
        scores = [chance(self.lane.score(row)) for row in rows]
        last = new_row(room, features, lanes, scores)
        new = chance(self.new.score(last)) if lanes else 1.0
        return Judgement(against, pairs, chances, lanes, rows, scores, last, new)

    def relevant(
        self, room: LinkerRoom, heard: Heard, known: Known | None = None
    ) -> list[tuple[float, Heard]]:
        """Return the messages before `heard`, each with the chance to share a conversation.

        `known` is what the first two stages say of it, if that was asked already.
        """
        features, judged = known or self.known(room, heard.as_utterance())
        rows = relevance_rows(room, features, judged, heard.lane)
        scores = self.relevance.estimates(rows, RELEVANCE_MARGIN)
        return [
            (chance(score), one) for score, one in zip(scores, reversed(room.heard), strict=True)
        ]
