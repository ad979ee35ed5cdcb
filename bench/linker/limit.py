"""The chance from which on a message begins a conversation, chosen on logs of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Final

import orjson

from bench.irc import read
from bench.linker.score import Score, score, total
from bench.linker.vary import scene
from tape.linking import Linker
from tape.linking.model import Model
from tape.linking.weights import from_numbers

LIMITS: Final = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


def with_limit(numbers: bytes, limit: float) -> bytes:
    """Return a model's file with another limit."""
    return orjson.dumps(orjson.loads(numbers) | {"least_new": limit})


def choose_limit(
    numbers: bytes, paths: Sequence[Path], tell: Callable[[str], object], *, workers: int = 2
) -> float:
    """Return the limit with the best set-F1; of equals, the lowest."""
    found: dict[float, float] = {}
    with ProcessPoolExecutor(workers) as pool:
        for limit in LIMITS:
            scores = total(rated(with_limit(numbers, limit), paths, pool))
            if not scores.queries:
                raise SystemExit("--choose: no line of these logs can be asked for")
            found[limit] = scores.means()["set F1"]
            tell(f"limit {limit}: set F1 {found[limit]:.1f}")
    return max(found, key=lambda limit: found[limit])


def rated(numbers: bytes, paths: Sequence[Path], pool: Executor) -> Iterator[Score]:
    """Give the score of each log; one of replies has no queries."""
    yield from pool.map(_score, [numbers] * len(paths), paths)


def _score(numbers: bytes, path: Path) -> Score:
    return score(scene(read(path)), Linker(_model(numbers)))


@cache
def _model(numbers: bytes) -> Model:
    return from_numbers(numbers)
