"""Terms: the one way in which texts and questions are cut into what can be found.

A text is normalised (NFKC, casefold). A character of a script that is written without spaces
stands alone (Han, kana, hangul, Thai ...); elsewhere letters, digits and marks in a row are a word.
The index is given terms with spaces between them, so that Python alone decides what a term is.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any, Final

import regex  # type: ignore[import-untyped]

MAX_TERM_CHARACTERS: Final = 64
"""A longer word is cut: nobody types it, and pasted data would fill the index."""

_SOLO: Final = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\u30fc]&&[\p{L}\p{N}]]"
)
_TERM: Final[Any] = regex.compile(
    rf"{_SOLO}\p{{M}}*|[[\p{{L}}\p{{N}}]--{_SOLO}][[\p{{L}}\p{{N}}\p{{M}}]--{_SOLO}]*",
    regex.VERSION1,
)
_ALONE: Final[Any] = regex.compile(_SOLO, regex.VERSION1)
_ASCII: Final = re.compile(r"[a-z0-9]+")

VERSION: Final = f"1 {unicodedata.unidata_version} {regex.__version__}"
"""An index made by other rules does not answer ours."""


def fold(text: str) -> str:
    """Return a text as terms are taken from it."""
    if text.isascii():
        return text.lower()
    # A folded text may hold what NFKC changes again, so it is normalised on both sides.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def terms(folded: str) -> list[str]:
    """Return the terms of a folded text in their order."""
    found = _ASCII.findall(folded) if folded.isascii() else _TERM.findall(folded)
    return [term[:MAX_TERM_CHARACTERS] for term in found]


def pieces(folded: str) -> list[tuple[str, ...]]:
    """Return what a plain question asks for: each word, and each run of lone characters."""
    found: list[tuple[str, ...]] = []
    end = -1
    for match in _TERM.finditer(folded):
        term = match[0][:MAX_TERM_CHARACTERS]
        if found and match.start() == end and alone(term) and alone(found[-1][-1]):
            found[-1] = (*found[-1], term)
        else:
            found.append((term,))
        end = match.end()
    return found


def pairs(found: list[str]) -> list[str]:
    """Return the neighbours among lone characters, and the last of each run by itself.

    With them a phrase of frequent characters is a rare term. The last one keeps runs apart.
    """
    if all(map(str.isascii, found)):
        return []
    made: list[str] = []
    for place, term in enumerate(found):
        if alone(term):
            follower = found[place + 1] if place + 1 < len(found) else ""
            made.append(term + follower if follower and alone(follower) else term)
    return made


def alone(term: str) -> bool:
    """Tell whether a term is a character that stands by itself."""
    return term[0] > "\x7f" and _alone(term[0])


@functools.lru_cache(maxsize=8192)
def _alone(character: str) -> bool:
    return _ALONE.match(character) is not None
