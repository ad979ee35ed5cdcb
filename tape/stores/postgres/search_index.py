"""Index the tapes in PostgreSQL in the background, and record with a cursor how far that got.

Terms and cursor are written in one transaction, after that of the entries and on a connection of
its own: a crash neither loses nor repeats an entry, and no turn waits. New entries come first, then
older ones from new to old. What is not indexed, also because another process wrote it, is scanned
by every search.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

from anyio import to_thread
from psycopg import AsyncCursor

from tape.entry import MESSAGE, Entry
from tape.erasing import erased_on
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.search.edits import edited_ids, edits_of, with_edits
from tape.search.indexer import RETRY_SECONDS, SLICE_SECONDS, SearchState, is_indexed
from tape.stores.postgres.binding import bound
from tape.stores.postgres.database import Connection, PostgresDatabase
from tape.stores.postgres.reader import PostgresReader
from tape.stores.postgres.search_lookup import RULES
from tape.stores.postgres.search_terms import is_work, terms_of

GATHER_SECONDS: Final = 2.0
"""Seconds to wait for more entries: a transaction costs more than to scan a few of them."""

PAGE: Final = 500  # maximum entries in one transaction
NEWEST: Final = 2000  # entries of a tape that are indexed before those of other tapes


class PostgresIndexer:
    """Indexes what this process writes, and at its start what others have left."""

    def __init__(self, database: PostgresDatabase, reader: PostgresReader) -> None:
        self._database = database
        self._reader = reader
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._hurry = asyncio.Event()
        self._awaited: list[asyncio.Future[None]] = []
        self._fresh: dict[str, None] = {}
        self._older: dict[str, int] = {}
        self._rebuild = False
        self._planned = False
        self._closed = False
        self.problem = ""

    def wrote(self, tapes: Iterable[str]) -> None:
        """Note that these tapes have new entries."""
        self._fresh |= dict.fromkeys(filter(is_indexed, tapes))
        self.wake()

    def wake(self) -> None:
        """Index in the background what waits; an event loop has to run."""
        self._woken.set()
        if self._task is None and not self._closed:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="tape-indexer")

    def rebuild(self) -> None:
        """Clear the index, and build a new one in the background."""
        self._rebuild, self._planned = True, False
        self._hurry.set()
        self.wake()

    async def indexed(self) -> None:
        """Wait until the index has every entry that is on the tapes now."""
        done = asyncio.get_running_loop().create_future()
        self._awaited.append(done)
        self._planned = False
        self._hurry.set()
        self.wake()
        await done

    def state(self, partial: int) -> SearchState:
        """Return how much is indexed; `partial` counts the searches that missed old entries."""
        ready = self._planned and not (self._fresh or self._older or self._rebuild)
        return SearchState(ready, sum(self._older.values()), self.problem, partial)

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Remove entries from the index, and index once more what is left of their words."""
        async with self._database.connection() as connection, connection.transaction():
            held = await self._held(connection, tape)
            if held is None:
                return  # whoever indexes the tape later reads what is left
            number, low, high = held
            left = await self._reader.query(Query(tape, ids=tuple(ids)))
            left += await self._messages(tape, tuple(edited_ids(left)))
            kept = {entry.id: entry for entry in left if low <= entry.id <= high}
            await self._ask(connection, "drop", {"tape": number, "ids": list(kept)})
            again = [entry for entry in kept.values() if not erased_on(entry)]
            await self._put(connection, number, tape, again)

    async def close(self) -> None:
        """End the task; after a restart, the rest is indexed."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._release(StoreUnavailable("the tape store is closed: open it again"))

    async def _run(self) -> None:
        failures = 0
        while True:
            await self._woken.wait()
            self._woken.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), GATHER_SECONDS)
            try:
                while await self._step():
                    pass
            except Exception as cause:  # tapes and searches must go on, whatever the error
                self.problem = f"the search index cannot be written: {cause}"
                self._planned = False
                await asyncio.sleep(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
                failures += 1
                self._woken.set()
                continue
            failures, self.problem = 0, ""
            self._hurry.clear()
            self._release(None)

    def _release(self, cause: Exception | None) -> None:
        awaited, self._awaited = self._awaited, []
        for done in awaited:
            if done.done():
                continue
            if cause is None:
                done.set_result(None)
            else:
                done.set_exception(cause)

    async def _step(self) -> bool:
        """Index the entries of one transaction; return whether more work is waiting."""
        if not self._planned:
            await self._plan()
        if self._fresh:
            await self._newer(next(iter(self._fresh)))
        elif self._older:
            await self._more(next(iter(self._older)))
        return bool(self._fresh or self._older or not self._planned)

    async def _plan(self) -> None:
        """Find what the index lacks; an index made by other rules is cleared."""
        self._planned = True
        async with self._database.connection() as connection:
            other = await self._ask(connection, "other_rules", {"rules": RULES})
            if self._rebuild or (await other.fetchall())[0][0]:
                await self._ask(connection, "clear", {})
                self._rebuild = False
            found = await (await self._ask(connection, "lacking", {})).fetchall()
        lacking = [row for row in found if is_indexed(row[0])]
        self._fresh |= {name: None for name, high, _low, size in lacking if size > high}
        self._older = {name: low - 1 for name, _high, low, _size in lacking if low > 1}

    async def _newer(self, tape: str) -> None:
        del self._fresh[tape]  # `wrote` may note it again while this runs
        async with self._database.connection() as connection, connection.transaction():
            held = await self._held(connection, tape)
            if held is not None:
                number, low, high = held
                entries = await self._reader.query(Query(tape, after=high, limit=PAGE))
                if len(entries) == PAGE:
                    self._fresh[tape] = None
                changed = tuple(n for n in edited_ids(entries) if low <= n <= high)
                edited = await self._messages(tape, changed)
                if edited:
                    gone = {"tape": number, "ids": [entry.id for entry in edited]}
                    await self._ask(connection, "drop", gone)
                await self._put(connection, number, tape, [*edited, *entries])
                last = entries[-1].id if entries else high
                await self._cover(connection, number, low, last)
        if held is None:
            await self._begin(tape)

    async def _begin(self, tape: str) -> None:
        """Begin to cover a tape, in its newest part.

        That is committed before entries are read, so that whoever erases some sees it.
        """
        async with self._database.connection() as connection:
            found = await self._ask(connection, "covered", {"name": tape, "rules": RULES})
            row = await found.fetchone()
            if row is None:
                return  # there is no such tape
            low = max(row[1] - NEWEST + 1, 1)
            await self._ask(connection, "cover", {"tape": row[0], "low": low, "rules": RULES})
        self._fresh[tape] = None
        if low > 1:
            self._older[tape] = low - 1

    async def _more(self, tape: str) -> None:
        async with self._database.connection() as connection, connection.transaction():
            held = await self._held(connection, tape)
            if held is None:
                raise StoreUnavailable("the index was cleared by another process")
            number, low, high = held
            first = max(low - PAGE, 1)
            older = Query(tape, after=first - 1, before=low)
            await self._put(connection, number, tape, await self._reader.query(older))
            await self._cover(connection, number, first, high)
        self._older[tape] = first - 1
        if first == 1:
            del self._older[tape]

    async def _messages(self, tape: str, ids: tuple[int, ...]) -> list[Entry]:
        return await self._reader.query(Query(tape, ids=ids, kinds=(MESSAGE,)))

    async def _put(
        self, connection: Connection, number: int, tape: str, entries: Sequence[Entry]
    ) -> None:
        asked = edits_of(tape, entries)
        shown = with_edits(entries, await self._reader.query(asked)) if asked else entries
        made = await to_thread.run_sync(_terms_of_all, number, shown)
        rows = [(entry, terms) for entry, terms in zip(shown, made, strict=True) if terms]
        if not rows:
            return
        values = {
            "tape": number,
            "ids": [entry.id for entry, _terms in rows],
            "works": [is_work(entry.kind) for entry, _terms in rows],
            "terms": [terms for _entry, terms in rows],
        }
        await self._ask(connection, "add", values)

    async def _cover(self, connection: Connection, number: int, low: int, high: int) -> None:
        values = {"tape": number, "low": low, "high": high}
        await self._ask(connection, "cover_more", values)

    async def _held(self, connection: Connection, tape: str) -> tuple[int, int, int] | None:
        found = await self._ask(connection, "hold", {"name": tape, "rules": RULES})
        row = await found.fetchone()
        return None if row is None else (row[0], row[1], row[2])

    async def _ask(
        self, connection: Connection, statement: str, values: dict[str, Any]
    ) -> AsyncCursor[tuple[Any, ...]]:
        return await connection.execute(self._database.sql(f"search.{statement}"), bound(values))


def _terms_of_all(number: int, entries: Sequence[Entry]) -> list[str]:
    """Make the terms of entries in a thread, which lets others run every few milliseconds."""
    made: list[str] = []
    end = time.perf_counter() + SLICE_SECONDS
    for entry in entries:
        made.append(terms_of(number, entry))
        if time.perf_counter() > end:
            time.sleep(SLICE_SECONDS)
            end = time.perf_counter() + SLICE_SECONDS
    return made
