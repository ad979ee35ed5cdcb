"""The writer thread, in which all waiting units share one transaction.

Units run in the order in which they were submitted, each in a savepoint, so that a failing unit
does not affect the others. A caller gets its outcome after the commit.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import apsw

from tape.database.connection import read_entry, run_step
from tape.database.staging import OLD, PIECE_SIZE
from tape.entry import Entry, NewEntry, dump, numbered, utc_iso, with_bootstrap
from tape.erasing import check_left
from tape.errors import AppendRefused, StoreUnavailable, TapeError, TapeMismatch
from tape.payloads import check
from tape.store import Now
from tape.unit_of_work import (
    Append,
    AppendBatch,
    Copy,
    Drop,
    Erase,
    Outcome,
    Publish,
    Purge,
    Run,
    Unit,
)

MAX_UNITS: Final = 256
"""Maximum units in one transaction, so that the first unit does not wait long."""

UNIT_ERRORS: Final = (
    apsw.BindingsError,
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.SQLError,
    apsw.TooBigError,
)
"""SQLite errors that concern one unit; others come from the disk and fail the whole batch."""


COLUMNS: Final = ("author", "lane", "turn")
"""The columns that are filled from an entry's meta."""

FULL: Final = {errno.ENOSPC, errno.EDQUOT}


@dataclass(slots=True)
class Job:
    """A submitted unit, and the future that receives its outcomes."""

    unit: Unit
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[list[Outcome]]


OnCommit = Callable[[Mapping[int, str]], None]
"""Called after a commit with the numbers and names of tapes with new entries; must not block."""


Result = tuple[Job, list[Outcome] | TapeError]


class BatchRunner(Protocol):
    """Writes batches of units; created and used only in the writer thread."""

    def run(self, batch: list[Job]) -> list[Result]:
        """Write a batch, and return a result for each unit."""
        ...

    def close(self) -> None: ...


class WriterThread:
    """Runs the thread of a batch runner, which `open_runner` creates in that thread."""

    def __init__(self, open_runner: Callable[[], BatchRunner]) -> None:
        self._open = open_runner
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="tape-writer", daemon=True)
        self._thread.start()

    async def submit(self, unit: Unit) -> list[Outcome]:
        """Queue a unit and wait until it is on disk; cancelling stops only the wait."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Outcome]] = loop.create_future()
        self._jobs.put(Job(unit, loop, future))
        return await future

    async def close(self) -> None:
        """Write everything submitted, then end the thread."""
        self._jobs.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    def _run(self) -> None:
        with contextlib.closing(self._open()) as runner:
            open_for_more = True
            while open_for_more:
                batch, open_for_more = self._drain()
                if batch:
                    _settle(self._run_batch(runner, batch))

    def _run_batch(self, runner: BatchRunner, batch: list[Job]) -> list[Result]:
        try:
            return runner.run(batch)
        except Exception as cause:
            return failed(batch, f"the writer failed ({type(cause).__name__}: {cause})", cause)

    def _drain(self) -> tuple[list[Job], bool]:
        batch: list[Job] = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) == MAX_UNITS:
                return batch, True
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False


class Transaction:
    """Runs units on a connection, with one transaction per batch."""

    def __init__(
        self,
        connection: apsw.Connection,
        statements: Mapping[str, str],
        now: Now,
        on_commit: OnCommit,
    ) -> None:
        self._connection = connection
        self._sql = statements
        self._now = now
        self._on_commit = on_commit
        self._wrote: dict[int, str] = {}

    def run(self, batch: list[Job]) -> list[Result]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._wrote = {}
            results = [self._one(job) for job in batch if not _purge_of(job)]
            self._connection.execute("COMMIT")
        except Exception as cause:  # the thread and its callers must survive any error
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            return failed(batch, f"the database refused the write ({cause}): try again", cause)
        if self._wrote:
            self._on_commit(self._wrote)
        purges = [job for job in batch if _purge_of(job)]
        return [*results, *self._purge(purges)] if purges else results

    def close(self) -> None:
        self._connection.close()

    def _one(self, job: Job) -> Result:
        self._connection.execute("SAVEPOINT unit")
        try:
            outcomes = self.steps(job.unit)
        except Exception as cause:
            if isinstance(cause, apsw.Error) and not isinstance(cause, UNIT_ERRORS):
                raise
            self._connection.execute("ROLLBACK TO unit")
            self._connection.execute("RELEASE unit")
            return job, _as_tape_error(cause)
        self._connection.execute("RELEASE unit")
        return job, outcomes

    def steps(self, unit: Unit) -> list[Outcome]:
        """Run one unit's steps inside the caller's transaction."""
        outcomes: list[Outcome] = []
        for step in unit.steps:
            if isinstance(step, Append):
                outcomes.append(self._append(step))
            elif isinstance(step, AppendBatch):
                outcomes.append(self._append_batch(step))
            elif isinstance(step, Copy):
                outcomes.append(self._copy(step))
            elif isinstance(step, Publish):
                outcomes.append(self._publish(step))
            elif isinstance(step, Drop):
                outcomes.append(self._drop(step))
            elif isinstance(step, Erase):
                outcomes.append(self._erase(step))
            elif isinstance(step, Run):
                outcomes.append(run_step(self._connection, self._sql, step, outcomes))
        return outcomes

    def _append(self, step: Append) -> Outcome:
        check(step.entries)
        tape = self._tape(step.tape)
        if step.key is not None:
            earlier = self._sequence("find_key", {"tape": tape, "key": step.key})
            if earlier:
                return Outcome(self._block(tape, *earlier[0]))
        dated, newest, last = self._newest(tape)
        batch = with_bootstrap(
            step.entries,
            empty=newest == 0,
            anchored=lambda: bool(self._sequence("anchored", {"tape": tape})),
        )
        entries = self._write(tape, newest, (dated, last), batch)
        self._wrote[tape] = step.tape
        own = tuple(entries[len(batch) - len(step.entries) :])
        if step.key is not None:
            first = own[0].id if own else 0
            values = {"tape": tape, "key": step.key, "first": first, "count": len(own)}
            self._sequence("add_key", values)
        return Outcome(own)

    def _append_batch(self, step: AppendBatch) -> Outcome:
        check(step.entries, imported=True)
        tape = self._tape(step.tape)
        dated, newest, last = self._newest(tape)
        if newest != step.after:
            raise TapeMismatch(step.tape, step.after, newest)
        self._write(tape, newest, (dated, last), list(step.entries))
        self._wrote[tape] = step.tape
        return Outcome(changed=len(step.entries))

    def _copy(self, step: Copy) -> Outcome:
        old, tape = self._tape(step.tape), self._tape(step.staging)
        newest = self._newest(old)[1]
        if newest != step.after:
            raise TapeMismatch(step.tape, step.after, newest)
        if not step.copied:
            self._sequence("copy_late", {"tape": tape, "old": old})
        return Outcome(changed=len(self._sequence("copy_entries", copied_rows(step, tape, old))))

    def _publish(self, step: Publish) -> Outcome:
        old, tape = self._tape(step.tape), self._tape(step.staging)
        newest = self._newest(old)[1]
        if newest != step.after:
            raise TapeMismatch(step.tape, step.after, newest)
        self._sequence("take_keys", {"tape": tape, "old": old})
        self._sequence("rename", {"tape": old, "name": f"{step.staging}{OLD}"})
        self._sequence("rename", {"tape": tape, "name": step.tape})
        self._wrote[tape] = step.tape
        return Outcome()

    def _drop(self, step: Drop) -> Outcome:
        tape = self._tape(step.staging)
        dropped = len(self._sequence("drop_entries", {"tape": tape, "most": step.most}))
        if not dropped:
            for name in ("forget_late", "forget_keys", "forget_tape"):
                self._sequence(name, {"tape": tape})
        return Outcome(changed=dropped)

    def _erase(self, step: Erase) -> Outcome:
        tape = self._tape(step.tape)
        old = [self._block(tape, entry.id, 1) for entry in step.entries]
        check_left(step.tape, [entry for found in old for entry in found], step.entries)
        for entry in step.entries:
            self._sequence("begin_erasing", {"tape": tape, "id": entry.id})
            self._sequence(
                "erase_entry",
                {
                    "tape": tape,
                    "id": entry.id,
                    "name": entry.name,
                    **dict(zip(COLUMNS, meta_columns(entry), strict=True)),
                    "payload": dump(entry.payload),
                    "meta": dump(entry.meta),
                },
            )
        self._sequence("end_erasing", {})
        return Outcome(changed=len(step.entries))

    def _purge(self, jobs: list[Job]) -> list[Result]:
        """Rewrite the database: the free space of its pages may still have erased text."""
        try:
            if any(purge.rewrite for job in jobs for purge in _purge_of(job)):
                self._connection.execute("VACUUM")
            busy, _log, _done = next(self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
            if busy:
                raise StoreUnavailable("the database is being read")
        except Exception as cause:
            why = f"the database still has words that were erased ({cause}): try again"
            return failed(jobs, why, cause)
        return [(job, [Outcome()]) for job in jobs]

    def _write(
        self, tape: int, newest: int, dated: tuple[str, int], batch: list[NewEntry]
    ) -> list[Entry]:
        entries = numbered(batch, newest, utc_iso(self._now()))
        late = late_entries(entries, *dated)
        rows = [
            (
                tape,
                entry.id,
                entry.kind,
                entry.name,
                *meta_columns(entry),
                late.get(entry.id),
                dump(entry.payload),
                dump(entry.meta),
                entry.date,
            )
            for entry in entries
        ]
        self._connection.executemany(self._sql["tape.add_entry"], rows)
        behind = ({"tape": tape, "id": e.id, "date": e.date} for e in entries if e.id in late)
        self._connection.executemany(self._sql["tape.add_late"], behind)
        return entries

    def _newest(self, tape: int) -> tuple[str, int, int]:
        """Return a tape's latest date, its newest id, and the id of the entry with that date."""
        found = self._sequence("newest", {"tape": tape})
        return (str(found[0][0]), found[0][1], found[0][2]) if found else ("", 0, 0)

    def _block(self, tape: int, first: int, count: int) -> tuple[Entry, ...]:
        values = {"tape": tape, "first": first, "last": first + count - 1}
        return tuple(read_entry(row) for row in self._sequence("block", values))

    def _tape(self, name: str) -> int:
        values = {"name": name}
        found = self._sequence("find_tape", values) or self._sequence("make_tape", values)
        return int(found[0][0])

    def _sequence(self, statement: str, values: Mapping[str, object]) -> list[tuple[int, ...]]:
        return list(self._connection.execute(self._sql[f"tape.{statement}"], values))


def copied_rows(step: Copy, tape: int, old: int) -> dict[str, int]:
    """Return the values of the statement that copies the next piece of a tape."""
    return {"tape": tape, "old": old, "after": step.copied, "most": PIECE_SIZE}


def late_entries(entries: Iterable[Entry], newest: str, last: int) -> dict[int, int]:
    """Map entries dated before an earlier entry to the last entry in date order, by id.

    `newest` is the latest date on the tape so far, and `last` the id of the entry with that date.
    """
    late = {}
    for entry in entries:
        if entry.date < newest:
            late[entry.id] = last
        else:
            newest, last = entry.date, entry.id
    return late


def meta_columns(entry: Entry) -> Iterator[str | None]:
    """Yield an entry's values for COLUMNS."""
    for name in COLUMNS:
        value = entry.meta.get(name)
        yield value if isinstance(value, str) else None


def _purge_of(job: Job) -> list[Purge]:
    return [step for step in job.unit.steps if isinstance(step, Purge)]


def _as_tape_error(cause: Exception) -> TapeError:
    if isinstance(cause, TapeError):
        return cause
    refused = AppendRefused(f"the database refused a statement: {cause}")
    refused.__cause__ = cause
    return refused


def failed(batch: list[Job], sentence: str, cause: Exception) -> list[Result]:
    """Return StoreUnavailable as the result of every unit in a batch."""
    full = isinstance(cause, apsw.FullError) or getattr(cause, "errno", None) in FULL
    failure = StoreUnavailable(sentence, full=full)
    failure.__cause__ = cause
    return [(job, failure) for job in batch]


def _settle(results: list[Result]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Result]] = {}
    for job, outcome in results:
        by_loop.setdefault(job.loop, []).append((job, outcome))
    for loop, own in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the event loop is closed, so no caller is waiting
            loop.call_soon_threadsafe(_resolve_futures, own)


def _resolve_futures(results: list[Result]) -> None:
    for job, outcome in results:
        if job.future.done():
            continue
        if isinstance(outcome, TapeError):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
