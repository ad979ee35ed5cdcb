"""The scripts that have no spaces between words, and how their texts are divided.

Search, keywords and the linker all use these definitions. A text in a script without spaces is
compared by its characters, or by pairs of them; Korean has spaces, but its words have endings.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import regex  # type: ignore[import-untyped]

UNSPACED: Final = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\u30fc]&&[\p{L}\p{N}]]"
)
"""A class of characters for a pattern of `regex` with VERSION1."""

CHARACTER: Final = rf"{UNSPACED}\p{{M}}*"
"""A pattern for one such character with its marks."""

SPACED: Final = rf"[[\p{{L}}\p{{N}}]--{UNSPACED}][[\p{{L}}\p{{N}}\p{{M}}]--{UNSPACED}]*"
"""A pattern for a word of all other scripts."""

TERM: Final = rf"{CHARACTER}|{SPACED}"
"""A pattern for a term: a word, or a single character of a script without spaces."""

_CHARACTER: Final[Any] = regex.compile(CHARACTER, regex.VERSION1)
_RUN: Final[Any] = regex.compile(rf"(?:{CHARACTER})+", regex.VERSION1)


@functools.cache
def compiled(pattern: str) -> Any:
    """Compile a pattern that is made of the ones above, or return it if it was compiled before."""
    return regex.compile(pattern, regex.VERSION1)


@functools.lru_cache(maxsize=8192)
def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces."""
    return _CHARACTER.match(character) is not None


def has_unspaced(text: str) -> bool:
    return not text.isascii() and _CHARACTER.search(text) is not None


def runs(text: str) -> list[str]:
    """Return the unbroken runs of characters of scripts without spaces."""
    found: list[str] = [] if text.isascii() else _RUN.findall(text)
    return found


def characters(run: str) -> list[str]:
    """Return the characters of a run, each with its marks."""
    found: list[str] = _CHARACTER.findall(run)
    return found


def pairs(units: list[str], least: int = 2) -> list[str]:
    """Return each two neighbours as one, with the next ones if these have fewer characters."""
    found = []
    for at in range(len(units) - 1):
        end = at + 2
        while end < len(units) and len("".join(units[at:end])) < least:
            end += 1
        found.append("".join(units[at:end]))
    return found or units
