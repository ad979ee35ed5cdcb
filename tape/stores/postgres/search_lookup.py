"""Search a tape with the index in PostgreSQL.

A frequent word is found soon by walking back from the newest entry, a rare one by the index of
terms, which returns all of its entries in a stretch of the tape at once. So the walk comes first,
and how often the word was met decides what comes next.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import anyio.lowlevel

from tape.query import Query
from tape.search.index_search import index_searching
from tape.search.query_text import SearchQuery
from tape.search.scan import MAX_SCANNED, Scanned
from tape.search.tokenizer import VERSION
from tape.stores.postgres.binding import bound
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.measures import STRETCH
from tape.stores.postgres.reader import PostgresReader
from tape.stores.postgres.search_terms import wanted_of, works_of

RULES: Final = f"2 {VERSION}"
"""Identifies how terms are made; an index with other rules can't be used."""

MAX_PAGE: Final = 2000  # maximum ids that the index returns at once
MAX_READ: Final = 250  # maximum entries to compare before the event loop may run other tasks
MAX_WALK: Final = 20_000
FIND_COST: Final = 4.0
"""Cost of an entry that the index of terms returns, if the cost of walking past one is 1."""


@dataclass(frozen=True, slots=True)
class IndexedPart:
    """The indexed part of a tape: its lowest and highest id, and when it was made."""

    tape: int
    size: int
    low: int
    high: int
    made: int


class _Cleared(Exception):
    """The index was cleared during the search."""


class PostgresLookup:
    """Searches tapes; `most` is the maximum number of entries to scan beside the index.

    `lacks` hears of a tape that the index does not have in full, and from which entry on it does.
    `look` is called before each read, and ends the search with what it raises.
    """

    def __init__(
        self,
        database: PostgresDatabase,
        reader: PostgresReader,
        lacks: Callable[[str, int], None],
        most: int = MAX_SCANNED,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._reader = reader
        self._lacks = lacks
        self._most = most
        self._look = look

    async def search(self, query: Query, wanted: SearchQuery) -> Scanned:
        """Return the newest hits; they are not `whole` if too many entries aren't indexed."""
        part = await self._part(query.tape)
        try:
            return await self._search(query, wanted, part)
        except _Cleared:
            return await self._search(query, wanted, None)

    async def _search(self, query: Query, wanted: SearchQuery, part: IndexedPart | None) -> Scanned:
        steps = index_searching(query, wanted, part, self._most, wanted.matches)
        async with aclosing(self._pages(query, wanted, part)) as pages:
            try:
                asked = next(steps)
                while True:
                    self._look()
                    if asked is None:
                        answer: object = await anext(pages, None)
                    elif part is not None and part.size <= asked.after:
                        answer = []  # nothing stands there
                    else:
                        answer = await self._reader.query(asked)
                    asked = steps.send(answer)
                    await anyio.lowlevel.checkpoint()
            except StopIteration as end:
                found: Scanned = end.value
                return found

    async def _pages(
        self, query: Query, wanted: SearchQuery, part: IndexedPart | None
    ) -> AsyncGenerator[list[int], None]:
        """Yield the ids of the indexed part that have the terms, page by page, newest first."""
        if part is None or query.is_empty:
            return
        placed = await self._reader.between_dates(part.tape, query)
        first = max(part.low, placed.after + 1)
        last = part.high if placed.before is None else min(part.high, placed.before - 1)
        size = min((query.limit or MAX_PAGE) + 1, MAX_PAGE)
        looked, met, own = 0, 0, self._database.measures
        walk: int | None = own.first_walk
        held: list[int] = []  # too few to be read by themselves
        while first <= last:
            down = max(first, last - (walk or own.most_found) + 1)
            spans = stretches(down, last, own.stretch)
            most = size - len(held)
            parts = [wanted_of(part.tape, span[0] // own.stretch, wanted, query) for span in spans]
            asked = {
                "tape": part.tape,
                "made": part.made,
                "firsts": [span[0] for span in spans],
                "lasts": [span[1] for span in spans],
                "wanted": [one.named for one in parts],
                "plain": [one.plain for one in parts],
                "names": [one.names for one in parts],
                "most": most,
            }
            ids = await self._ids(asked, works_of(query) if walk else None)
            passed = last - (ids[-1] if len(ids) == most else down) + 1
            last -= passed
            looked, met = looked + passed, met + len(ids)
            held += ids
            if len(ids) == most or first > last:
                for start in range(0, len(held), MAX_READ):
                    yield held[start : start + MAX_READ]
                held = []
                size = min(4 * size, MAX_PAGE)
            if walk is not None:
                rest = last - first + 1
                walk = next_walk(size - len(held), met / looked, rest, own.stretch)

    async def _ids(self, asked: dict[str, Any], works: list[bool] | None) -> list[int]:
        statement = self._database.sql("search.walk" if works else "search.find")
        self._look()
        async with self._reader.connection() as connection:
            cursor = await connection.execute(statement, asked | {"works": works})
            row = await cursor.fetchone()
        if row is None or row[0] is None:
            raise _Cleared
        return list(row[0])

    async def _part(self, name: str) -> IndexedPart | None:
        async with self._reader.connection() as connection:
            sql = self._database.sql("search.covered")
            row = await (await connection.execute(sql, bound({"name": name}))).fetchone()
        if row is None:
            return None
        part = IndexedPart(*row[:5]) if row[5] == RULES else None
        if part is None or part.low > 1 or part.high < part.size:
            self._lacks(name, part.low if part else 1)
        return part


def stretches(first: int, last: int, size: int = STRETCH) -> list[tuple[int, int]]:
    """Cut a range of ids at the ends of stretches, newest first."""
    return [
        (max(first, start), min(last, start + size - 1))
        for start in range(last // size * size, first // size * size - 1, -size)
    ]


def next_walk(wanted: int, frequency: float, rest: int, least: int = STRETCH) -> int | None:
    """Return how many ids to walk, or None if the index of terms costs less.

    The index returns what it finds among `least` ids, or more.
    """
    if not frequency:
        return None
    ids = min(wanted / frequency, rest)
    found = frequency * min(rest, max(ids, least))
    return min(int(ids * 1.2) + 1, MAX_WALK) if ids <= FIND_COST * found else None


def is_older(rules: str) -> bool:
    """Return whether other rules are older than ours; each part of both is a version's number."""
    there, here = (list(map(int, re.findall(r"\d+", one))) for one in (rules, RULES))
    return there < here
