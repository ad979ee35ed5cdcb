"""The PostgreSQL store: tapes and the ledger in a database that other processes use, too."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Any

from tape.database.schema import Schema, read_schema
from tape.entry import Entry, NewEntry
from tape.errors import StoreUnavailable, UnitFailed
from tape.query import Query
from tape.right_of_way import RightOfWay
from tape.search.query_text import SearchQuery
from tape.search.search_state import SearchState
from tape.store import STORE_LIMITS, Now, StoreLimits, TapeInfo, utc_now
from tape.stores.postgres.beside import PostgresBeside
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.listening import IS_LOCKED, notifications
from tape.stores.postgres.measures import MEASURES, PostgresMeasures
from tape.stores.postgres.reader import PostgresReader
from tape.stores.postgres.search_index import PostgresIndexer
from tape.stores.postgres.search_lookup import PostgresLookup
from tape.stores.postgres.tape_state import TapeMemory
from tape.stores.postgres.vectors import PostgresVectors
from tape.stores.postgres.writer import UnitWriter, appended
from tape.tails import Tails
from tape.unit_of_work import (
    Append,
    Batch,
    Erase,
    Framing,
    Outcome,
    Prepare,
    Row,
    Unit,
    as_given,
    prepared,
)


class PostgresStore:
    """A tape store in one PostgreSQL database; create it with `PostgresStore.open`."""

    durable = True
    one_transaction = True

    def __init__(self, database: PostgresDatabase, now: Now) -> None:
        self._database = database
        self._memory = TapeMemory(Tails(database.measures.remembered_bytes))
        self.tails = self._memory.tails
        self._writer = UnitWriter(database, self._memory, now)
        self._reader = PostgresReader(database, self._memory)
        self._indexer = PostgresIndexer(database, self._reader)
        self._lookup = PostgresLookup(database, self._reader, self._indexer.lacks)
        self._partial = 0
        self._closed = False
        self.prepare: Prepare = as_given
        self.framing: Framing | None = None

    @classmethod
    def open(
        cls,
        url: str,
        schemas: Sequence[Schema] = (),
        now: Now = utc_now,
        measures: PostgresMeasures = MEASURES,
        limits: StoreLimits = STORE_LIMITS,
    ) -> PostgresStore:
        """Open a database, which also gets the tables of `schemas`."""
        schemas = (tape_schema(), search_schema(), *schemas)
        return cls(PostgresDatabase.open(url, schemas, measures, limits), now)

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        unit = Unit([Append(tape, tuple(entries), key)])
        return list((await self.commit(unit))[0].entries)

    async def commit(self, unit: Unit) -> list[Outcome]:
        self._require_open()
        unit = prepared(unit, self.prepare)
        if self.framing is None:
            outcomes = await self._writer.run(unit)
        else:
            outcomes = await self._run_framed(unit, self.framing)
        if names := appended(unit):
            self._indexer.wrote(names)
        return outcomes

    async def _run_framed(self, unit: Unit, framing: Framing) -> list[Outcome]:
        framed, count = framing.framed(unit)
        try:
            outcomes = await self._writer.run(framed)
        except UnitFailed as failed:
            raise framing.judged(failed) from failed
        framing.done(framed, outcomes[:count])
        return outcomes[count:]

    async def append_batch(self, tape: str, batch: Batch) -> None:
        """Append a batch in one transaction, during which nobody else appends to the tape."""
        self._require_open()
        await self._writer.import_batch(tape, batch, self.prepare)
        self._indexer.wrote([tape])

    async def query(self, query: Query) -> list[Entry]:
        self._require_open()
        return await self._reader.query(query)

    async def select(
        self,
        statement: str,
        values: Mapping[str, Any],
        *,
        long: bool = False,  # noqa: ARG002 - none blocks the loop
    ) -> list[Row]:
        self._require_open()
        return await self._reader.select(statement, values)

    def beside(self, seconds: float) -> PostgresBeside:
        """Return a reader that has one connection of the pool at a time."""
        self._require_open()
        return PostgresBeside(self._database, self._reader, seconds, self._indexer.lacks)

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        self._require_open()
        self._indexer.wake()
        found = await self._lookup.search(query, wanted)
        self._partial += not found.whole
        return found.hits

    def search_state(self) -> SearchState:
        return self._indexer.state(self._partial)

    def give_way(self, way: RightOfWay) -> None:
        self._indexer.way = way

    def reindex(self) -> None:
        """Rebuild the search index in the background; searches keep working."""
        self._indexer.rebuild()

    def vectors(self, embedder: str) -> PostgresVectors:
        """Return the vectors of an embedder, which all processes share."""
        self._require_open()
        return PostgresVectors(self._database, embedder)

    async def indexed(self) -> None:
        self._require_open()
        await self._indexer.indexed()

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Remove the terms of erased entries from the search index."""
        self._require_open()
        await self._indexer.forget(tape, ids)

    async def erase(self, tape: str, entries: Sequence[Entry]) -> None:
        await self.commit(Unit([Erase(tape, tuple(entries))]))
        await self.forget(tape, [entry.id for entry in entries])

    async def purge(self, *, resumed: bool = False, rewrite: bool = True) -> None:
        """Remove dead rows, and with `rewrite` what indexes have of them.

        In the files, the room of such rows is free, and is overwritten as it is used again: writing
        the files once more would keep every process out of the tables for as long.
        """
        self._require_open()
        if resumed:
            self.reindex()  # an earlier process may have erased words whose terms are still there
            await self.indexed()
        await self._writer.vacuum(indexes=rewrite or resumed)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        self._require_open()
        return await self._reader.tapes(prefix)

    async def size(self, tape: str) -> int:
        self._require_open()
        return await self._reader.size(tape)

    def take_in(self, tapes: Collection[str], ends: Sequence[Row]) -> None:
        """Remember the ends of tapes that somebody read; see the statement `tape.ends`."""
        self._memory.take_in(tapes, ends)

    def listen(self, url: str, channels: Sequence[str]) -> AsyncGenerator[tuple[str, str], None]:
        """Yield what is sent to channels of the database at a URL, "" for that of this store."""
        here, within = self._database, self._database.limits.answer_seconds
        if url:
            return notifications(url, channels, within, pooled=False, sees_lock=self._sees_lock)
        return notifications(here.url, channels, within, pooled=here.pooled)

    async def refuse_newer(self) -> None:
        """Raise StoreTooNew if a newer version has left tables that this one cannot use."""
        await self._database.refuse_newer()

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._indexer.close()
            await self._database.close()

    async def _sees_lock(self, key: int) -> bool:
        async with self._database.connection() as connection:
            row = await (await connection.execute(IS_LOCKED, {"key": key})).fetchone()
        return row is not None and bool(row[0])

    def _require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the tape store is closed: open it again")


@functools.cache
def tape_schema() -> Schema:
    """Return the tables and statements of tapes for PostgreSQL."""
    return read_schema("tape", "tape", "postgres")


@functools.cache
def search_schema() -> Schema:
    """Return the tables and statements of the search index for PostgreSQL."""
    return read_schema("search", "tape.search", "postgres")
