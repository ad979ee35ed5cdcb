"""Finds mentions and names in a text, for platforms that do not mark them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_LETTER: Final = r"[^\W\u2e80-\U0003ffff]"
"""A letter of a script with spaces between words; in Chinese a name has letters on both sides."""


def mentions(text: str, name: str) -> bool:
    """Return whether a text contains `@name` as a whole word; case is ignored."""
    return _word(f"@{name}").search(text) is not None


def begins_with_mention(text: str, name: str) -> bool:
    return _word(f"@{name}").match(text) is not None


def end_of_mention(text: str, name: str) -> int:
    """Return where the `@name` ends that a text begins with, or 0."""
    start = len(text) - len(text.lstrip())
    found = _word(f"@{name}").match(text, start)
    return found.end() if found is not None else 0


def calls(text: str, names: Iterable[str]) -> bool:
    """Return whether a text contains one of the names as a whole word; case is ignored."""
    return any(_word(name).search(text) for name in names if name)


def without(text: str, names: Iterable[str]) -> str:
    """Return a text without the names, where they are whole words."""
    for name in names:
        text = _word(name).sub(" ", text) if name else text
    return text


@lru_cache(maxsize=1024)
def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!{_LETTER}){re.escape(name)}(?!{_LETTER})", re.IGNORECASE)
