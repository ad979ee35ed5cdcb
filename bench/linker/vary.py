"""Rooms that a log could have been: with fewer conversations, other paces, mentions, replies."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from bench.irc import Line, Log

KEPT: Final = (0.08, 0.15, 0.3, 0.5, 0.8)
"""Shares of the conversations that are kept."""

DROPPED: Final = (0.0, 0.3, 0.9, 1.0)
"""Shares of the mentions that are dropped; seven in ten from the text as well."""

FROM_TEXT: Final = 0.7
SLOWEST: Final = 12.0
FASTEST: Final = 0.3
REPLIED: Final = (0.0, 0.0, 0.3, 0.6)
"""Shares of the annotated links that are given as a platform's replies."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A log to play, and which of its lines are replies to which."""

    log: Log
    replies: dict[int, int]


def scene(log: Log, replied: float = 0.0, seed: int = 0) -> Scene:
    """Return a log as it is, a share of its links given as replies."""
    rng = random.Random(f"{seed} {log.name}")
    given = {
        line: max(parents)
        for line, parents in sorted(log.parents.items())
        if replied and rng.random() < replied
    }
    return Scene(log, given)


def varied(log: Log, seed: int) -> Scene:
    """Return another room that the log could have been, the same for the same seed."""
    rng = random.Random(f"{seed} {log.name}")
    keeps = _keeps(log, rng.choice(KEPT), rng)
    dropped, pace = rng.choice(DROPPED), _pace(rng)
    lines = tuple(_changed(log.lines, keeps, dropped, pace, rng))
    left = {line.number for line in lines}
    parents = {
        line: kept
        for line, all_ in log.parents.items()
        if line in left and (kept := tuple(parent for parent in all_ if parent in left))
    }
    return scene(replace(log, lines=lines, parents=parents), rng.choice(REPLIED), seed)


def _keeps(log: Log, share: float, rng: random.Random) -> Callable[[Line], bool]:
    """Return which lines are kept: whole conversations, and people where none are annotated."""
    known: dict[int | str, bool] = {}

    def keeps(line: Line) -> bool:
        of = log.conversation.get(line.number, line.author)
        if of not in known:
            known[of] = rng.random() < share
        return known[of]

    return keeps


def _pace(rng: random.Random) -> float:
    """Return how many times slower a room is."""
    return math.exp(rng.uniform(math.log(FASTEST), math.log(SLOWEST)))


def _changed(
    lines: tuple[Line, ...],
    keeps: Callable[[Line], bool],
    dropped: float,
    pace: float,
    rng: random.Random,
) -> Iterator[Line]:
    """Give the lines that are kept, as they are said in the other room."""
    for line in filter(keeps, lines):
        text, mentions = line.text, line.mentions
        if mentions and rng.random() < dropped:
            if rng.random() < FROM_TEXT:
                for name in mentions:
                    text = text.replace(name, "").strip(" ,:")
            mentions = ()
        yield replace(line, at=line.at * pace, text=text, mentions=mentions)
