"""Link a new message to its conversation, and find earlier messages of the conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tape.linking.agent_talk import raised_bound, with_talk
from tape.linking.features_relevance import Judgement
from tape.linking.model import Model
from tape.linking.ranking import Beside, apart, beside, choose, chosen, latest, ranked, recent
from tape.linking.recognition import JudgedReply
from tape.linking.room import Heard, LinkerRoom
from tape.linking.rules import by_recency, by_rules, given
from tape.linking.utterance import LaneLink, Utterance
from tape.linking.waking import or_woken
from tape.linking.weights import load

MIN_CROWD: Final = 3  # minimum people in a room with two conversations at a time
MAX_AFTER_LULL: Final = 10  # maximum earlier messages of a conversation that begins after a silence
MIN_KNOWN_MESSAGES: Final = 10
"""Minimum messages before a room can be called quiet, as every room begins with few people."""

YOUNG_ROOM: Final = 60
MIN_NEW_IN_YOUNG_ROOM: Final = 0.5
"""The chance above which a message starts a lane while a room has fewer messages than that.

The trees have learned from rooms with a past. In the rooms of `tests/fixtures/rooms`, of about
thirty messages, 39 of 81 lines of people's talk find theirs with this bound, 21 with the learned.
"""


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
        bound = raised_bound(room, utterance, self.model.weights)
        if len(room) < YOUNG_ROOM:
            bound = max(bound, MIN_NEW_IN_YOUNG_ROOM)
        link = self.model.decide(utterance, judged, bound)
        link = with_talk(room, utterance, link, self.model.weights, judged.new)
        return or_woken(room, utterance, link, self.model.weights)

    def may_wake(self, room: LinkerRoom, utterance: Utterance) -> bool:
        """Return whether a message that begins a conversation could return to a sleeping one."""
        return self.model is not None and not is_quiet(room, utterance)

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

    def beside(self, room: LinkerRoom, key: str, most: int = 50) -> Beside:
        """Return what a view shows beside a message's lane: what is likely, and what is in doubt.

        There are at most `most` of each.
        """
        message = room.by_key.get(key)
        if message is None:
            return Beside()
        own = room.lanes[message.lane].heard
        if self.model is None or message.threaded or is_quiet(room):
            known = {heard.key for heard in own}
            found = self.chosen(room, key, most)
            return Beside(tuple(one for one in found if one not in known))
        return beside(room.before(key), message, most, self.model)

    def recent(self, room: LinkerRoom, key: str, most: int = 50) -> list[str]:
        """Return the keys of the last messages before one, oldest first.

        What is clearly apart is left out. They are as many as a view of the conversation has, and
        twenty at least. A call that begins a conversation and stands alone has what is very likely.
        """
        message = room.by_key.get(key)
        if message is None or self.model is None or message.threaded or is_quiet(room):
            return latest(room, key, most)
        return recent(room.before(key), message, most, self.model)

    def apart(self, room: LinkerRoom, key: str) -> frozenset[str]:
        """Return the keys of the messages before one that are clearly of other conversations."""
        message = room.by_key.get(key)
        if message is None or self.model is None or message.threaded or is_quiet(room):
            return frozenset()
        return apart(room.before(key), message, self.model)

    def judge_reply(self, room: LinkerRoom, reply: Utterance, most: int = 50) -> JudgedReply | None:
        """Return where the message that a new one replies to would be if nobody knew of the reply.

        It is None if the room has forgotten that message, or if there is nothing to judge.
        """
        replied = room.by_key.get(reply.reply_to) if reply.reply_to else None
        bare = replace(reply, reply_to=None)
        if replied is None or replied.threaded or self.model is None or is_quiet(room, bare):
            return None
        known = self.model.known(room, bare)
        message = Heard(bare, self.link(room, bare, judged=known[1]), room.number)
        found = choose(room, message, most, self.model, known)
        last = room.heard[-len(found) :] if found else []
        return JudgedReply(replied.lane == message.lane, replied.key in found, replied in last)


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
