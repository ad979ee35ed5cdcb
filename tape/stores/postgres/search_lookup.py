"""Search a tape with the index in PostgreSQL.

The newest entries, which are not indexed yet, are scanned. Then the index returns ids, newest
first, and the tape returns the entries, each of which is compared with the search.

A frequent word is found soon by walking back from the newest entry, a rare one by the index of
terms, which returns all of its entries at once. So the walk comes first, and how often the word was
met decides what comes next.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Final

from tape.entry import Entry
from tape.query import Query
from tape.search.edits import edited_ids, edits, edits_of, with_edits
from tape.search.query_text import SearchQuery
from tape.search.scan import MAX_SCANNED, Scanned, newest_first, scan_there, scanning
from tape.search.tokenizer import VERSION
from tape.stores.postgres.binding import bound
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.reader import PostgresReader
from tape.stores.postgres.search_terms import wanted_of, works_of

RULES: Final = f"1 {VERSION}"
"""Identifies how terms are made; an index with other rules can't be used."""

MAX_PAGE: Final = 2000
FIRST_WALK: Final = 1000  # ids of the first walk, by which the frequency is counted
MAX_WALK: Final = 20_000
FIND_COST: Final = 4.0
"""Cost of an entry that the index of terms returns, if the cost of walking past one is 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """The indexed part of a tape: its lowest and highest id, and when it was made."""

    tape: int
    size: int
    low: int
    high: int
    made: int


class _Cleared(Exception):
    """The index was cleared during the search."""


class PostgresLookup:
    """Searches tapes; `most` is the maximum number of entries to scan beside the index."""

    def __init__(
        self, database: PostgresDatabase, reader: PostgresReader, most: int = MAX_SCANNED
    ) -> None:
        self._database = database
        self._reader = reader
        self._most = most

    async def search(self, query: Query, wanted: SearchQuery) -> Scanned:
        """Return the newest hits; they are not `whole` if too many entries aren't indexed."""
        if query.is_empty:
            return Scanned([])
        part = await self._part(query.tape)
        if part is not None:
            try:
                return await self._search(query, wanted, part)
            except _Cleared:
                pass
        return await self._scan(query, wanted)

    async def _search(self, query: Query, wanted: SearchQuery, part: Part) -> Scanned:
        hits, whole = list[Entry](), True
        changed: list[Entry] = []
        moved: set[int] = set()
        if part.size > part.high or wanted.asof is not None:
            found = await self._scan(replace(query, after=max(query.after, part.high)), wanted)
            hits, whole = found.hits, found.whole
            if _full(hits, query):
                return found
            moved, changed = await self._changed(query, wanted, part)
        async for entries in self._pages(query, wanted, part):
            hits += [entry for entry in reversed(entries) if entry.id not in moved]
            if _full(hits, query):
                return Scanned(newest_first(*hits, *changed)[: query.limit], whole)
        hits = newest_first(*hits, *changed)
        if _full(hits, query):
            return Scanned(hits[: query.limit], whole)
        if part.low > query.after + 1:
            before = part.low if query.before is None else min(part.low, query.before)
            rest = None if query.limit is None else query.limit - len(hits)
            found = await self._scan(replace(query, before=before, limit=rest), wanted)
            hits, whole = [*hits, *found.hits], whole and found.whole
        return Scanned(hits, whole)

    async def _changed(
        self, query: Query, wanted: SearchQuery, part: Part
    ) -> tuple[set[int], list[Entry]]:
        """Return the messages whose text in the index is not the one to search, and the hits."""
        known = part.high if wanted.asof is None else min(part.high, wanted.asof)
        numbers = edited_ids(await self._reader.query(edits(query.tape, known)))
        moved = {number for number in numbers if part.low <= number <= part.high}
        if not moved:
            return moved, []
        return moved, await self._matching(query, wanted, sorted(moved))

    async def _pages(
        self, query: Query, wanted: SearchQuery, part: Part
    ) -> AsyncIterator[list[Entry]]:
        """Yield the matching entries of the indexed part, page by page, newest first."""
        placed = await self._reader.between_dates(part.tape, query)
        first = max(part.low, placed.after + 1)
        last = part.high if placed.before is None else min(part.high, placed.before - 1)
        terms = {"wanted": wanted_of(part.tape, wanted, query), "works": works_of(query)}
        size = min((query.limit or MAX_PAGE) + 1, MAX_PAGE)
        looked = met = 0
        walk: int | None = FIRST_WALK
        while first <= last:
            down = first if walk is None else max(first, last - walk + 1)
            ids = await self._ids(part, terms, (down, last), size, walking=walk is not None)
            if ids:
                yield await self._matching(query, wanted, ids)
            passed = last - (ids[-1] if len(ids) == size else down) + 1
            last -= passed
            looked, met = looked + passed, met + len(ids)
            if len(ids) == size:
                size = min(4 * size, MAX_PAGE)
            if walk is not None:
                walk = next_walk(size, met / looked, last - first + 1)

    async def _ids(
        self, part: Part, terms: dict[str, Any], span: tuple[int, int], size: int, *, walking: bool
    ) -> list[int]:
        statement = self._database.sql("search.walk" if walking else "search.find")
        values = {"tape": part.tape, "made": part.made, "first": span[0], "last": span[1]}
        async with self._database.connection() as connection:
            cursor = await connection.execute(statement, values | terms | {"most": size})
            row = await cursor.fetchone()
        if row is None or row[0] is None:
            raise _Cleared
        return list(row[0])

    async def _matching(self, query: Query, wanted: SearchQuery, ids: list[int]) -> list[Entry]:
        entries = await self._reader.query(replace(query, ids=tuple(ids), limit=None))
        asked = edits_of(query.tape, entries, wanted.asof)
        shown = with_edits(entries, await self._reader.query(asked)) if asked else entries
        return [entry for entry in shown if wanted.matches(entry)]

    async def _scan(self, query: Query, wanted: SearchQuery) -> Scanned:
        return await scan_there(scanning(query, wanted, self._most), self._reader.query)

    async def _part(self, name: str) -> Part | None:
        values = bound({"name": name, "rules": RULES})
        async with self._database.connection() as connection:
            cursor = await connection.execute(self._database.sql("search.covered"), values)
            row = await cursor.fetchone()
        return Part(*row) if row is not None and row[2] is not None else None


def next_walk(wanted: int, frequency: float, rest: int) -> int | None:
    """Return how many ids to walk, or None if the index of terms costs less."""
    if not frequency:
        return None
    ids = min(wanted / frequency, rest)
    return min(int(ids * 1.2) + 1, MAX_WALK) if ids <= FIND_COST * frequency * rest else None


def _full(hits: list[Entry], query: Query) -> bool:
    return query.limit is not None and len(hits) >= query.limit
