"""Search with an index: the steps that all indexes share.

The newest entries, which are not indexed yet, are scanned. Then the index returns ids, newest
first, and the tapes return the entries: a hit always shows what the tape has, never erased text.
Like a scan, a search yields queries and receives their answers; it yields None to receive the next
ids from the index, or None after the last.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from tape.entry import Entry
from tape.query import Query
from tape.search.edits import edited_ids, edits, edits_of, with_edits
from tape.search.query_text import SearchQuery
from tape.search.scan import Scanned, newest_first, scanning

IndexSearch = Generator[Query | None, Any, Scanned]


class Indexed(Protocol):
    """The indexed part of a tape: the lowest and the highest id."""

    @property
    def low(self) -> int: ...

    @property
    def high(self) -> int: ...


def index_searching(
    query: Query,
    wanted: SearchQuery,
    part: Indexed | None,
    most: int,
    is_hit: Callable[[Entry], object],
) -> IndexSearch:
    """Return the newest hits; `most` is the maximum number of entries to scan on either side.

    `is_hit` checks an entry that the index has returned.
    """
    newer = replace(query, after=max(query.after, part.high if part else 0))
    found = yield from scanning(newer, wanted, most)
    if part is None or _full(found.hits, query):
        return found
    hits, whole = found.hits, found.whole
    moved, changed = yield from _changed(query, wanted, part)
    while not _full(hits, query) and (page := (yield None)) is not None:
        entries = yield from _read(replace(query, ids=tuple(page), limit=None), wanted)
        hits += [e for e in reversed(entries) if e.id not in moved and is_hit(e)]
    hits = newest_first(*hits, *changed)
    if part.low > query.after + 1 and not _full(hits, query):
        before = part.low if query.before is None else min(part.low, query.before)
        rest = None if query.limit is None else query.limit - len(hits)
        older = replace(query, before=before, limit=rest)
        found = yield from scanning(older, wanted, most)
        hits, whole = [*hits, *found.hits], whole and found.whole
    return Scanned(hits if query.limit is None else hits[: query.limit], whole)


def _changed(
    query: Query, wanted: SearchQuery, part: Indexed
) -> Generator[Query, list[Entry], tuple[set[int], list[Entry]]]:
    """Return the messages whose text in the index is not the one to search, and the hits."""
    known = part.high if wanted.asof is None else min(part.high, wanted.asof)
    numbers = edited_ids((yield edits(query.tape, known)))
    moved = {number for number in numbers if part.low <= number <= part.high}
    if not moved:
        return moved, []
    entries = yield from _read(replace(query, ids=tuple(moved), limit=None), wanted)
    return moved, [entry for entry in entries if wanted.matches(entry)]


def _read(query: Query, wanted: SearchQuery) -> Generator[Query, list[Entry], Sequence[Entry]]:
    entries = yield query
    asked = edits_of(query.tape, entries, wanted.asof)
    return with_edits(entries, (yield asked)) if asked else entries


def _full(hits: list[Entry], query: Query) -> bool:
    return query.limit is not None and len(hits) >= query.limit
