"""The search of an SQLite store: the indexer, and the thread in which searches run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import apsw

from tape.database.connection import Database
from tape.entry import Entry
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.right_of_way import RightOfWay
from tape.search.index_file import IndexFile
from tape.search.index_reader import IndexBroken, Lookup
from tape.search.indexer import Indexer
from tape.search.query_text import SearchQuery
from tape.search.scan import Scanned
from tape.search.search_state import SearchState

T = TypeVar("T")


class SqliteSearch:
    """The search of one SQLite store; the index is in a file next to the database."""

    def __init__(self, database: Database) -> None:
        self.file = IndexFile(database.path)
        self._database = database
        self._indexer = Indexer(database, self.file)
        self._lookup = Lookup(database, self.file)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tape-search")
        self._partial = 0

    def wrote(self, tapes: Mapping[int, str]) -> None:
        self._indexer.wrote(tapes)

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        found = await self._in_thread(lambda: self.look_up(self._lookup, query, wanted))
        self._partial += not found.whole
        return found.hits

    def state(self) -> SearchState:
        indexer = self._indexer
        return SearchState(indexer.ready, indexer.left, indexer.problem, self._partial)

    def give_way(self, way: RightOfWay) -> None:
        self._indexer.way = way

    def rebuild(self) -> None:
        self._indexer.rebuild()

    async def indexed(self) -> None:
        await asyncio.wrap_future(self._indexer.indexed())

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        await asyncio.wrap_future(self._indexer.forget(tape, ids))

    async def close(self) -> None:
        await self._in_thread(self._lookup.close)
        await asyncio.get_running_loop().run_in_executor(self._thread, self._indexer.close)
        self._thread.shutdown()

    def beside(self, is_late: Callable[[], bool]) -> Lookup:
        """Return what searches in another thread, where a search ends when it is late."""
        return Lookup(self._database, self.file, is_late=is_late)

    def look_up(self, lookup: Lookup, query: Query, wanted: SearchQuery) -> Scanned:
        """Search in the thread of a `lookup`; raises StoreUnavailable."""
        try:
            if self._indexer.checked:
                return lookup.search(query, wanted)
            self._indexer.look()  # after a restored backup, the index may not match the tapes
        except IndexBroken:
            self._indexer.rebuild()
        except apsw.InterruptError as cause:
            raise StoreUnavailable("the search was ended") from cause
        except apsw.Error:
            pass  # the index is temporarily unavailable, but the tapes are not
        try:
            return lookup.scan(query, wanted)
        except apsw.Error as cause:
            raise StoreUnavailable(f"the database cannot be read: {cause}") from cause

    async def _in_thread(self, do: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, do)
