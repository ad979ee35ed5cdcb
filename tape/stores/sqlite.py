"""The SQLite store has a writer thread with group commit, and triggers that forbid rewriting."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from tape.database.connection import BUSY_SECONDS, Database
from tape.database.group_commit import Transaction, WriterThread
from tape.database.readers import MAX_INLINE_ENTRIES, ReaderPair
from tape.database.schema import Schema, read_schema
from tape.database.staging import STAGING, append_staged
from tape.deletions import MESSAGE_DELETE
from tape.entry import Entry, NewEntry
from tape.query import Query
from tape.right_of_way import RightOfWay
from tape.search.index_file import index_schema
from tape.search.query_text import SearchQuery
from tape.search.search_state import SearchState
from tape.search.sqlite_search import SqliteSearch
from tape.store import Now, TapeInfo, utc_now
from tape.stores.sqlite_beside import SqliteBeside
from tape.unit_of_work import (
    Append,
    Batch,
    Erase,
    Outcome,
    Prepare,
    Purge,
    Row,
    Unit,
    as_given,
    prepared,
)


class SqliteStore:
    """A tape store in one SQLite database; create it with `SqliteStore.open`."""

    durable = True
    one_transaction = True

    def __init__(self, database: Database, now: Now) -> None:
        self._database = database
        self._search = SqliteSearch(database)
        on_commit = self._search.wrote
        self._writer = WriterThread(
            lambda: Transaction(database.writer(), database.statements, now, on_commit)
        )
        self._readers = ReaderPair(database.reader)
        self._beside: list[SqliteBeside] = []
        self._erased: dict[str, set[int]] = {}
        self.staging = anyio.Lock()
        self.prepare: Prepare = as_given

    @classmethod
    def open(
        cls,
        path: Path,
        schemas: Sequence[Schema] = (),
        now: Now = utc_now,
        busy_seconds: float = BUSY_SECONDS,
    ) -> SqliteStore:
        """Open or create the database, which also gets the tables of `schemas`."""
        index_schema()  # raises MigrationMisnumbered before a table of the tapes is made
        return cls(Database.open(path, (tape_schema(), *schemas), busy_seconds), now)

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        unit = Unit([Append(tape, tuple(entries), key)])
        return list((await self.commit(unit))[0].entries)

    async def commit(self, unit: Unit) -> list[Outcome]:
        self._readers.require_open()
        return await self._writer.submit(prepared(unit, self.prepare))

    async def append_batch(self, tape: str, batch: Batch) -> None:
        """Append a batch through a staging tape (see `tape.database.staging`)."""
        await append_staged(self, tape, batch)

    async def begin_copy(self, tape: str, staging: str, after: int) -> None:
        """Do nothing: the writer copies rows."""

    async def query(self, query: Query) -> list[Entry]:
        bounded = query.limit is not None and query.limit <= MAX_INLINE_ENTRIES
        # A turn has few entries, and few are edited or deleted: using the thread would cost more.
        changes = query.about is not None or query.name == MESSAGE_DELETE
        few = bounded or query.turn is not None or changes
        if query.ids is not None or (query.text is None and few):
            return self._readers.inline.query(query)
        return await self._readers.in_thread(lambda reader: reader.query(query))

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]:
        if long:
            return await self._readers.in_thread(lambda reader: reader.select(statement, values))
        return self._readers.inline.select(statement, values)

    def beside(self, seconds: float) -> SqliteBeside:
        """Return a reader with a thread and connections of its own."""
        self._readers.require_open()
        self._beside.append(SqliteBeside(self._database, self._search, seconds))
        return self._beside[-1]

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        self._readers.require_open()
        return await self._search.search(query, wanted)

    def search_state(self) -> SearchState:
        return self._search.state()

    def give_way(self, way: RightOfWay) -> None:
        self._search.give_way(way)

    def reindex(self) -> None:
        """Rebuild the search index in the background; searches keep working."""
        self._search.rebuild()

    async def indexed(self) -> None:
        self._readers.require_open()
        await self._search.indexed()

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Remove the text of erased entries from the search index and the index file."""
        self._readers.require_open()
        await self._search.forget(tape, ids)

    async def erase(self, tape: str, entries: Sequence[Entry]) -> None:
        await self.commit(Unit([Erase(tape, tuple(entries))]))
        self._erased.setdefault(tape, set()).update(entry.id for entry in entries)

    async def purge(self, *, resumed: bool = False, rewrite: bool = True) -> None:
        if resumed:
            self._erased.clear()
            self.reindex()  # an earlier process may have erased words that the index still has
            await self.indexed()
        while self._erased:
            tape, ids = next(iter(self._erased.items()))
            await self.forget(tape, sorted(ids))
            del self._erased[tape]
        await self.commit(Unit([Purge(rewrite)]))

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        found = await self._readers.in_thread(lambda reader: reader.tapes(prefix))
        return [info for info in found if not info.name.startswith(STAGING)]

    async def staged(self) -> list[str]:
        found = await self._readers.in_thread(lambda reader: reader.tapes(STAGING))
        return [info.name for info in found]

    async def size(self, tape: str) -> int:
        return self._readers.inline.size(tape)

    async def close(self) -> None:
        if self._readers.closed:
            return
        self._readers.closed = True  # before the first wait: no call is accepted after this
        for reader in self._beside:
            await reader.close()
        await self._search.close()
        await self._readers.close()
        await self._writer.close()  # last: who only reads cannot write the log into the file


@functools.cache
def tape_schema() -> Schema:
    """Return the tables and statements of tapes for SQLite."""
    return read_schema("tape", "tape", "sqlite")
