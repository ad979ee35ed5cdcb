"""Split texts and queries into search terms.

A text is normalised (NFKC, casefold). In scripts without spaces, each character is a term; in
others, each run of letters, digits and marks (`tape.scripts`). The index gets terms separated by
spaces, so that only this module decides what a term is.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import regex  # type: ignore[import-untyped]

from tape.scripts import TERM, compiled, is_unspaced

MAX_TERM_CHARACTERS: Final = 64
"""Maximum characters of a term; longer words are cut, since pasted data would fill the index."""

_TERM: Final = compiled(TERM)
_ASCII: Final = re.compile(r"[a-z0-9]+")

VERSION: Final = f"1 {unicodedata.unidata_version} {regex.__version__}"
"""Identifies the rules for terms; an index made with other rules can't be used."""


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Folding may produce characters that NFKC changes again, so normalise before and after.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def terms(folded: str) -> list[str]:
    found = _ASCII.findall(folded) if folded.isascii() else _TERM.findall(folded)
    return [term[:MAX_TERM_CHARACTERS] for term in found]


def pieces(folded: str) -> list[tuple[str, ...]]:
    """Return the phrases of a plain query: each word, and each run of lone characters."""
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
    """Return the pairs of neighbouring lone characters, and each run's last character alone."""
    # A pair of frequent characters is a rare term. The last character keeps two runs apart.
    if all(map(str.isascii, found)):
        return []
    made: list[str] = []
    for place, term in enumerate(found):
        if alone(term):
            follower = found[place + 1] if place + 1 < len(found) else ""
            made.append(term + follower if follower and alone(follower) else term)
    return made


def alone(term: str) -> bool:
    """Return whether a term is a single character of a script without spaces."""
    return term[0] > "\x7f" and is_unspaced(term[0])
