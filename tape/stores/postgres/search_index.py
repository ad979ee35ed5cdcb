"""Index the tapes in PostgreSQL in the background, and record with a cursor how far that got.

Terms and cursor are written in one transaction, after that of the entries and on a connection of
its own: a crash neither loses nor repeats an entry, and no turn waits. New entries come first, then
older ones from new to old. What is not indexed is scanned by every search.

Each process indexes what it wrote, what it found lacking at its start, and what its searches had to
scan, as its writer may have ended. The lock on a tape's cursor gives the tape to one process at a
time; others index something else meanwhile. Of two versions with other rules, the newer one wins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import psycopg
from anyio import to_thread
from psycopg import AsyncCursor

from tape.context import is_edit
from tape.entry import MESSAGE, Entry
from tape.erasing import erased_on
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.right_of_way import RightOfWay
from tape.search.edits import edited_ids, edits_of, with_edits
from tape.search.indexer import RETRY_SECONDS, is_indexed
from tape.search.search_state import SearchState
from tape.stores.postgres.binding import bound
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.pool import ServerConnection
from tape.stores.postgres.reader import PostgresReader
from tape.stores.postgres.rollup_rows import add_counts, recount_lanes
from tape.stores.postgres.search_lookup import RULES, is_older
from tape.stores.postgres.search_terms import is_work, terms_of_all

PAGE: Final = 500  # maximum entries in one transaction
NEWEST: Final = 2000  # entries of a tape that are indexed before those of other tapes
MAX_BEGUN: Final = 100_000
TOGETHER: Final = 32  # tapes whose new entries are indexed in one transaction

BUSY_SECONDS: Final = 0.05  # until somebody who waits looks again for what others index now
NEWER_RULES: Final = (
    "a newer version has made the search index: until this one is updated, or the index is made"
    " once more, searches here read the newest entries only"
)


class _Busy(Exception):
    """Another process changes the index of this tape now."""


@dataclass(frozen=True, slots=True)
class _HeldPart:
    """A tape whose index only this process changes: its number, and what is covered, how."""

    tape: int
    low: int
    high: int
    rules: str


class PostgresIndexer:
    """Indexes what the index lacks, side by side with other processes."""

    def __init__(self, database: PostgresDatabase, reader: PostgresReader) -> None:
        self._database = database
        self._reader = reader
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._hurry = asyncio.Event()
        self.way = RightOfWay()
        self._awaited: list[asyncio.Future[None]] = []
        self._fresh: dict[str, None] = {}
        self._older: dict[str, int] = {}
        self._busy: set[str] = set()
        self._begun: set[str] = set()  # tapes that are covered, unless the index was cleared since
        self._rebuild = False
        self._planned = False
        self._closed = False
        self.problem = ""

    def wrote(self, tapes: Iterable[str]) -> None:
        """Note that these tapes have new entries."""
        self._fresh |= dict.fromkeys(filter(is_indexed, tapes))
        self.wake()

    def lacks(self, tape: str, low: int) -> None:
        """Note that a search read entries that the index lacks, or that it begins at `low`."""
        if low > 1:
            self._older.setdefault(tape, low - 1)
        self.wrote([tape])

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
            row = await (await self._ask(connection, "hold", {"name": tape})).fetchone()
            held = None if row is None else _HeldPart(*row)
            reader = self._reader.over(connection)
            left = await reader.query(Query(tape, ids=tuple(ids)))
            left += await _messages(reader, tape, edited_ids(left))
            gone = sorted({entry.id for entry in left})
            await self._ask(connection, "drop", {"name": tape, "ids": gone})
            if held is None or held.rules != RULES:
                return  # whoever indexes the tape later reads what is left
            kept = {entry.id: entry for entry in left if held.low <= entry.id <= held.high}
            again = [entry for entry in kept.values() if not erased_on(entry)]
            await self._put(connection, held.tape, tape, again)
            part = (held.tape, held.low, held.high)
            await recount_lanes(partial(self._ask, connection), reader, tape, part, gone)

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
                await asyncio.wait_for(self._hurry.wait(), self._database.measures.gather_seconds)
            self._busy.clear()
            try:
                while await self._step():
                    if not self._awaited:
                        await self.way.given()
            except Exception as cause:  # tapes and searches must go on, whatever the error
                self.problem = f"the search index cannot be written: {cause}"
                self._planned = False
                await asyncio.sleep(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
                failures += 1
                self._woken.set()
                continue
            failures = 0
            if self._busy:
                self._woken.set()
                await asyncio.sleep(BUSY_SECONDS)
                continue
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
        fresh = next((name for name in self._fresh if name not in self._busy), None)
        older = next((name for name in self._older if name not in self._busy), None)
        try:
            if fresh is not None and not await self._newer_together(fresh):
                await self._newer(fresh)
            elif fresh is None and older is not None:
                await self._more(older)
        except _Busy as busy:
            self._busy.add(str(busy))
            if fresh is not None:
                self._fresh[fresh] = None
        return fresh is not None or older is not None or not self._planned

    async def _plan(self) -> None:
        """Find what the index lacks; an index made by older rules is cleared."""
        self._planned, self.problem = True, ""
        async with self._database.connection(patient=True) as connection:
            found = await (await self._ask(connection, "rules", {})).fetchall()
            others = {row[0] for row in found} - {RULES}
            if self._rebuild or (others and all(map(is_older, others))):
                await self._ask(connection, "clear", {})
                await self._ask(connection, "clear_counts", {})
                self._begun.clear()
                self._rebuild = False
            found = await (await self._ask(connection, "lacking", {})).fetchall()
        lacking = [row for row in found if is_indexed(row[0])]
        self._fresh |= {name: None for name, high, _low, size in lacking if size > high}
        self._older = {name: low - 1 for name, _high, low, _size in lacking if low > 1}

    async def _newer_together(self, first: str) -> bool:
        """Index what is new on several tapes, in two round trips; return whether `first` was.

        Those that need more than that are left for `_newer`.
        """
        names = [name for name in self._fresh if name not in self._busy][:TOGETHER]
        done: list[tuple[_HeldPart, list[Entry]]] = []
        async with self._database.connection() as connection:
            await self._begin_together(connection, set(names) - self._begun)
            try:
                async with connection.pipeline():
                    await connection.execute("BEGIN")
                    found = await self._ask(connection, "hold_free", {"names": names})
                    for name, *values in await found.fetchall():
                        held = _HeldPart(*values)
                        del self._fresh[name]  # `wrote` may note it again while this runs
                        entries = await self._all_new(connection, name, held)
                        if entries is None:
                            self._fresh = {name: None, **self._fresh}
                        else:
                            done.append((held, entries))
                    counted = [(held.tape, own) for held, own in done]
                    await self._add(connection, counted)
                    await add_counts(partial(self._ask, connection), counted)
                    ends = [(one, own[-1].id if own else one.high) for one, own in done]
                    await self._cover(connection, [(one.tape, one.low, end) for one, end in ends])
                    await connection.execute("COMMIT")
            except psycopg.Error:
                await connection.close()  # it takes what was skipped for prepared
                raise
        return first not in self._fresh

    async def _begin_together(self, connection: ServerConnection, names: set[str]) -> None:
        """Begin to cover tapes that are new, before their entries are read (see `_begin`)."""
        if not names:
            return
        values = {"names": sorted(names), "newest": NEWEST, "rules": RULES}
        found = await self._ask(connection, "begin", values)
        self._older |= {name: low - 1 for name, low in await found.fetchall() if low > 1}
        if len(self._begun) > MAX_BEGUN:
            self._begun.clear()
        self._begun |= names

    async def _all_new(
        self, connection: ServerConnection, tape: str, held: _HeldPart
    ) -> list[Entry] | None:
        """Return what the index lacks at the end of a tape, as edits left it.

        None if that is much, or changes what is indexed already.
        """
        if held.rules != RULES:
            return None
        reader = self._reader.over(connection)
        entries = await reader.query(Query(tape, after=held.high, limit=PAGE))
        if len(entries) == PAGE or any(one <= held.high for one in edited_ids(entries)):
            return None
        return with_edits(entries, [one for one in entries if is_edit(one)])

    async def _newer(self, tape: str) -> None:
        del self._fresh[tape]  # `wrote` may note it again while this runs
        async with self._database.connection() as connection, connection.transaction():
            held = await self._free(connection, tape)
            if held is not None and held.rules == RULES:
                reader = self._reader.over(connection)
                entries = await reader.query(Query(tape, after=held.high, limit=PAGE))
                if len(entries) == PAGE:
                    self._fresh[tape] = None
                changed = [n for n in edited_ids(entries) if held.low <= n <= held.high]
                edited = await _messages(reader, tape, changed)
                if edited:
                    gone = {"name": tape, "ids": [entry.id for entry in edited]}
                    await self._ask(connection, "drop", gone)
                await self._put(connection, held.tape, tape, [*edited, *entries])
                await add_counts(partial(self._ask, connection), [(held.tape, entries)])
                last = entries[-1].id if entries else held.high
                await self._cover(connection, [(held.tape, held.low, last)])
                return
        await self._begin(tape, held.rules if held else "")

    async def _begin(self, tape: str, old: str) -> None:
        """Begin to cover a tape, in its newest part, unless newer rules do so.

        That is committed before entries are read, so that whoever erases some sees it.
        """
        if old and not is_older(old):
            self.problem = NEWER_RULES
            self._older.pop(tape, None)
            return
        async with self._database.connection() as connection:
            found = await self._ask(connection, "covered", {"name": tape})
            row = await found.fetchone()
            if row is None:
                return  # there is no such tape
            low = max(row[1] - NEWEST + 1, 1)
            values = {"tape": row[0], "low": low, "rules": RULES, "old": old}
            await self._ask(connection, "cover", values)
        self._fresh[tape] = None
        if low > 1:
            self._older[tape] = low - 1

    async def _more(self, tape: str) -> None:
        async with self._database.connection() as connection, connection.transaction():
            held = await self._free(connection, tape)
            first = 1
            if held is None or held.rules != RULES:
                self._fresh[tape] = None  # somebody has cleared the index
            elif held.low > 1:
                first = max(held.low - PAGE, 1)
                older = Query(tape, after=first - 1, before=held.low)
                entries = await self._reader.over(connection).query(older)
                await self._put(connection, held.tape, tape, entries)
                await add_counts(partial(self._ask, connection), [(held.tape, entries)])
                await self._cover(connection, [(held.tape, first, held.high)])
        self._older[tape] = first - 1
        if first == 1:
            del self._older[tape]

    async def _put(
        self, connection: ServerConnection, number: int, tape: str, entries: Sequence[Entry]
    ) -> None:
        asked = edits_of(tape, entries)
        reader = self._reader.over(connection)
        shown = with_edits(entries, await reader.query(asked)) if asked else entries
        await self._add(connection, [(number, shown)])

    async def _add(
        self, connection: ServerConnection, shown: Sequence[tuple[int, Sequence[Entry]]]
    ) -> None:
        """Put entries of tapes, by their numbers, into the index."""
        pairs = [(number, entry) for number, entries in shown for entry in entries]
        made = await to_thread.run_sync(terms_of_all, pairs, self._database.measures.stretch)
        rows = [(*pair, terms) for pair, terms in zip(pairs, made, strict=True) if terms]
        if rows:
            values = {
                "tapes": [number for number, _entry, _terms in rows],
                "ids": [entry.id for _number, entry, _terms in rows],
                "works": [is_work(entry.kind) for _number, entry, _terms in rows],
                "terms": [terms for _number, _entry, terms in rows],
            }
            await self._ask(connection, "add", values)

    async def _cover(
        self, connection: ServerConnection, parts: Sequence[tuple[int, int, int]]
    ) -> None:
        """Record what is covered of tapes: the number of each, and from where to where."""
        if parts:
            names = ("tapes", "lows", "highs")
            values = dict(zip(names, map(list, zip(*parts, strict=True)), strict=True))
            await self._ask(connection, "cover_more", values)

    async def _free(self, connection: ServerConnection, tape: str) -> _HeldPart | None:
        """Hold the index of a tape; raises _Busy if another process does so now."""
        row = await (await self._ask(connection, "hold_free", {"names": [tape]})).fetchone()
        if row is not None:
            return _HeldPart(*row[1:])
        row = await (await self._ask(connection, "covered", {"name": tape})).fetchone()
        if row is not None and row[2] is not None:
            raise _Busy(tape)
        return None

    async def _ask(
        self, connection: ServerConnection, statement: str, values: dict[str, Any]
    ) -> AsyncCursor[tuple[Any, ...]]:
        return await connection.execute(self._database.sql(f"search.{statement}"), bound(values))


async def _messages(reader: PostgresReader, tape: str, ids: Sequence[int]) -> list[Entry]:
    return await reader.query(Query(tape, ids=tuple(ids), kinds=(MESSAGE,)))
