"""Run units of work on PostgreSQL, each in one transaction and, usually, in one round trip.

Ids are given here, by what this process remembers of a tape; the server refuses an append to a tape
that has another size (TW001). Then the unit runs once more: it locks its tapes, reads them, and
cannot be too late a second time. Units of one tape or session go out in the order in which they
were submitted, others side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import Any, Final, NoReturn

import anyio
import psycopg
from psycopg import AsyncCursor, AsyncPipeline

from tape.database.staging import next_piece
from tape.entry import Entry, numbered, utc_iso
from tape.erasing import check_left
from tape.errors import AppendRefused, OutcomeUnknown, StoreUnavailable, TapeMismatch, UnitFailed
from tape.payloads import check
from tape.store import Now
from tape.stores.postgres.binding import bound, driver_sql, expecting, is_select, returns
from tape.stores.postgres.database import PostgresDatabase, as_tape_error
from tape.stores.postgres.lines import Lines, lines_of
from tape.stores.postgres.lost_answer import NUMBER, LostAnswer, is_repeatable, was_committed
from tape.stores.postgres.pool import ServerConnection
from tape.stores.postgres.rows import read_entries, rows_of
from tape.stores.postgres.server_errors import first_cause, unit_failed
from tape.stores.postgres.tape_state import (
    TapeMemory,
    TapeState,
    append_values,
    erase_values,
    written,
)
from tape.unit_of_work import Append, Batch, Erase, Outcome, Prepare, Run, Unit, resolve

STALE: Final = "TW001"
UNEXPECTED: Final = "TW002"
AGAIN: Final = frozenset({STALE, "40001", "40P01"})
"""The server asks for the same unit once more: somebody else was quicker, or had to come first."""

MAX_TRIES: Final = 10

_ROLLBACKS: Final = count()

Cursor = AsyncCursor[tuple[Any, ...]]


class UnitWriter:
    """Writes the units of one process."""

    def __init__(self, database: PostgresDatabase, memory: TapeMemory, now: Now) -> None:
        self._database = database
        self._memory = memory
        self._now = now
        self._lines = Lines()

    async def run(self, unit: Unit) -> list[Outcome]:
        """Run a unit; raises TapeError, and then nothing was written."""
        async with AsyncExitStack() as stack:
            for name in sorted(lines_of(unit)):
                await stack.enter_async_context(self._lines.turn(name))
            with anyio.CancelScope(shield=True):  # what has begun ends, whoever waits for it
                try:
                    outcomes = await self._run(unit)
                except BaseException:
                    self._forget_all(unit)
                    raise
                if any(isinstance(step, Erase) for step in unit.steps):
                    self._forget_all(unit)
            return outcomes

    async def import_batch(self, tape: str, batch: Batch, prepare: Prepare) -> None:
        """Append a batch of any size to a tape that has `batch.after` entries."""
        rest, newest = map(prepare, batch), batch.after
        async with self._lines.turn(f"tape {tape}"):
            async with self._database.connection() as connection, connection.transaction():
                self._memory.forget(tape)
                job = _Job(self._database, utc_iso(self._now()), {})
                state = await job.locked(connection, tape)
                if state.size != batch.after:
                    raise TapeMismatch(tape, batch.after, state.size)
                while piece := await next_piece(rest):
                    check(piece, imported=True)
                    entries = numbered(piece, newest, utc_iso(self._now()))
                    state = await job.extend(connection, tape, state, entries)
                    newest += len(entries)
                batch.check(newest)
            self._memory.forget(tape)

    async def vacuum(self, *, indexes: bool) -> None:
        """Remove what is left of rows that were changed, in every table, while others use them.

        `indexes` is whether to look at indexes of tables with few such rows, too.
        """
        async with self._database.connection(patient=True) as connection:
            found = await connection.execute(self._database.sql("tape.tables"))
            names = ", ".join(row[0] for row in await found.fetchall())
            options = "(INDEX_CLEANUP ON) " if indexes else ""
            await connection.execute(f"VACUUM {options}{names}".encode())

    def _forget_all(self, unit: Unit) -> None:
        for step in unit.steps:
            if isinstance(step, Append | Erase):
                self._memory.forget(step.tape)

    async def _run(self, unit: Unit) -> list[Outcome]:
        tapes = appended(unit)
        known = self._memory.states
        at_once = all(tape in known for tape in tapes)
        for _ in range(MAX_TRIES):
            states = {tape: known[tape] for tape in tapes} if at_once else {}
            for tape in tapes:
                known.pop(tape, None)  # until it is known how this ends
            job = _Job(self._database, utc_iso(self._now()), states)
            try:
                async with self._database.connection() as connection:
                    outcomes = await job.run(connection, unit, locked=not at_once)
            except _Again:
                self._forget_all(unit)
                at_once = False
                continue
            except LostAnswer as lost:
                outcomes = await self._settled(unit, job, lost)
            for tape in tapes:
                self._memory.tails.appended(tape, job.made.get(tape, ()))
            self._memory.keep(job.states)
            return outcomes
        raise StoreUnavailable("the database asked too often to try again: try again later")

    async def _settled(self, unit: Unit, job: _Job, lost: LostAnswer) -> list[Outcome]:
        """Find out how a transaction ended whose answer was lost."""
        if is_repeatable(unit):
            raise StoreUnavailable("the connection broke during a write: try again") from lost
        committed = await was_committed(self._database, lost.transaction, job.made)
        if committed is False:
            raise StoreUnavailable("the connection broke before the write: try again") from lost
        if committed and all(self._is_known(step) for step in unit.steps):
            return [replace(one, changed=1) for one in job.planned]
        raise OutcomeUnknown(appended(unit)) from lost

    def _is_known(self, step: object) -> bool:
        if isinstance(step, Run):  # a fence: that it changed its row is all there is to know
            return step.expect == 1 and not returns(self._database.statements[step.statement])
        return isinstance(step, Append)


class _Again(Exception):
    """The unit has to run once more."""


class _Job:
    """One attempt at a unit."""

    def __init__(self, database: PostgresDatabase, now: str, states: dict[str, TapeState]) -> None:
        self._database = database
        self._now = now
        self._keyed: dict[tuple[str, str], Outcome] = {}
        self._sent: dict[int, tuple[Cursor, Run]] = {}
        self._transaction: str | None = None
        self._committed: Cursor | None = None
        self.states = states
        self.made: dict[str, list[Entry]] = {}
        self.planned: list[Outcome] = []

    async def run(self, connection: ServerConnection, unit: Unit, *, locked: bool) -> list[Outcome]:
        """Send the whole transaction, then read the answers: one round trip.

        One more is needed where the tapes have to be `locked` and read first, and where the server
        may have to say later how the transaction ended.
        """
        with _judged():
            try:
                async with connection.pipeline() as pipeline:
                    failure = await self._pipelined(connection, pipeline, unit, locked)
            except psycopg.Error as cause:
                failure = first_cause(cause)
            if failure is not None and not self._is_committed():
                await self._fail(connection, failure)
            return await self._received()

    async def _pipelined(
        self, connection: ServerConnection, pipeline: AsyncPipeline, unit: Unit, locked: bool
    ) -> BaseException | None:
        """Send a transaction; return what was wrong, since a pipeline has to end in peace."""
        try:
            await connection.execute("BEGIN")
            number = None if is_repeatable(unit) else await connection.execute(NUMBER)
            if locked:
                await self._read(connection, unit)
            elif len(self.states) > 1:
                await self._run(connection, "tape.lock", {"names": appended(unit)})
            if number is not None:
                self._transaction = (await number.fetchall())[0][0]
            self.planned = await self._send(connection, unit)
            after = unit.afterwards and self._bound(unit.afterwards, [])
            self._committed = await connection.execute("COMMIT")  # the pipeline's end sends it
            if after:
                await connection.execute(*after)
        except Exception as cause:
            with suppress(psycopg.Error):
                await pipeline.sync()  # drops what stands behind the failed statement
            return cause
        return None

    def _is_committed(self) -> bool:
        """Return whether only what stood behind the transaction failed."""
        return self._committed is not None and self._committed.statusmessage == "COMMIT"

    async def _fail(self, connection: ServerConnection, cause: BaseException) -> NoReturn:
        if connection.closed and isinstance(cause, psycopg.Error):
            raise LostAnswer(self._transaction) from cause
        await _roll_back(connection)
        raise cause

    async def _read(self, connection: ServerConnection, unit: Unit) -> None:
        names = {"names": appended(unit)}
        if not names["names"]:
            return
        for statement in ("tape.make", "tape.lock"):
            await self._run(connection, statement, names)
        found = await self._run(connection, "tape.state", names)
        keys = {(step.tape, step.key) for step in unit.steps if isinstance(step, Append)}
        known = {
            (tape, key): await self._run(connection, "tape.keyed", {"tape": tape, "key": key})
            for tape, key in keys
            if key is not None
        }
        self.states = {str(row[0]): TapeState(*row[1:]) for row in await found.fetchall()}
        for (tape, key), cursor in known.items():
            block = await self._block(connection, tape, await cursor.fetchone())
            if block is not None:
                self._keyed[tape, key] = Outcome(tuple(block))

    async def locked(self, connection: ServerConnection, tape: str) -> TapeState:
        """Lock a tape until this transaction ends, and return its state."""
        await self._read(connection, Unit([Append(tape, ())]))
        return self.states[tape]

    async def extend(
        self, connection: ServerConnection, tape: str, state: TapeState, entries: Sequence[Entry]
    ) -> TapeState:
        """Append numbered entries, and return the tape's new state."""
        values = append_values(tape, None, state, entries, entries)
        await self._run(connection, "tape.append", values)
        return state.after(entries)

    async def _block(
        self, connection: ServerConnection, tape: str, row: Sequence[int] | None
    ) -> list[Entry] | None:
        """Return the entries of a block, by its first id and their number."""
        if row is None:
            return None
        span = {"tape": tape, "first": row[0], "last": row[0] + row[1] - 1}
        block = await self._run(connection, "tape.block", span)
        return read_entries(await block.fetchall())

    async def _send(self, connection: ServerConnection, unit: Unit) -> list[Outcome]:
        """Send the steps, and return what is known of their outcomes before the answers."""
        planned: list[Outcome] = []
        for number, step in enumerate(unit.steps):
            if isinstance(step, Append):
                planned.append(await self._append(connection, step))
            elif isinstance(step, Run):
                cursor = await connection.execute(*self._bound(step, planned))
                self._sent[number] = cursor, step
                planned.append(Outcome())
            elif isinstance(step, Erase):
                planned.append(await self._erase(connection, step))
            else:
                raise AppendRefused(f"PostgreSQL has no {type(step).__name__}")
        return planned

    async def _received(self) -> list[Outcome]:
        for number, (cursor, step) in self._sent.items():
            self.planned[number] = await _outcome(cursor, step, self._database)
        return self.planned

    async def _append(self, connection: ServerConnection, step: Append) -> Outcome:
        key = (step.tape, step.key or "")
        if step.key is not None and key in self._keyed:
            return self._keyed[key]
        state = self.states.get(step.tape, TapeState())
        entries, own = written(step, state, self._now)
        if entries or step.key is not None:
            values = append_values(step.tape, step.key, state, entries, own)
            await self._run(connection, "tape.append", values)
        self.states[step.tape] = state.after(entries)
        self.made.setdefault(step.tape, []).extend(entries)
        outcome = Outcome(tuple(own))
        if step.key is not None:
            self._keyed[key] = outcome
        return outcome

    async def _erase(self, connection: ServerConnection, step: Erase) -> Outcome:
        old: list[Entry] = []
        # Others may erase the same words: what they leave has to be read before this is compared.
        await self._run(connection, "tape.lock", {"names": [step.tape]})
        for entry in step.entries:
            span = {"tape": step.tape, "first": entry.id, "last": entry.id}
            found = await self._run(connection, "tape.block", span)
            old += read_entries(await found.fetchall())
        check_left(step.tape, old, step.entries)
        for entry in step.entries:
            await self._run(connection, "tape.erase_entry", erase_values(step.tape, entry))
        return Outcome(changed=len(step.entries))

    def _bound(self, step: Run, outcomes: Sequence[Outcome]) -> tuple[str, dict[str, Any]]:
        sql, values = self._statement(step, outcomes)
        return driver_sql(sql), bound(values)

    def _statement(self, step: Run, outcomes: Sequence[Outcome]) -> tuple[str, dict[str, Any]]:
        sql = self._database.statements.get(step.statement)
        if sql is None:
            raise AppendRefused(f"no statement has the name {step.statement}")
        values = resolve(step.values, outcomes)
        if step.expect is None:
            return sql, values
        if is_select(sql):
            if step.expect:
                raise UnitFailed(step.statement, step.expect, 0)
            return sql, values
        frame = self._database.statements["tape.expects"]
        values |= {"unit_name": step.statement, "unit_expected": step.expect}
        return expecting(frame, sql), values

    async def _run(
        self, connection: ServerConnection, statement: str, values: Mapping[str, Any]
    ) -> Cursor:
        return await connection.execute(self._database.sql(statement), bound(values))


def appended(unit: Unit) -> list[str]:
    """Return the tapes to which a unit appends, sorted."""
    return sorted({step.tape for step in unit.steps if isinstance(step, Append)})


async def _outcome(cursor: Cursor, step: Run, database: PostgresDatabase) -> Outcome:
    sql = database.statements[step.statement]
    if is_select(sql):
        return Outcome(rows=tuple(rows_of(cursor, await cursor.fetchall())))
    changed = cursor.rowcount if step.expect is None else step.expect
    if not returns(sql) or not changed:
        return Outcome(changed=changed)
    return Outcome(rows=tuple(rows_of(cursor, await cursor.fetchall())), changed=changed)


async def _roll_back(connection: ServerConnection) -> None:
    """End a transaction that failed.

    Of statements behind a failed one, psycopg believes that the server has prepared them. Only a
    rollback in words that this connection has not heard makes it forget all that it prepared.
    """
    with anyio.CancelScope(shield=True), suppress(psycopg.Error):  # one that is gone has done so
        await connection.execute(f"ROLLBACK -- {next(_ROLLBACKS)}".encode())


@contextmanager
def _judged() -> Iterator[None]:
    """Raise `_Again` where the unit may succeed the next time, else an error of the tape."""
    try:
        yield
    except psycopg.Error as cause:
        if cause.sqlstate in AGAIN:
            raise _Again from cause
        if cause.sqlstate == UNEXPECTED:
            raise unit_failed(cause) from cause
        raise as_tape_error(cause) from cause
    except UnicodeEncodeError as cause:
        raise AppendRefused(f"a value is not valid Unicode text ({cause}): remove it") from cause
