"""Search an SQLite store with its index, on the connections of one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import apsw

from tape.database.connection import Database, Reader, end_late
from tape.entry import Entry
from tape.query import Query
from tape.search.entry_terms import searchable_text
from tape.search.index_file import BROKEN, IDS_PER_TAPE, IndexFile, index_schema
from tape.search.index_rows import SPAN, match_of, tables_of
from tape.search.index_search import index_searching
from tape.search.query_text import SearchQuery
from tape.search.scan import MAX_SCANNED, Scanned, scan_here, scanning

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

    `most` is the maximum number of entries to scan on either side of the indexed part. Once it
    `is_late`, a search ends with apsw.InterruptError.
    """

    def __init__(
        self,
        database: Database,
        file: IndexFile,
        most: int = MAX_SCANNED,
        is_late: Callable[[], bool] | None = None,
    ) -> None:
        self._database = database
        self._file = file
        self._most = most
        self._is_late = is_late
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
        if self._is_late is not None and self._is_late():
            raise apsw.InterruptError("the search is late")
        if self._tapes is None:
            connection = self._limited(self._database.read_connection())
            self._tapes = Reader(connection, self._database.statements)
        return self._tapes.query(query)

    def _limited(self, connection: apsw.Connection) -> apsw.Connection:
        if self._is_late is not None:
            end_late(connection, self._is_late)
        return connection

    def _opened(self) -> apsw.Connection | None:
        if self._index is not None and self._generation != self._file.generation:
            self._index.close()
            self._index = None
        if self._index is None:
            self._generation = self._file.generation
            opened = self._file.reader()
            self._index = None if opened is None else self._limited(opened)
        return self._index

    def _search(self, query: Query, wanted: SearchQuery) -> Scanned:
        part = self._part(query.tape)
        pages = self._pages(query, match_of(wanted, query), part) if part else iter(())
        steps = index_searching(query, wanted, part, self._most, searchable_text)
        try:
            asked = next(steps)
            while True:
                asked = steps.send(next(pages, None) if asked is None else self._entries(asked))
        except StopIteration as end:
            found: Scanned = end.value
            return found

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
