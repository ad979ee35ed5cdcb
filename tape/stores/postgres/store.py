"""The PostgreSQL store: tapes and the ledger in a database that other processes use, too."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from tape.database.schema import Schema, read_schema
from tape.entry import Entry, NewEntry
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.store import Now, TapeInfo, utc_now
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.reader import PostgresReader
from tape.stores.postgres.writer import UnitWriter
from tape.unit_of_work import Append, Batch, Erase, Outcome, Prepare, Row, Unit, as_given, prepared


class PostgresStore:
    """A tape store in one PostgreSQL database; create it with `PostgresStore.open`."""

    durable = True
    one_transaction = True

    def __init__(self, database: PostgresDatabase, now: Now) -> None:
        self._database = database
        self._writer = UnitWriter(database, now)
        self._reader = PostgresReader(database)
        self._closed = False
        self.prepare: Prepare = as_given

    @classmethod
    def open(cls, url: str, schemas: Sequence[Schema] = (), now: Now = utc_now) -> PostgresStore:
        """Open a database, which also gets the tables of `schemas`."""
        return cls(PostgresDatabase.open(url, (tape_schema(), *schemas)), now)

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        unit = Unit([Append(tape, tuple(entries), key)])
        return list((await self.commit(unit))[0].entries)

    async def commit(self, unit: Unit) -> list[Outcome]:
        self._require_open()
        return await self._writer.run(prepared(unit, self.prepare))

    async def append_batch(self, tape: str, batch: Batch) -> None:
        """Append a batch in one transaction, during which nobody else appends to the tape."""
        self._require_open()
        await self._writer.import_batch(tape, batch, self.prepare)

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

    async def erase(self, tape: str, entries: Sequence[Entry]) -> None:
        await self.commit(Unit([Erase(tape, tuple(entries))]))

    async def purge(self, *, resumed: bool = False, rewrite: bool = True) -> None:
        """Remove dead rows, and with `rewrite` what they leave in the files."""
        self._require_open()
        await self._writer.vacuum(full=rewrite or resumed)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        self._require_open()
        return await self._reader.tapes(prefix)

    async def size(self, tape: str) -> int:
        self._require_open()
        return await self._reader.size(tape)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._database.close()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the tape store is closed: open it again")


@functools.cache
def tape_schema() -> Schema:
    """Return the tables and statements of tapes for PostgreSQL."""
    return read_schema("tape", "tape", "postgres")
