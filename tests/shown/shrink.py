"""Makes a text smaller that fails, so that a person can read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

SEPARATORS: Final = ("\n\n", "\n", " ")
MAX_TRIES: Final = 400


def smaller(text: str, fails: Callable[[str], bool]) -> str:
    """Return a text without most of the blocks, lines and words that a failure does not need."""
    tries = 0
    for separator in SEPARATORS:
        parts = text.split(separator)
        size = len(parts) // 2
        while size:
            at = 0
            while at < len(parts) and tries < MAX_TRIES:
                tries += 1
                rest = parts[:at] + parts[at + size :]
                if rest and fails(separator.join(rest)):
                    parts = rest
                else:
                    at += size
            size //= 2
        text = separator.join(parts)
    return text
