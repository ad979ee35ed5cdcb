"""Builds the smallest message that has something at a path of the census."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]

_STEP: Final = re.compile(r"\.?([^.{\[]+)((?:\[\])*)(?:\{([^}]*)\})?")


@dataclass(frozen=True, slots=True)
class Effect:
    """A path whose value is not shown itself: with each of two values, a message reads otherwise.

    around  what else the message has
    read    what reads it, if not the adapter's parser
    """

    values: tuple[Any, Any]
    around: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[Json], object] | None = None

    def seen(self, steps: str, read: Callable[[Json], object]) -> list[object]:
        """Return what is read with each of the values."""
        raws = (merged(dict(self.around), planted(steps, value)) for value in self.values)
        return [(self.read or read)(raw) for raw in raws]


def planted(steps: str, value: Any) -> Json:
    """Return an object that has the value at a path, and of each object on the way its type."""
    found = list(_STEP.finditer(steps))
    if "".join(one[0] for one in found) != steps:
        raise ValueError(f"{steps!r} is no path")
    for one in reversed(found):
        name, lists, kind = one.groups()
        if kind and isinstance(value, dict):
            value = {"type": int(kind) if kind.isdigit() else kind} | value
        for _ in range(len(lists) // 2):
            value = [value]
        value = {"k" if name == "*" else name: value}
    return dict(value)


def leaf(steps: str) -> str:
    """Return the name of the field at the end of a path."""
    return list(_STEP.finditer(steps))[-1][1]


def root(steps: str) -> str:
    """Return the name of the field at the beginning of a path."""
    return next(_STEP.finditer(steps))[1]


def merged(first: Any, second: Any) -> Any:
    """Return two objects as one; where both have a list, their first elements become one, too."""
    if isinstance(first, dict) and isinstance(second, dict):
        both = {name: merged(first[name], second[name]) for name in first if name in second}
        return {**first, **second, **both}
    if isinstance(first, list) and isinstance(second, list) and first and second:
        return [merged(first[0], second[0]), *first[1:]]
    return second
