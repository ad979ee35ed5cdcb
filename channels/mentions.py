"""Whether a text calls somebody by name or mention, where the platform does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_LETTER: Final = r"[^\W\u2e80-\U0003ffff]"
"""A letter of a script that sets words apart: in Chinese a name stands amid other letters."""


def mentions(text: str, name: str) -> bool:
    """Tell whether a text holds `@name` as a word of its own, whatever its case."""
    return _word(f"@{name}").search(text) is not None


def begins_with_mention(text: str, name: str) -> bool:
    """Tell whether a text begins with `@name`."""
    return _word(f"@{name}").match(text) is not None


def calls(text: str, names: Iterable[str]) -> bool:
    """Tell whether a text holds one of some names as a word of its own, whatever its case."""
    return any(_word(name).search(text) for name in names if name)


@lru_cache(maxsize=1024)
def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!{_LETTER}){re.escape(name)}(?!{_LETTER})", re.IGNORECASE)
