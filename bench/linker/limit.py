"""The two bounds of a model, chosen on logs of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Final

import orjson

from bench.irc import read
from bench.linker.bot_bank import Bank
from bench.linker.bot_rooms import bot_room
from bench.linker.score import Score, score, total
from bench.linker.vary import scene
from tape.linking import Linker
from tape.linking.model import Model
from tape.linking.weights import from_numbers

NEW: Final = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
"""Chances from which on a message may begin a conversation."""

CHOSEN: Final = (0.3, 0.4, 0.5, 0.6, 0.7)
"""Chances of what may be shown to a message that begins one and stands alone."""

COST: Final = 0.2
"""How much set-F1 it may cost that such a message is shown little or nothing."""

EVERY: Final = 5  # each so many-th line is asked for, to choose a bound
Tell = Callable[[str], object]
Places = Sequence[Sequence[Path]]


def with_bounds(numbers: bytes, **bounds: float) -> bytes:
    """Return a model's file with other bounds."""
    return orjson.dumps(orjson.loads(numbers) | bounds)


def choose_bounds(numbers: bytes, places: Places, tell: Tell, *, workers: int = 2) -> bytes:
    """Return the numbers with the bounds that are best in all places, whatever their size.

    A place is a kind of room. `least_new` is the one with the best set-F1, and `least_chosen` the
    highest that costs hardly any in rooms with the agent.
    """
    with ProcessPoolExecutor(workers) as pool:
        found = _means(numbers, "least_new", NEW, partial(_rooms, pool), places, tell)
        new = max(found, key=lambda limit: found[limit])
        numbers = with_bounds(numbers, least_new=new)
        found = _means(numbers, "least_chosen", CHOSEN, partial(_bot_rooms, pool), places, tell)
    best = max(found.values())
    chosen = max(limit for limit, mean in found.items() if mean >= best - COST)
    return with_bounds(numbers, least_chosen=chosen)


def rated(numbers: bytes, paths: Sequence[Path], pool: Executor) -> Iterator[Score]:
    """Give the score of each log; one of replies has no queries."""
    yield from pool.map(_score, [numbers] * len(paths), paths)


def _means(
    numbers: bytes,
    name: str,
    limits: Sequence[float],
    rate: Callable[[bytes, Sequence[Path]], Iterator[Score]],
    places: Places,
    tell: Tell,
) -> dict[float, float]:
    """Return the mean set-F1 of the places for each limit."""
    found = {}
    for limit in limits:
        other = with_bounds(numbers, **{name: limit})
        scores = [one for paths in places if (one := total(rate(other, paths))).queries]
        if not scores:
            raise SystemExit("--choose: no line of these logs can be asked for")
        each = [one.means()["set F1"] for one in scores]
        found[limit] = fmean(each)
        tell(f"{name} {limit}: set F1 {found[limit]:.2f} ({' '.join(f'{f1:.1f}' for f1 in each)})")
    return found


def _rooms(pool: Executor, numbers: bytes, paths: Sequence[Path]) -> Iterator[Score]:
    yield from pool.map(partial(_score, numbers, every=EVERY), paths)


def _bot_rooms(pool: Executor, numbers: bytes, paths: Sequence[Path]) -> Iterator[Score]:
    yield from pool.map(partial(_score_with_agent, numbers, tuple(paths)), paths)


def _score(numbers: bytes, path: Path, every: int = 1) -> Score:
    return score(scene(read(path)), Linker(_model(numbers)), every=every)


def _score_with_agent(numbers: bytes, paths: tuple[Path, ...], path: Path) -> Score:
    room = bot_room(read(path), _bank(paths), seed=1)
    return score(room.scene, Linker(_model(numbers)), every=EVERY)


@cache
def _model(numbers: bytes) -> Model:
    return from_numbers(numbers)


@cache
def _bank(paths: tuple[Path, ...]) -> Bank:
    return Bank(map(read, paths))
