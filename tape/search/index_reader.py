"""Search with the index, on the connections of one thread.

The newest entries, which are not indexed yet, are scanned. Then the index returns ids, newest
first, and the tapes return the entries: a hit always shows what the tape has, never erased text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import apsw

from tape.database.connection import Database, Reader
from tape.entry import Entry
from tape.query import Query
from tape.search.edits import edited_ids, edits, edits_of, with_edits
from tape.search.entry_terms import searchable_text
from tape.search.index_file import BROKEN, IDS_PER_TAPE, IndexFile, index_schema
from tape.search.index_rows import SPAN, match_of, tables_of
from tape.search.query_text import SearchQuery
from tape.search.scan import MAX_SCANNED, Scanned, newest_first, scan_here, scanning

MAX_PAGE: Final = 2000
_EVER: Final = "\U0010ffff"


class IndexBroken(Exception):
    """The index can't be used, and must be rebuilt."""


@dataclass(frozen=True, slots=True)
class Part:
    """The indexed part of a tape: the tape's number, and the lowest and highest id."""

    tape: int
    low: int
    high: int


class Lookup:
    """Searches tapes with their index, on one thread's connections.

    `most` is the maximum number of entries to scan on either side of the indexed part.
    """

    def __init__(self, database: Database, file: IndexFile, most: int = MAX_SCANNED) -> None:
        self._database = database
        self._file = file
        self._most = most
        self._tapes: Reader | None = None
        self._index: apsw.Connection | None = None
        self._generation = -1
        self._sql = index_schema().statements

    def search(self, query: Query, wanted: SearchQuery) -> Scanned:
        """Return the newest hits; they are not `whole` if too many entries aren't indexed."""
        index = self._opened()
        if index is None:
            return self.scan(query, wanted)
        try:
            index.execute("BEGIN")
            return self._search(query, wanted)
        except BROKEN as cause:
            raise IndexBroken(f"the index cannot be read: {cause}") from cause
        finally:
            if index.in_transaction:
                index.execute("ROLLBACK")

    def scan(self, query: Query, wanted: SearchQuery) -> Scanned:
        return scan_here(scanning(query, wanted, self._most), self._entries)

    def close(self) -> None:
        for connection in (self._tapes, self._index):
            if connection is not None:
                connection.close()
        self._tapes = self._index = None

    def _entries(self, query: Query) -> list[Entry]:
        self._tapes = self._tapes or self._database.reader()
        return self._tapes.query(query)

    def _opened(self) -> apsw.Connection | None:
        if self._index is not None and self._generation != self._file.generation:
            self._index.close()
            self._index = None
        if self._index is None:
            self._generation = self._file.generation
            self._index = self._file.reader()
        return self._index

    def _search(self, query: Query, wanted: SearchQuery) -> Scanned:
        part = self._part(query.tape)
        newer = replace(query, after=max(query.after, part.high if part else 0))
        found = self.scan(newer, wanted)
        if part is None or _full(found.hits, query):
            return found
        moved, changed = self._changed(query, wanted, part)
        hits, whole = found.hits, found.whole
        for page in self._pages(query, match_of(wanted, query), part):
            entries = self._read(replace(query, ids=tuple(page), limit=None), wanted)
            entries = [entry for entry in entries if entry.id not in moved]
            hits += [entry for entry in reversed(entries) if searchable_text(entry)]
            if _full(hits, query):
                return Scanned(newest_first(*hits, *changed)[: query.limit], whole)
        hits = newest_first(*hits, *changed)
        if _full(hits, query):
            return Scanned(hits[: query.limit], whole)
        if part.low > query.after + 1:
            before = part.low if query.before is None else min(part.low, query.before)
            rest = None if query.limit is None else query.limit - len(hits)
            older = replace(query, before=before, limit=rest)
            found = self.scan(older, wanted)
            hits, whole = [*hits, *found.hits], whole and found.whole
        return Scanned(hits, whole)

    def _changed(
        self, query: Query, wanted: SearchQuery, part: Part
    ) -> tuple[set[int], list[Entry]]:
        """Return the messages whose text in the index is not the one to search, and the hits."""
        known = part.high if wanted.asof is None else min(part.high, wanted.asof)
        numbers = edited_ids(self._entries(edits(query.tape, known)))
        moved = {number for number in numbers if part.low <= number <= part.high}
        if not moved:
            return moved, []
        entries = self._read(replace(query, ids=tuple(moved), limit=None), wanted)
        return moved, [entry for entry in entries if wanted.matches(entry)]

    def _read(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        entries = self._entries(query)
        asked = edits_of(query.tape, entries, wanted.asof)
        return with_edits(entries, self._entries(asked)) if asked else entries

    def _part(self, name: str) -> Part | None:
        rows = self._ask("covered", {"name": name})
        return Part(*rows[0]) if rows else None

    def _pages(self, query: Query, match: str, part: Part) -> Iterator[list[int]]:
        size = min((query.limit or MAX_PAGE) + 1, MAX_PAGE)
        for first, last in self._stretches(query, part):
            while True:
                page = self._page(tables_of(query.kinds), match, part.tape, (first, last), size)
                if page:
                    yield page
                if len(page) < size:
                    break
                last = page[-1] - 1
                size = min(4 * size, MAX_PAGE)

    def _page(
        self, tables: tuple[str, ...], match: str, tape: int, ids: tuple[int, int], size: int
    ) -> list[int]:
        values = {
            "match": match,
            "first": tape * IDS_PER_TAPE + ids[0],
            "last": tape * IDS_PER_TAPE + ids[1],
            "limit": size,
        }
        found = [row[0] for table in tables for row in self._ask(f"find_{table}", values)]
        return [place - tape * IDS_PER_TAPE for place in sorted(found, reverse=True)[:size]]

    def _stretches(self, query: Query, part: Part) -> Iterator[tuple[int, int]]:
        """Yield the ranges of ids that may have the query's dates, newest first."""
        low = max(part.low, query.after + 1)
        high = part.high if query.before is None else min(part.high, query.before - 1)
        if low > high:
            return
        if query.since is None and query.until is None:
            yield low, high
            return
        dates = {"since": query.since or "", "until": query.until or _EVER}
        blocks = [row[0] for row in self._ask("spans", {"tape": part.tape, **dates})]
        while blocks:
            newest = oldest = blocks.pop(0)
            while blocks and blocks[0] == oldest - 1:
                oldest = blocks.pop(0)
            first, last = max(low, oldest * SPAN), min(high, newest * SPAN + SPAN - 1)
            if first <= last:
                yield first, last

    def _ask(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        assert self._index is not None
        return list(self._index.execute(self._sql[f"search.{statement}"], values))


def _full(hits: list[Entry], query: Query) -> bool:
    return query.limit is not None and len(hits) >= query.limit
