"""Rank or select the earlier messages of a message's conversation.

A message's lane is fixed when it arrives; in hindsight, these functions may judge better. They
depend only on the room.

What is selected for a view may be doubted: if more is expected of as many of the room's last
messages, those of them that have a chance are shown as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import fmean
from typing import Final

from tape.linking.agent_talk import of_one_subject, others_talk
from tape.linking.model import Known, Model
from tape.linking.room import Heard, LinkerRoom
from tape.linking.rules import LULL_MINUTES

LAST_MESSAGES: Final = 40
MIN_MESSAGES: Final = 15
"""Minimum last messages needed to decide whether one conversation fills the room."""

FILLED_SHARE: Final = 0.7
"""Minimum share of the last messages with which a conversation fills the room."""

DOMINATED_SHARE: Final = 0.85
"""Minimum share of the last messages with which a lane dominates the room."""

DOMINATED_FILLED_SHARE: Final = 0.3
"""FILLED_SHARE in a dominated room, where messages that seem to start a lane seldom do."""

MIN_DOUBTED: Final = 20
"""Minimum last messages against which a selection is doubted."""

MIN_CHANCE: Final = 0.1
"""Minimum chance of a message that a view shows beside the lane.

Chosen for rooms of teams (`data/zulip`, `*.0` to `*.8`), whose views then have nine tenths of what
the last twenty messages have. `python -m bench.linker_eval --views` measures it, and the next one.
"""

MIN_CHANCE_FAST: Final = 0.3
"""The same in a fast room, whose last messages are of several conversations.

Chosen on `data/irc/train` and `data/chinese`, `cped.0` to `.3`: with 0.1, views lose a sixth of
their precision there.
"""

FAST_MINUTES: Final = 1.0
"""Minutes a message below which a room is fast: rooms of teams are slower in all but one of 200."""

CLEARLY_APART: Final = 0.01
"""The chance below which one of the room's last messages is clearly of another conversation.

In `data/discord/product`, the last 25 messages lose nothing by it that people replied to.
"""

MIN_RECENT: Final = 20
"""Minimum last messages that a view shows where these are more of use than the conversation."""

FEW_OWN: Final = 3
"""How many messages of its own a conversation has before it alone is known well."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The keys of earlier messages that a view shows beside a message's own lane, oldest first.

    likely   those that seem to belong to the conversation
    doubted  those that are shown because the conversation may not have been recognized
    """

    likely: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()


def ranked(room: LinkerRoom, key: str, k: int, model: Model | None = None) -> list[str]:
    """Return the keys of at most k earlier messages, likeliest of the conversation first."""
    message = room.by_key.get(key)
    if message is None:
        return []
    return [heard.key for _, heard in _likeliest(room.before(key), message, model)[:k]]


def chosen(room: LinkerRoom, key: str, most: int = 50, model: Model | None = None) -> list[str]:
    """Return the keys of at most `most` earlier messages of the conversation, oldest first.

    A model adds uncertain messages if they are likely enough to be useful. Without a model, or in a
    platform's thread, the result is the lane's messages.

    A message that begins a conversation and stands alone has only what is very likely, which may be
    nothing. To a call, others' talk with the agent is no part of the conversation, unless the call
    begins one, does not stand alone and follows that talk: then it is about what was said.
    """
    message = room.by_key.get(key)
    if message is None:
        return []
    if model is None or message.threaded:
        return [heard.key for heard in _own(room, message)][-most:]
    return choose(room.before(key), message, most, model)


def choose(
    before: LinkerRoom, message: Heard, most: int, model: Model, known: Known | None = None
) -> list[str]:
    """Return what a model chooses of the room before a message; see `chosen`, `Model.relevant`."""
    judged = _Judged.of(before, message, model, known)
    if not judged.left_out and _filled(before, judged.likeliest):
        return [heard.key for heard in before.heard][-most:]
    return list(_keys(judged.picked(most)))


def beside(before: LinkerRoom, message: Heard, most: int, model: Model) -> Beside:
    """Return what a view shows beside a message's lane, at most `most` of each kind.

    `before` is the room before the message. A message that begins a conversation and stands alone
    is never in doubt.
    """
    return _Judged.of(before, message, model).beside(most)


def recent(before: LinkerRoom, message: Heard, most: int, model: Model) -> list[str]:
    """Return the last messages without those that are clearly of other conversations, oldest first.

    There are as many as a view of the conversation would have, and `MIN_RECENT` at least. A call
    that begins a conversation and stands alone has only what is very likely.
    """
    judged = _Judged.of(before, message, model)
    near = judged.beside(most)
    if message.calls and judged.begins_alone:
        return list(near.likely)
    size = len(judged.own) + len(near.likely) + len(near.doubted)
    left_out = judged.apart()
    fitting = [heard.key for heard in before.heard if heard.key not in left_out]
    return fitting[-min(max(size, MIN_RECENT), most) :]


def apart(before: LinkerRoom, message: Heard, model: Model) -> frozenset[str]:
    """Return the keys of the messages that are clearly of other conversations."""
    return _Judged.of(before, message, model).apart()


@dataclass(frozen=True, slots=True)
class _Judged:
    """A message, the room before it, and the chances of the messages there, highest first.

    own       the earlier messages of its lane
    begins    whether it begins its conversation
    left_out  the lanes of others' talk with the agent, if that is no part of its conversation
    """

    before: LinkerRoom
    message: Heard
    likeliest: Sequence[tuple[float, Heard]]
    own: Sequence[Heard]
    begins: bool
    left_out: frozenset[str]
    model: Model

    @classmethod
    def of(
        cls, before: LinkerRoom, message: Heard, model: Model, known: Known | None = None
    ) -> _Judged:
        """Judge a message by a model."""
        likeliest, own = _likeliest(before, message, model, known), _own(before, message)
        begins = message.parent is None and not own
        left_out: frozenset[str] = frozenset()
        last = before.heard[-1] if before.heard else None
        to_people = last is not None and not (last.agent or last.calls)
        if message.calls and (message.alone or not begins or to_people):
            left_out = others_talk(before, message, model.weights)
        return cls(before, message, likeliest, own, begins, left_out, model)

    @property
    def begins_alone(self) -> bool:
        """Return whether the message begins a conversation and stands alone."""
        return self.begins and self.message.alone

    def fitting(self) -> list[tuple[float, Heard]]:
        """Return the likeliest messages without those of the lanes that are left out."""
        return [pair for pair in self.likeliest if pair[1].lane not in self.left_out]

    def picked(self, most: int) -> list[Heard]:
        """Return the likeliest messages, as many as are expected to be of most use.

        For one that begins and stands alone, they must be very likely, or evidence: of its subject.
        """
        fitting = self.fitting()
        taken = fitting[: best_size([chance for chance, _ in fitting], most)]
        if not self.begins_alone:
            return [one for _chance, one in taken]
        words, least, weights = self.message.words, self.model.least_chosen, self.model.weights
        return [
            one for chance, one in taken if chance >= least or of_one_subject(words, one, weights)
        ]

    def beside(self, most: int) -> Beside:
        """Return what a view shows beside the lane."""
        own = set(self.own)
        if len(own) < FEW_OWN and not self.left_out and _filled(self.before, self.likeliest):
            return Beside(_keys(set(self.before.heard[-most:]) - own))
        least = MIN_CHANCE_FAST if _minutes_a_message(self.before) < FAST_MINUTES else MIN_CHANCE
        fitting = self.fitting()
        enough = {heard for chance, heard in fitting if chance >= least}
        shown = own.union(enough.intersection(self.picked(most)))
        doubted = [] if self.begins_alone else in_doubt(fitting, shown, least)
        return Beside(_keys(shown - own), _keys(doubted)[-most:])

    def apart(self) -> frozenset[str]:
        """Return the keys of what is clearly of other conversations."""
        return frozenset(
            heard.key
            for chance, heard in self.likeliest
            if heard.lane != self.message.lane
            and (chance < CLEARLY_APART or heard.lane in self.left_out)
        )


def latest(room: LinkerRoom, key: str, most: int) -> list[str]:
    """Return the keys of the last messages before a message, oldest first."""
    return [heard.key for heard in room.before(key).heard][-most:] if key in room.by_key else []


def best_size(chances: Sequence[float], most: int) -> int:
    """Return how many of the highest chances give the best sum of recall and precision."""
    everything = sum(chances) or 1.0
    best, size, total = 0.0, 0, 0.0
    for taken, chance in enumerate(chances[:most], 1):
        total += chance
        worth = total / taken + total / everything  # expected precision and recall
        if worth > best:
            best, size = worth, taken
    return size


def _own(room: LinkerRoom, message: Heard) -> list[Heard]:
    """Return the earlier messages of a message's lane, oldest first."""
    lane = room.lanes.get(message.lane)
    return [heard for heard in lane.heard if heard.number < message.number] if lane else []


def _keys(heard: Iterable[Heard]) -> tuple[str, ...]:
    return tuple(one.key for one in sorted(heard, key=lambda one: one.number))


def in_doubt(
    likeliest: Iterable[tuple[float, Heard]], shown: Collection[Heard], least: float
) -> list[Heard]:
    """Return the last messages to show as well, if more is expected of them than of what is shown.

    Their chances are `least` or more. The sum of the chances of some messages is how many of them
    are expected to be of the conversation.
    """
    last = sorted(likeliest, key=lambda pair: pair[1].number)
    expected = sum(chance for chance, heard in last if heard in shown)
    last = last[-max(len(shown), MIN_DOUBTED) :]
    if sum(chance for chance, _heard in last) <= expected:
        return []
    return [one for chance, one in last if chance >= least and one not in shown]


def _minutes_a_message(room: LinkerRoom) -> float:
    """Return the mean minutes from one message to the next, of which a silence has few."""
    gaps = [new.minute - old.minute for old, new in pairwise(room.heard)]
    return fmean(min(max(gap, 0), LULL_MINUTES) for gap in gaps) if gaps else LULL_MINUTES


def _filled(room: LinkerRoom, likeliest: Sequence[tuple[float, Heard]]) -> bool:
    last = sorted(likeliest, key=lambda pair: -pair[1].number)[:LAST_MESSAGES]
    expected = sum(chance for chance, _ in last)
    least = DOMINATED_FILLED_SHARE if _dominated(room) else FILLED_SHARE
    return len(last) >= MIN_MESSAGES and expected >= least * len(last)


def _dominated(room: LinkerRoom) -> bool:
    last = [heard.lane for heard in islice(reversed(room.heard), LAST_MESSAGES)]
    return max(Counter(last).values(), default=0) >= DOMINATED_SHARE * len(last)


def _likeliest(
    before: LinkerRoom, message: Heard, model: Model | None, known: Known | None = None
) -> list[tuple[float, Heard]]:
    """Return the messages before one with their chances, highest first, then newest first."""
    if model is None or message.threaded:
        pairs = [(_likeness(message, heard), heard) for heard in before.heard]
    else:
        pairs = model.relevant(before, message, known)
    return sorted(pairs, key=lambda pair: (-pair[0], -pair[1].number))


def _likeness(message: Heard, heard: Heard) -> float:
    near = 1 / (10 + message.number - heard.number)
    people = {message.author, *message.mentions}
    close = heard.author in people or message.author in heard.mentions
    return near + 0.05 * close + 0.2 * (heard.lane == message.lane)
