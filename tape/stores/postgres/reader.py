"""Answer queries from a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, Final

from tape.database.query_compiler import compose
from tape.entry import Entry
from tape.errors import AppendRefused, QueryRefused, StoreUnavailable
from tape.query import Query, fold, located_by
from tape.store import TapeInfo
from tape.stores.postgres.binding import bound, driver_sql
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.pool import ServerConnection
from tape.stores.postgres.rows import read_entries, rows_of
from tape.stores.postgres.tape_state import TapeMemory
from tape.tails import END
from tape.unit_of_work import Row

PAGE: Final = 1000  # entries that a search for a substring reads at once


class PostgresReader:
    """Reads committed data, over any connection of the pool or over one that is `lent`."""

    def __init__(
        self, database: PostgresDatabase, memory: TapeMemory, lent: ServerConnection | None = None
    ) -> None:
        self._database = database
        self._lent = lent
        self._memory = memory

    def over(self, connection: ServerConnection) -> PostgresReader:
        """Return a reader for who has borrowed a connection: nobody waits for a second one."""
        return PostgresReader(self._database, self._memory, connection)

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query; raises NotFound for an anchor that does not exist."""
        query = await located_by(query, self.query)
        held = await self._held(query)
        if held is not None:
            return held
        tape = await self._number(query.tape)
        if tape is None or query.is_empty:
            return []
        query = await self.between_dates(tape, query)
        if query.text is not None:
            return await self._saying(tape, query, fold(query.text))
        return await self._answer(tape, query)

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named SELECT statement."""
        try:
            async with self.connection() as connection:
                sql = self._database.sql(statement)
                cursor = await connection.execute(sql, bound(values))
                return rows_of(cursor, await cursor.fetchall())
        except AppendRefused as cause:
            raise StoreUnavailable(f"the database cannot be read ({cause}): try again") from cause

    async def tapes(self, prefix: str) -> list[TapeInfo]:
        """List the tapes with entries whose names start with a prefix."""
        rows = await self._fetch(self._database.sql("tape.tapes"), {"prefix": prefix})
        return [TapeInfo(name, size, last or "") for name, size, last in rows]

    async def size(self, tape: str) -> int:
        """Return the number of entries of a tape."""
        await self._read_end(tape)
        known = self._memory.tails.size(tape)
        if known is not None:
            return known
        rows = await self._fetch(self._database.sql("tape.size"), {"tape": tape})
        return int(rows[0][0]) if rows else 0

    async def between_dates(self, tape: int, query: Query) -> Query:
        """Return a query for the ids that may have its dates, too."""
        if query.since is None and query.until is None:
            return query
        values = {"tape": tape, "since": query.since, "until": query.until}
        rows = await self._fetch(self._database.sql("tape.between_dates"), values)
        after, behind = rows[0]
        before = query.before
        if query.until is not None:
            before = behind if before is None else min(before, behind)
        if query.since is not None:
            query = replace(query, after=max(query.after, after))
        return replace(query, before=before)

    async def _held(self, query: Query) -> list[Entry] | None:
        """Answer from memory what this process holds; None if that takes the database."""
        await self._read_end(query.tape)
        return self._memory.tails.answer(query)

    async def _read_end(self, tape: str) -> None:
        """Read the end of a tape that this process holds, unless it is known."""
        if self._memory.tails.lacks(tape) is not None:
            ends = await self.select("tape.ends", {"names": [tape], **END})
            self._memory.take_in([tape], ends)

    async def _answer(self, tape: int, query: Query) -> list[Entry]:
        sql, values = compose(query, self._database.statements)
        rows = await self._fetch(driver_sql(sql), {"tape": tape, **values})
        entries = read_entries(rows)
        return entries[::-1] if query.newest else entries

    async def _saying(self, tape: int, query: Query, folded: str) -> list[Entry]:
        """Compare texts here: no function of the database folds case as Python does."""
        found: list[Entry] = []
        page = replace(query, text=None, limit=PAGE)
        while True:
            read = await self._answer(tape, page)
            found += [
                entry
                for entry in (reversed(read) if query.newest else read)
                if folded in fold(entry.text)
            ]
            if len(read) < PAGE or (query.limit is not None and len(found) >= query.limit):
                break
            page = (
                replace(page, before=read[0].id)
                if query.newest
                else replace(page, after=read[-1].id)
            )
        hits = found[: query.limit]
        return hits[::-1] if query.newest else hits

    async def _number(self, tape: str) -> int | None:
        if tape not in self._memory.numbers:
            rows = await self._fetch(self._database.sql("tape.find_tape"), {"name": tape})
            if not rows:
                return None
            self._memory.know(tape, rows[0][0])
        return self._memory.numbers[tape]

    def connection(self) -> AbstractAsyncContextManager[ServerConnection]:
        return self._database.connection() if self._lent is None else nullcontext(self._lent)

    async def _fetch(self, sql: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        try:
            async with self.connection() as connection:
                cursor = await connection.execute(sql, bound(values))
                return await cursor.fetchall()
        except AppendRefused as cause:
            raise QueryRefused(
                f"the query holds a value that no entry can have ({cause}): remove it"
            ) from cause
