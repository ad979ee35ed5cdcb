"""Read a plain-text query into phrases, and match entries against the phrases.

There are no operators, so no query is invalid. An entry must have all words; a run of lone
characters (Chinese, kana, hangul ...) is a phrase, and so is text in double quotes. A word may
match the author if another word matches the text: "Ana billing" finds what Ana said of billing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from tape.entry import Entry
from tape.errors import QueryRefused
from tape.search.entry_terms import Words, words
from tape.search.tokenizer import fold, pieces, terms

MAX_QUERY_CHARACTERS: Final = 4000
MAX_QUERY_TERMS: Final = 256
MAX_RANKED: Final = 200  # maximum newest hits to rank
MAX_RANKED_CHARACTERS: Final = 4000  # maximum characters of a hit to rank

_QUOTE: Final = re.compile('["\u201c\u201d\u201e]')


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The phrases that an entry must have; each is a sequence of terms.

    Messages are matched as they were last edited up to the entry `asof`, or as they read now.
    """

    phrases: tuple[tuple[str, ...], ...]
    asof: int | None = None
    _hits: dict[int, tuple[Entry, Words]] = field(default_factory=dict, compare=False, repr=False)

    def up_to(self, entry: int) -> SearchQuery:
        """Return the query for a tape as it was at an entry."""
        return replace(self, asof=entry if self.asof is None else min(self.asof, entry))

    @classmethod
    def read(cls, text: str) -> SearchQuery:
        """Read a query; raises QueryRefused if it is too long."""
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
        return bool(self.phrases)

    def matches(self, entry: Entry) -> bool:
        """Return whether an entry matches; every index must agree with this."""
        found = words(entry)
        hit = self.matches_words(found)
        if hit and len(self._hits) < MAX_RANKED and found.characters <= MAX_RANKED_CHARACTERS:
            self._hits[entry.id] = entry, found
        return hit

    def words_of(self, entry: Entry) -> Words:
        """Return the terms by which an entry is ranked, those of a hit as they were matched."""
        same, found = self._hits.get(entry.id, (None, None))
        return found if found and same is entry else words(entry, MAX_RANKED_CHARACTERS)

    def matches_words(self, found: Words) -> bool:
        """Return whether the terms have every phrase, and at least one phrase is in the text."""
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
