"""Boosted decision trees in plain Python.

A tree is a number (a leaf), or [feature, threshold, tree up to the threshold, tree above it].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from typing import Any, Final

TREES_AT_ONCE: Final = 12  # trees per compiled function; with more, compiling needs much memory
PRUNING_ROUNDS: Final = 2  # number of first functions after which hopeless rows are dropped
Row = Sequence[float]
Function = Callable[[Row], float]


class Trees:
    """Computes the sum of several trees for a row."""

    __slots__ = ("_functions", "width")

    def __init__(self, width: int, trees: Sequence[Any]) -> None:
        """Compile trees for the first `width` numbers of a row; raises ValueError if invalid.

        New features are added at the end of a row, so that older numbers still fit.
        """
        # Nested conditions are four times as fast as walking through tuples, and each message is
        # compared fifty times.
        self.width = width
        self._functions = [
            _compiled(width, trees[at : at + TREES_AT_ONCE])
            for at in range(0, len(trees), TREES_AT_ONCE)
        ]

    def score(self, row: Row) -> float:
        """Return the sum of the trees for one row; raises ValueError if it is too short."""
        row = row[: self.width]
        total = 0.0
        for function in self._functions:
            total += function(row)
        return total

    def scores(self, rows: Sequence[Row], margin: float) -> list[float]:
        """Return the sum for each row, or UNLIKELY if it is more than `margin` below the best."""
        rows = [row[: self.width] for row in rows]
        found = [0.0] * len(rows)
        alive = list(range(len(rows)))
        for count, function in enumerate(self._functions, 1):
            for at in alive:
                found[at] += function(rows[at])
            if alive and count <= PRUNING_ROUNDS:
                least = max(found[at] for at in alive) - margin
                for at in alive:
                    if found[at] < least:
                        found[at] = UNLIKELY
                alive = [at for at in alive if found[at] != UNLIKELY]
        return found

    def estimates(self, rows: Sequence[Row], margin: float) -> list[float]:
        """Return the sum for each row, or what it is so far once `margin` below the best."""
        rows = [row[: self.width] for row in rows]
        found = [0.0] * len(rows)
        alive: Sequence[int] = range(len(rows))
        for function in self._functions:
            for at in alive:
                found[at] += function(rows[at])
            least = max([found[at] for at in alive], default=0.0) - margin
            alive = [at for at in alive if found[at] >= least]
        return found


UNLIKELY: Final = -9.0


def chance(score: float) -> float:
    """Convert a sum of trees, which is in log odds, to a probability."""
    return 1 / (1 + exp(-score)) if score > -50 else 0.0


def _compiled(width: int, trees: Sequence[Any]) -> Function:
    names = ", ".join(f"f{at}" for at in range(width))
    body = "\n".join(f"    s += {_source(tree, width)}" for tree in trees)
    space: dict[str, Any] = {}
    # The source has only numbers that _source has checked.
    exec(f"def f(row):\n    {names}, = row\n    s = 0.0\n{body}\n    return s", space)  # noqa: S102
    function: Function = space["f"]
    return function


def _source(tree: Any, width: int) -> str:
    """Return a tree as a Python expression; raises ValueError if it has anything but numbers."""
    if isinstance(tree, (int, float)):
        return repr(float(tree))
    feature, threshold, low, high = tree
    if not (isinstance(feature, int) and 0 <= feature < width):
        raise ValueError(f"a tree uses the feature {feature!r} of {width}")
    limit = repr(float(threshold))
    return f"({_source(low, width)} if f{feature} <= {limit} else {_source(high, width)})"
