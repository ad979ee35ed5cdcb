"""Which earlier messages belong to the conversation of one: ranked, or chosen.

Membership of a lane is fixed as a message arrives; these look back from a later moment and may know
better. Both are functions of the room alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Final

from tape.linking.model import Model
from tape.linking.room import Heard, LinkerRoom

LAST: Final = 40
LEAST: Final = 15
"""How many of the last messages tell whether one conversation fills the room."""

FILLED: Final = 0.7
"""Where this share of them is expected to be of the conversation, the last messages are taken."""

DOMINATED: Final = 0.85
FILLED_LANE: Final = 0.3
"""The same where so many are of one lane: what seems to start another there seldom does."""


def ranked(room: LinkerRoom, key: str, k: int, model: Model | None = None) -> list[str]:
    """Return the keys of at most k earlier messages, the likeliest of the conversation first."""
    return [heard.key for _, heard in _likeliest(room, key, model)[:k]]


def chosen(room: LinkerRoom, key: str, most: int = 50, model: Model | None = None) -> list[str]:
    """Return the keys of the conversation's earlier messages, oldest first; not filled up.

    With a model what is unsure is taken along where it is worth its place; without one, or in a
    platform's thread, these are the lane's.
    """
    asked = room.by_key.get(key)
    if asked is None:
        return []
    if model is None or asked.threaded:
        lane = room.lanes[asked.lane].heard
        return [heard.key for heard in lane if heard.number < asked.number][-most:]
    likeliest = _likeliest(room, key, model)
    if _filled(room, likeliest):
        return latest(room, key, most)
    size = best_size([chance for chance, _ in likeliest], most)
    taken = sorted(likeliest[:size], key=lambda pair: pair[1].number)
    return [heard.key for _, heard in taken]


def latest(room: LinkerRoom, key: str, most: int) -> list[str]:
    """Return the keys of the last messages before one, oldest first."""
    return [heard.key for heard in room.before(key).heard][-most:] if key in room.by_key else []


def best_size(chances: Sequence[float], most: int) -> int:
    """Return how many of the likeliest to take, for the best sum of recall and precision.

    `chances` come highest first. Of n taken, sum(n) / n are expected to be right, and sum(n) of all
    that there are.
    """
    everything = sum(chances) or 1.0
    best, size, total = 0.0, 0, 0.0
    for taken, chance in enumerate(chances[:most], 1):
        total += chance
        worth = total / taken + total / everything
        if worth > best:
            best, size = worth, taken
    return size


def _filled(room: LinkerRoom, likeliest: Sequence[tuple[float, Heard]]) -> bool:
    """Tell whether one conversation fills the room, by what is expected of its last messages."""
    last = sorted(likeliest, key=lambda pair: -pair[1].number)[:LAST]
    expected = sum(chance for chance, _ in last)
    least = FILLED_LANE if _dominated(room) else FILLED
    return len(last) >= LEAST and expected >= least * len(last)


def _dominated(room: LinkerRoom) -> bool:
    """Tell whether nearly all of the last messages are of one lane."""
    last = [heard.lane for heard in islice(reversed(room.heard), LAST)]
    return max(Counter(last).values(), default=0) >= DOMINATED * len(last)


def _likeliest(room: LinkerRoom, key: str, model: Model | None) -> list[tuple[float, Heard]]:
    """Return the messages before one with their chances, the likeliest first, then the newest."""
    asked = room.by_key.get(key)
    if asked is None:
        return []
    before = room.before(key)
    if model is None or asked.threaded:
        pairs = [(_likeness(asked, heard), heard) for heard in before.heard]
    else:
        pairs = model.relevant(before, asked)
    return sorted(pairs, key=lambda pair: (-pair[0], -pair[1].number))


def _likeness(asked: Heard, heard: Heard) -> float:
    """Fuse recency, speaker and lane."""
    near = 1 / (10 + asked.number - heard.number)
    people = {asked.author, *asked.mentions}
    close = heard.author in people or asked.author in heard.mentions
    return near + 0.05 * close + 0.2 * (heard.lane == asked.lane)
