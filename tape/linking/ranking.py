"""Rank or select the earlier messages of a message's conversation.

A message's lane is fixed when it arrives; in hindsight, these functions may judge better. They
depend only on the room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Final

from tape.linking.agent_talk import others_talk
from tape.linking.model import Model
from tape.linking.room import Heard, LinkerRoom

LAST_MESSAGES: Final = 40
MIN_MESSAGES: Final = 15
"""Minimum last messages needed to decide whether one conversation fills the room."""

FILLED_SHARE: Final = 0.7
"""Minimum share of the last messages with which a conversation fills the room."""

DOMINATED_SHARE: Final = 0.85
"""Minimum share of the last messages with which a lane dominates the room."""

DOMINATED_FILLED_SHARE: Final = 0.3
"""FILLED_SHARE in a dominated room, where messages that seem to start a lane seldom do."""


def ranked(room: LinkerRoom, key: str, k: int, model: Model | None = None) -> list[str]:
    """Return the keys of at most k earlier messages, likeliest of the conversation first."""
    return [heard.key for _, heard in _likeliest(room, key, model)[:k]]


def chosen(room: LinkerRoom, key: str, most: int = 50, model: Model | None = None) -> list[str]:
    """Return the keys of at most `most` earlier messages of the conversation, oldest first.

    A model adds uncertain messages if they are likely enough to be useful. Without a model, or in a
    platform's thread, the result is the lane's messages.

    A message that begins a conversation and stands alone has only what is very likely, which may be
    nothing. To a call, others' talk with the agent is no part of the conversation, unless the call
    begins one and does not stand alone: then it is about what was said.
    """
    message = room.by_key.get(key)
    if message is None:
        return []
    if model is None or message.threaded:
        lane = room.lanes[message.lane].heard
        return [heard.key for heard in lane if heard.number < message.number][-most:]
    likeliest = _likeliest(room, key, model)
    begins = room.begins(message)
    left_out: frozenset[str] = frozenset()
    if message.calls and (message.alone or not begins):
        left_out = others_talk(room.before(key), message, model.weights)
    if not left_out and _filled(room, likeliest):
        return latest(room, key, most)
    size = best_size([chance for chance, _ in likeliest], most)
    least = model.least_chosen if begins and message.alone else 0.0
    taken = [one for chance, one in likeliest[:size] if chance >= least]
    taken = [one for one in taken if one.lane not in left_out]
    return [heard.key for heard in sorted(taken, key=lambda one: one.number)]


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


def _filled(room: LinkerRoom, likeliest: Sequence[tuple[float, Heard]]) -> bool:
    last = sorted(likeliest, key=lambda pair: -pair[1].number)[:LAST_MESSAGES]
    expected = sum(chance for chance, _ in last)
    least = DOMINATED_FILLED_SHARE if _dominated(room) else FILLED_SHARE
    return len(last) >= MIN_MESSAGES and expected >= least * len(last)


def _dominated(room: LinkerRoom) -> bool:
    last = [heard.lane for heard in islice(reversed(room.heard), LAST_MESSAGES)]
    return max(Counter(last).values(), default=0) >= DOMINATED_SHARE * len(last)


def _likeliest(room: LinkerRoom, key: str, model: Model | None) -> list[tuple[float, Heard]]:
    """Return the earlier messages with their chances, highest first, then newest first."""
    message = room.by_key.get(key)
    if message is None:
        return []
    before = room.before(key)
    if model is None or message.threaded:
        pairs = [(_likeness(message, heard), heard) for heard in before.heard]
    else:
        pairs = model.relevant(before, message)
    return sorted(pairs, key=lambda pair: (-pair[0], -pair[1].number))


def _likeness(message: Heard, heard: Heard) -> float:
    near = 1 / (10 + message.number - heard.number)
    people = {message.author, *message.mentions}
    close = heard.author in people or message.author in heard.mentions
    return near + 0.05 * close + 0.2 * (heard.lane == message.lane)
