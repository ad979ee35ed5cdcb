"""Builds the smallest message that has something at a path of the census."""

from __future__ import annotations

import re
from typing import Any, Final

Json = dict[str, Any]

_STEP: Final = re.compile(r"\.?([^.{\[]+)((?:\[\])*)(?:\{([^}]*)\})?")


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
