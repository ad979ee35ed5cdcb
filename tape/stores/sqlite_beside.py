"""Read an SQLite store in a thread of its own, each read within a time limit."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import apsw

from tape.database.connection import Database, Reader, end_late
from tape.database.staging import STAGING
from tape.entry import Entry, dump
from tape.errors import ReadTooSlow, StoreUnavailable
from tape.query import Query
from tape.rollups import MAX_LANES, LaneSpan, RolledUp, Spark, stretch_of
from tape.search.index_file import BROKEN, index_schema
from tape.search.query_text import SearchQuery
from tape.search.sqlite_search import SqliteSearch
from tape.store import TapeInfo
from tape.unit_of_work import Row

T = TypeVar("T")


class SqliteBeside:
    """A `SideReader` of an SQLite store; SQLite itself ends a read that takes too long."""

    def __init__(self, database: Database, search: SqliteSearch, seconds: float) -> None:
        self._database = database
        self._search = search
        self._lookup = search.beside(self._is_late)
        self._file = search.file
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tape-beside")
        self._end = math.inf
        self._tapes: Reader | None = None
        self._index: Reader | None = None
        self._generation = -1
        self._closed = False

    async def query(self, query: Query) -> list[Entry]:
        return await self._within(lambda: self._reader().query(query))

    async def queries(self, queries: Sequence[Query]) -> list[list[Entry]]:
        return await self._within(lambda: self._answers(queries))

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        return await self._within(lambda: self._search.look_up(self._lookup, query, wanted).hits)

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        return await self._within(lambda: self._reader().select(statement, values))

    async def size(self, tape: str) -> int:
        return await self._within(lambda: self._reader().size(tape))

    async def tapes(self) -> list[TapeInfo]:
        found = await self._within(lambda: self._reader().tapes(""))
        return [info for info in found if not info.name.startswith(STAGING)]

    async def rolled(self, tape: str, grain: str, after: int, limit: int) -> RolledUp:
        return await self._within(lambda: self._rolled(tape, grain, after, limit))

    async def lanes(self, tape: str, first: int, last: int) -> list[LaneSpan]:
        return await self._within(lambda: self._lanes(tape, first, last))

    async def sparks(self, tapes: Sequence[str], since: int) -> dict[str, list[Spark]]:
        return await self._within(lambda: self._sparks(tapes, since))

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
            self._thread.shutdown()

    async def _within(self, read: Callable[[], T]) -> T:
        if self._closed:
            raise StoreUnavailable("the reader is closed: open another")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, read)

    def _run(self, read: Callable[[], T]) -> T:
        self._end = time.monotonic() + self._seconds
        try:
            return read()
        except StoreUnavailable as cause:
            if isinstance(cause.__cause__, apsw.InterruptError):
                raise ReadTooSlow(self._seconds) from cause
            raise
        finally:
            self._end = math.inf

    def _answers(self, queries: Sequence[Query]) -> list[list[Entry]]:
        reader, found = self._reader(), list[list[Entry]]()
        with reader.one_moment():
            for query in queries:
                if self._is_late():
                    raise ReadTooSlow(self._seconds)
                found.append(reader.query(query))
        return found

    def _rolled(self, tape: str, grain: str, after: int, limit: int) -> RolledUp:
        part = self._part(tape)
        if part is None:
            return RolledUp()
        values = {"tape": part["tape"], "grain": grain, "after": after, "limit": limit}
        rows = self._ask("rolled", values)
        return RolledUp(part["low"], part["high"], tuple(stretch_of(row) for row in rows))

    def _lanes(self, tape: str, first: int, last: int) -> list[LaneSpan]:
        part = self._part(tape)
        if part is None:
            return []
        values = {"tape": part["tape"], "first": first, "last": last, "limit": MAX_LANES}
        return [LaneSpan(**row) for row in self._ask("rolled_lanes", values)]

    def _sparks(self, tapes: Sequence[str], since: int) -> dict[str, list[Spark]]:
        found: dict[str, list[Spark]] = {name: [] for name in tapes}
        for row in self._ask("sparks", {"names": dump(list(tapes)), "since": since}):
            found[row["name"]].append(Spark(row["slot"], row["said"], row["answered"]))
        return found

    def _part(self, tape: str) -> Row | None:
        rows = self._ask("covered", {"name": tape})
        return rows[0] if rows else None

    def _ask(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Ask the index; one that is missing or broken, which its writer makes again, has none."""
        index = self._opened()
        try:
            return [] if index is None else index.select(f"search.{statement}", values)
        except StoreUnavailable as cause:
            if isinstance(cause.__cause__, BROKEN):
                return []
            raise

    def _opened(self) -> Reader | None:
        if self._index is not None and self._generation != self._file.generation:
            self._index.close()
            self._index = None
        if self._index is None:
            self._generation = self._file.generation
            connection = self._file.reader()
            if connection is not None:
                self._index = self._limited(connection, index_schema().statements)
        return self._index

    def _reader(self) -> Reader:
        if self._tapes is None:
            connection = self._database.read_connection()
            self._tapes = self._limited(connection, self._database.statements)
        return self._tapes

    def _limited(self, connection: apsw.Connection, statements: Mapping[str, str]) -> Reader:
        return Reader(end_late(connection, self._is_late), statements)

    def _is_late(self) -> bool:
        return time.monotonic() > self._end

    def _close(self) -> None:
        self._lookup.close()
        for reader in (self._tapes, self._index):
            if reader is not None:
                reader.close()
