"""Turn entries and searches into terms for PostgreSQL's text search, which only compares them.

A term is a short digest of a tape's number, a stretch of its ids, a column and a word: so one index
serves all tapes, returns no more than a stretch at once, and holds no words that can be read. Two
words may share a digest, and the place of a word in its text is not kept, so every hit is compared
with its entry.
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from tape.entry import Entry
from tape.query import Query
from tape.search.entry_terms import TALK, words
from tape.search.indexer import SLICE_SECONDS
from tape.search.query_text import SearchQuery
from tape.search.tokenizer import alone, pairs
from tape.stores.postgres.measures import STRETCH

MAX_TERMS: Final = 50_000
"""Maximum terms of an entry, of which PostgreSQL takes a megabyte; one with more is always read."""

_TAGS: Final = ("author", "lane")


def is_work(kind: str) -> bool:
    """Return whether a kind of entry is searched only on request."""
    return kind not in TALK


def works_of(query: Query) -> list[bool]:
    if query.kinds is None:
        return [False, True]
    return sorted({is_work(kind) for kind in query.kinds})


def terms_of(tape: int, entry: Entry, stretch: int = STRETCH) -> str:
    """Return the terms of an entry, separated by spaces; none if the entry has no text."""
    found = words(entry)
    if not found.text:
        return ""
    made = _Terms(tape, entry.id // stretch, work=is_work(entry.kind))
    distinct = {*(("text", word) for word in (*found.text, *pairs(found.text)))}
    distinct |= {("who", word) for word in found.who}
    if len(distinct) > MAX_TERMS:
        distinct = {("long", "")}
    distinct |= {("kind", entry.kind)}
    values = ((name, entry.meta.get(name)) for name in _TAGS)
    distinct |= {(name, value) for name, value in values if isinstance(value, str)}
    return " ".join(made.term(*one) for one in distinct)


class Wanted(NamedTuple):
    """The search of a stretch as PostgreSQL reads it: all that matches is found by `named`.

    If no entry of the stretch is found by `names`, `plain` finds the same, at half the cost. They
    are equal without `names`.
    """

    named: str
    plain: str
    names: str | None


def wanted_of(tape: int, stretch: int, wanted: SearchQuery, query: Query) -> Wanted:
    tables = [_Terms(tape, stretch, work=work) for work in works_of(query)]
    named, plain, names = (
        [part for part in parts if part]
        for parts in zip(*(_wanted(made, wanted, query) for made in tables), strict=True)
    )
    return Wanted(_any(named), _any(plain), _any(names) if names else None)


def _wanted(made: _Terms, wanted: SearchQuery, query: Query) -> Wanted:
    texts = [_all(made.quoted("text", term) for term in _needed(p)) for p in wanted.phrases]
    plain = _narrowed(made, texts, query)
    if len(texts) == 1:
        return Wanted(plain, plain, None)
    names = [_all(made.quoted("who", term) for term in phrase) for phrase in wanted.phrases]
    either = [*map(_any, zip(texts, names, strict=True)), _any(texts)]
    return Wanted(_narrowed(made, either, query), plain, _any(names))


def _narrowed(made: _Terms, parts: list[str], query: Query) -> str:
    narrowed = [_any((_all(parts), made.quoted("long", "")))]
    for name, value in (("author", query.author), ("lane", query.lane)):
        if value is not None and not (name == "lane" and query.unlaned):
            narrowed.append(made.quoted(name, value))
    if query.kinds and "message" not in query.kinds:
        narrowed.append(_any(made.quoted("kind", kind) for kind in sorted(set(query.kinds))))
    return _all(narrowed)


def _needed(phrase: Sequence[str]) -> Iterator[str]:
    """Yield what a text with a phrase has: pairs of lone characters are rarer than these."""
    for single, group in groupby(phrase, alone):
        run = list(group)
        yield from map("".join, pairwise(run)) if single and len(run) > 1 else run


class _Terms:
    """Makes the terms of one stretch of a tape."""

    def __init__(self, tape: int, stretch: int, *, work: bool) -> None:
        self._prefix = f"{tape} {stretch}{'w' if work else 't'}"

    def term(self, column: str, word: str) -> str:
        text = f"{self._prefix}{column} {word}".encode("utf-8", "surrogatepass")
        return urlsafe_b64encode(blake2b(text, digest_size=6).digest()).decode()

    def quoted(self, column: str, word: str) -> str:
        return f"'{self.term(column, word)}'"


def _all(parts: Iterator[str] | Sequence[str]) -> str:
    return f"({' & '.join(parts)})"


def _any(parts: Iterator[str] | Sequence[str]) -> str:
    return f"({' | '.join(parts)})"


def terms_of_all(entries: Sequence[tuple[int, Entry]], stretch: int = STRETCH) -> list[str]:
    """Make the terms of entries in a thread, which lets others run every few milliseconds."""
    made: list[str] = []
    end = time.perf_counter() + SLICE_SECONDS
    for number, entry in entries:
        made.append(terms_of(number, entry, stretch))
        if time.perf_counter() > end:
            time.sleep(SLICE_SECONDS)
            end = time.perf_counter() + SLICE_SECONDS
    return made
