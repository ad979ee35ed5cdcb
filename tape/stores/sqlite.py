"""The SQLite store: one writer thread, group commit without a timer, triggers against rewriting.

One read-write connection lives in one thread, which drains its queue into each transaction: under
load many units share one fsync, at rest a unit waits for nobody. Readers are connections of their
own, one for small reads on the event loop's thread and one in a reader thread for long ones: an
SQLite connection is used by one thread only. Searches go by an index in a file beside the database
(see `tape.search`).
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from tape.database.connection import Database, Reader
from tape.database.group_commit import Transaction, WriterThread
from tape.database.schema import Schema, read_schema
from tape.deletions import MESSAGE_DELETE
from tape.entry import Entry, NewEntry
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.search.indexer import SearchState
from tape.search.query_text import SearchQuery
from tape.search.sqlite_search import SqliteSearch
from tape.store import Now, TapeInfo, utc_now
from tape.unit_of_work import Append, AppendBatch, Batch, Outcome, Row, Unit

T = TypeVar("T")

SMALL_READ: Final = 1000
"""A query for at most so many entries runs on the event loop's own reader."""


class SqliteStore:
    """A tape store in one SQLite database; make it with `SqliteStore.open`."""

    durable = True
    one_transaction = True

    def __init__(self, database: Database, now: Now) -> None:
        self._database = database
        self._now = now
        self._search = SqliteSearch(database)
        self._writer = WriterThread(self._transactions)
        self._inline: Reader | None = None
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="tape-reader")
        self._threaded: Reader | None = None
        self._closed = False

    @classmethod
    def open(cls, path: Path, schemas: Sequence[Schema] = (), now: Now = utc_now) -> SqliteStore:
        """Open or create the database, with the tables of `schemas` beside the tapes.

        Raises StoreTooNew or StoreUnfit with the file untouched, StoreUnavailable where the disk
        refuses.
        """
        database = Database.open(path, (tape_schema(), *schemas))
        return cls(database, now)

    def _transactions(self) -> Transaction:
        database = self._database
        wrote = self._search.wrote
        return Transaction(database.writer(), database.statements, self._now, wrote)

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        """Put a batch on a tape; see the contract in `tape.store`."""
        unit = Unit([Append(tape, tuple(entries), key)])
        return list((await self.commit(unit))[0].entries)

    async def commit(self, unit: Unit) -> list[Outcome]:
        """Run a unit in the writer's next transaction."""
        self._refuse_when_closed()
        return await self._writer.submit(unit)

    async def append_batch(self, tape: str, batch: Batch) -> None:
        """Put a batch of any size on a tape; other writes wait until it is on the disk."""
        await self.commit(Unit([AppendBatch(tape, batch)]))

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query: small ones at once, long ones in the reader thread."""
        bounded = query.limit is not None and query.limit <= SMALL_READ
        # A turn has few entries, and few are edited or deleted: to wait for the thread costs more.
        told = query.about is not None or query.name == MESSAGE_DELETE
        few = bounded or query.turn is not None or told
        if query.ids is not None or (query.text is None and few):
            return self._here().query(query)
        return await self._in_thread(lambda reader: reader.query(query))

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named reading statement."""
        return self._here().select(statement, values)

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Return the newest entries that match; see `tape.search.search.SearchStore`."""
        self._refuse_when_closed()
        return await self._search.search(query, wanted)

    def search_state(self) -> SearchState:
        """Tell how far the index of the words is."""
        return self._search.state()

    def reindex(self) -> None:
        """Make the index of the words anew, in the background; searches go on meanwhile."""
        self._search.rebuild()

    async def indexed(self) -> None:
        """Wait until the index has what is on the tapes by now."""
        self._refuse_when_closed()
        await self._search.indexed()

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Take the words of entries that were erased out of the index and out of its file."""
        self._refuse_when_closed()
        await self._search.forget(tape, ids)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        """List the tapes whose names begin with a prefix."""
        return await self._in_thread(lambda reader: reader.tapes(prefix))

    async def size(self, tape: str) -> int:
        """Return the id of a tape's newest entry."""
        return self._here().size(tape)

    async def close(self) -> None:
        """Commit what was submitted, then close every connection."""
        if self._closed:
            return
        self._closed = True
        await self._search.close()  # first: the last connection to close empties the log
        await self._writer.close()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._reading, self._close_threaded)
        self._reading.shutdown()
        if self._inline is not None:
            self._inline.close()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("the tape store is closed")

    def _here(self) -> Reader:
        self._refuse_when_closed()
        if self._inline is None:
            self._inline = self._database.reader()
        return self._inline

    async def _in_thread(self, read: Callable[[Reader], T]) -> T:
        self._refuse_when_closed()
        return await asyncio.get_running_loop().run_in_executor(
            self._reading, lambda: read(self._of_thread())
        )

    def _of_thread(self) -> Reader:
        if self._threaded is None:
            self._threaded = self._database.reader()
        return self._threaded

    def _close_threaded(self) -> None:
        if self._threaded is not None:
            self._threaded.close()


@functools.cache
def tape_schema() -> Schema:
    """Return the tapes' own tables and statements for SQLite."""
    return read_schema("tape", "tape", "sqlite")
