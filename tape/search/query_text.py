"""What a person searches for: plain text in, phrases out, and whether an entry says them.

There are no operators, so nothing that a person types can be wrong: words must all be there, a run
of characters that stand alone (Chinese, kana, hangul ...) is a phrase, and so is a piece in double
quotes. A name counts beside words of the text, so that "Ana billing" is what Ana said of billing;
alone it is a word like any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tape.entry import Entry
from tape.errors import QueryRefused
from tape.search.entry_terms import Words, words
from tape.search.tokenizer import fold, pieces, terms

MAX_QUERY_CHARACTERS: Final = 4000
MAX_QUERY_TERMS: Final = 256

_QUOTE: Final = re.compile('["\u201c\u201d\u201e]')


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Phrases, each of them a row of terms, that must all be there."""

    phrases: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, text: str) -> SearchQuery:
        """Read a person's question; raises QueryRefused for one that is too long."""
        if len(text) > MAX_QUERY_CHARACTERS:
            raise QueryRefused(
                f"a search of {len(text)} characters: ask with at most {MAX_QUERY_CHARACTERS}"
            )
        wanted = cls(tuple(dict.fromkeys(_phrases(fold(text)))))
        count = sum(map(len, wanted.phrases))
        if count > MAX_QUERY_TERMS:
            raise QueryRefused(f"a search of {count} words: ask with at most {MAX_QUERY_TERMS}")
        return wanted

    def __bool__(self) -> bool:
        """Tell whether anything is wanted."""
        return bool(self.phrases)

    def matches(self, entry: Entry) -> bool:
        """Tell whether an entry says what is wanted: the reference for every index."""
        return self.matches_words(words(entry))

    def matches_words(self, found: Words) -> bool:
        """Tell whether terms hold every phrase, and at least one of them in the text."""
        text, who = _row(found.text), _row(found.who)
        rows = [_row(phrase) for phrase in self.phrases]
        return any(row in text for row in rows) and all(row in text or row in who for row in rows)


def _row(found: tuple[str, ...] | list[str]) -> str:
    return f" {' '.join(found)} "


def _phrases(folded: str) -> list[tuple[str, ...]]:
    parts = _QUOTE.split(folded)
    found: list[tuple[str, ...]] = []
    for place, part in enumerate(parts):
        closed = place < len(parts) - 1
        if place % 2 and closed:
            found += [tuple(terms(part))]
        else:
            found += pieces(part)
    return [phrase for phrase in found if phrase]
