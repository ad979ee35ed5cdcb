"""Read a PostgreSQL store within a time limit, over one connection of the pool at most."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import anyio
import psycopg

from tape.entry import Entry, dump
from tape.errors import ReadTooSlow
from tape.query import Query
from tape.rollups import MAX_LANES, LaneSpan, RolledUp, Spark, stretch_of
from tape.search.query_text import SearchQuery
from tape.store import TapeInfo
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.reader import PostgresReader
from tape.stores.postgres.search_lookup import PostgresLookup
from tape.unit_of_work import Row

T = TypeVar("T")
Lacks = Callable[[str, int], None]  # hears what the index lacks; see `PostgresLookup`

_LIMIT: Final = "SELECT set_config('statement_timeout', %(limit)s, true)"


class PostgresBeside:
    """A `SideReader` of a PostgreSQL store; the server ends a statement that takes too long."""

    def __init__(
        self, database: PostgresDatabase, reader: PostgresReader, seconds: float, lacks: Lacks
    ) -> None:
        self._database = database
        self._reader = reader
        self._seconds = seconds
        self._lacks = lacks
        self._turn = anyio.Lock()

    async def query(self, query: Query) -> list[Entry]:
        return await self._within(lambda reader: reader.query(query))

    async def queries(self, queries: Sequence[Query]) -> list[list[Entry]]:
        async def read(reader: PostgresReader) -> list[list[Entry]]:
            found, look = [], self._from_now()
            for query in queries:
                look()
                found.append(await reader.query(query))
            return found

        return await self._within(read)

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        async def read(reader: PostgresReader) -> list[Entry]:
            look = self._from_now()
            lookup = PostgresLookup(self._database, reader, self._lacks, look=look)
            return (await lookup.search(query, wanted)).hits

        return await self._within(read)

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        return await self._within(lambda reader: reader.select(statement, values))

    async def size(self, tape: str) -> int:
        return await self._within(lambda reader: reader.size(tape))

    async def tapes(self) -> list[TapeInfo]:
        return await self._within(lambda reader: reader.tapes(""))

    async def rolled(self, tape: str, grain: str, after: int, limit: int) -> RolledUp:
        async def read(reader: PostgresReader) -> RolledUp:
            found = await reader.select("search.covered", {"name": tape})
            if not found or found[0]["high"] is None:
                return RolledUp()
            values = {"tape": found[0]["tape"], "grain": grain, "after": after, "limit": limit}
            rows = await reader.select("search.rolled", values)
            counted = tuple(stretch_of(row) for row in rows)
            return RolledUp(found[0]["low"], found[0]["high"], counted)

        return await self._within(read)

    async def lanes(self, tape: str, first: int, last: int) -> list[LaneSpan]:
        async def read(reader: PostgresReader) -> list[LaneSpan]:
            found = await reader.select("search.covered", {"name": tape})
            if not found:
                return []
            values = {"tape": found[0]["tape"], "first": first, "last": last, "limit": MAX_LANES}
            rows = await reader.select("search.rolled_lanes", values)
            return [LaneSpan(**row) for row in rows]

        return await self._within(read)

    async def sparks(self, tapes: Sequence[str], since: int) -> dict[str, list[Spark]]:
        values = {"names": dump(list(tapes)), "since": since}
        rows = await self._within(lambda reader: reader.select("search.sparks", values))
        found: dict[str, list[Spark]] = {name: [] for name in tapes}
        for row in rows:
            found[row["name"]].append(Spark(row["slot"], row["said"], row["answered"]))
        return found

    async def close(self) -> None:
        """Do nothing: the pool closes its connections."""

    def _from_now(self) -> Callable[[], None]:
        """Return what raises ReadTooSlow once the limit has passed."""
        end = time.monotonic() + self._seconds

        def look() -> None:
            if time.monotonic() > end:
                raise ReadTooSlow(self._seconds)

        return look

    async def _within(self, read: Callable[[PostgresReader], Awaitable[T]]) -> T:
        async with self._turn, self._database.connection() as connection:
            try:
                async with connection.transaction():
                    await connection.execute(_LIMIT, {"limit": f"{self._seconds * 1000:.0f}ms"})
                    return await read(self._reader.over(connection))
            except psycopg.errors.QueryCanceled as cause:
                raise ReadTooSlow(self._seconds) from cause
