"""Small decision trees in plain Python: boosted, summed, read from numbers.

A tree is a number (its leaf), or [feature, threshold, tree where the feature is at most the
threshold, tree where it is more].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from typing import Any, Final

AT_ONCE: Final = 12
"""Trees in one function: few enough that compiling them needs little memory."""

GATES: Final = 2
"""After how many of these functions the hopeless are dropped, each time."""

Row = Sequence[float]
Function = Callable[[Row], float]


class Trees:
    """A sum of trees."""

    __slots__ = ("_functions", "width")

    def __init__(self, width: int, trees: Sequence[Any]) -> None:
        """Compile trees over rows of `width` numbers; raise ValueError where they are none.

        They become Python functions: a nest of conditions is four times as fast as a walk through
        tuples, and a message is compared fifty times.
        """
        self.width = width
        self._functions = [
            _compiled(width, trees[at : at + AT_ONCE]) for at in range(0, len(trees), AT_ONCE)
        ]

    def score(self, row: Row) -> float:
        """Return the sum of the trees for a row."""
        total = 0.0
        for function in self._functions:
            total += function(row)
        return total

    def scores(self, rows: Sequence[Row], margin: float) -> list[float]:
        """Return the sum of each row; those far below the best are left unfinished, as UNLIKELY.

        They are looked for twice, after some of the trees each time.
        """
        found = [0.0] * len(rows)
        alive = list(range(len(rows)))
        for count, function in enumerate(self._functions, 1):
            for at in alive:
                found[at] += function(rows[at])
            if alive and count <= GATES:
                least = max(found[at] for at in alive) - margin
                for at in alive:
                    if found[at] < least:
                        found[at] = UNLIKELY
                alive = [at for at in alive if found[at] != UNLIKELY]
        return found


UNLIKELY: Final = -9.0


def chance(score: float) -> float:
    """Return the probability that a sum of trees stands for."""
    return 1 / (1 + exp(-score)) if score > -50 else 0.0


def _compiled(width: int, trees: Sequence[Any]) -> Function:
    """Make one function of some trees."""
    names = ", ".join(f"f{at}" for at in range(width))
    body = "\n".join(f"    s += {_source(tree, width)}" for tree in trees)
    space: dict[str, Any] = {}
    # What is run was written by _source out of numbers that it has checked, and nothing else.
    exec(f"def f(row):\n    {names}, = row\n    s = 0.0\n{body}\n    return s", space)  # noqa: S102
    function: Function = space["f"]
    return function


def _source(tree: Any, width: int) -> str:
    """Return a tree as an expression; every number in it is one."""
    if isinstance(tree, (int, float)):
        return repr(float(tree))
    feature, threshold, low, high = tree
    if not (isinstance(feature, int) and 0 <= feature < width):
        raise ValueError(f"a tree asks for number {feature!r} of {width}")
    limit = repr(float(threshold))
    return f"({_source(low, width)} if f{feature} <= {limit} else {_source(high, width)})"
