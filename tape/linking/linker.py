"""Link a new message to its conversation, and find earlier messages of the conversation."""

from __future__ import annotations

from typing import Final

from tape.linking.agent_talk import least_new, with_talk
from tape.linking.features_relevance import Judgement
from tape.linking.model import Model
from tape.linking.ranking import chosen, latest, ranked
from tape.linking.room import LinkerRoom
from tape.linking.rules import by_recency, by_rules, given
from tape.linking.utterance import LaneLink, Utterance
from tape.linking.weights import load

MIN_CROWD: Final = 3  # minimum people in a room with two conversations at a time
MAX_AFTER_LULL: Final = 10  # maximum earlier messages of a conversation that begins after a silence
MIN_KNOWN_MESSAGES: Final = 10
"""Minimum messages before a room can be called quiet, as every room begins with few people."""


class Linker:
    """Links a message to a conversation, from the messages before it; keeps no state.

    A platform's thread or reply takes precedence. Without a model, rules decide.
    """

    def __init__(self, model: Model | None = None) -> None:
        self.model = model

    @classmethod
    def shipped(cls) -> Linker:
        """Return a linker with Tapeway's own model; raises WeightsInvalid if unreadable."""
        return cls(load())

    def link(
        self,
        room: LinkerRoom,
        utterance: Utterance,
        replied_lane: str | None = None,
        judged: Judgement | None = None,
    ) -> LaneLink:
        """Return the link of a message without changing the room.

        `replied_lane` is the lane of the message replied to, which the room may have forgotten, and
        `judged` what the model says of the message, if that is known already.
        """
        link = given(room, utterance, replied_lane)
        if link is not None:
            return link
        if is_quiet(room, utterance):
            return by_recency(room, utterance)
        if self.model is None:
            return with_talk(room, utterance, by_rules(room, utterance), {})
        judged = judged or self.model.judge_new(room, utterance)
        link = self.model.decide(utterance, judged, least_new(room, utterance))
        return with_talk(room, utterance, link, self.model.weights, judged.new)

    def ranked(self, room: LinkerRoom, key: str, k: int) -> list[str]:
        """Return the keys of at most k earlier messages, the likeliest first."""
        if is_quiet(room):
            return latest(room, key, k)[::-1]
        return ranked(room, key, k, self.model)

    def chosen(self, room: LinkerRoom, key: str, most: int = 50) -> list[str]:
        """Return the keys of the earlier messages of a message's conversation, oldest first."""
        if not is_quiet(room):
            return chosen(room, key, most, self.model)
        return chosen(room, key, most) or latest(room, key, min(most, MAX_AFTER_LULL))


def is_quiet(room: LinkerRoom, *new: Utterance) -> bool:
    """Return whether there are not enough people for two conversations at a time."""
    if len(room) < MIN_KNOWN_MESSAGES:
        return False
    people = room.authors.keys() | {one.author for one in new}
    if len(people) >= MIN_CROWD:
        return False
    # Two people who both ask the agent may each have a conversation of their own with it.
    callers = {one.author for one in room.heard if one.calls}
    callers.update(one.author for one in new if one.calls)
    return len(people) < 2 or len(callers) < 2
