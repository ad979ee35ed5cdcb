"""The writer thread: everything that waits goes into one transaction.

Units keep the order in which they were submitted. Each runs in a savepoint of its own, so that one
that fails takes no other with it; what was written is told only after the commit that holds it.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

import apsw

from tape.database.connection import read_entry, rows_of
from tape.entry import Entry, NewEntry, check, dump, utc_iso, with_bootstrap
from tape.errors import AppendRefused, StoreUnavailable, TapeError, TapeMismatch, UnitFailed
from tape.store import Now
from tape.unit_of_work import Append, AppendBatch, Outcome, Run, Unit, resolve

MAX_UNITS: Final = 256
"""How many units share one transaction at most, so that the first of them does not wait long."""

PIECE_SIZE: Final = 1000
"""So many entries of an import are in memory at once."""

UNIT_ERRORS: Final = (
    apsw.BindingsError,
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.SQLError,
    apsw.TooBigError,
)
"""What SQLite says of one unit's statements; its other errors are the disk's, and everybody's."""


@dataclass(slots=True)
class Job:
    """A submitted unit, and where its outcome is awaited."""

    unit: Unit
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[list[Outcome]]


OnCommit = Callable[[Mapping[int, str]], None]
"""Is told, after a commit, which tapes have new entries: their numbers and names. Never waits."""


Result = tuple[Job, list[Outcome] | TapeError]


class BatchRunner(Protocol):
    """Who writes what the thread drains; it is made and used in that thread alone."""

    def run(self, batch: list[Job]) -> list[Result]:
        """Write a batch; returns what became of each unit."""
        ...

    def close(self) -> None:
        """Let go of every resource."""
        ...


class WriterThread:
    """Owns what writes: `open_batches` makes it, in the thread."""

    def __init__(self, open_batches: Callable[[], BatchRunner]) -> None:
        self._open = open_batches
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="tape-writer", daemon=True)
        self._thread.start()

    async def submit(self, unit: Unit) -> list[Outcome]:
        """Hand a unit over and wait until the transaction that holds it is on the disk.

        A caller that is cancelled stops waiting; the unit is written all the same.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Outcome]] = loop.create_future()
        self._jobs.put(Job(unit, loop, future))
        return await future

    async def close(self) -> None:
        """Write everything that was submitted, then end the thread."""
        self._jobs.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    def _run(self) -> None:
        batches = self._open()
        try:
            open_for_more = True
            while open_for_more:
                batch, open_for_more = self._drain()
                if batch:
                    _settle(self._run_batch(batches, batch))
        finally:
            batches.close()

    def _run_batch(self, batches: BatchRunner, batch: list[Job]) -> list[Result]:
        """Run a batch; whatever is raised, every caller is told and the thread goes on."""
        try:
            return batches.run(batch)
        except Exception as cause:
            failure = StoreUnavailable(f"the writer failed: {type(cause).__name__}: {cause}")
            failure.__cause__ = cause
            return [(job, failure) for job in batch]

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
    """Runs units on a connection."""

    def __init__(
        self,
        connection: apsw.Connection,
        statements: Mapping[str, str],
        now: Now,
        told: OnCommit,
    ) -> None:
        self._connection = connection
        self._sql = statements
        self._now = now
        self._told = told
        self._wrote: dict[int, str] = {}

    def run(self, batch: list[Job]) -> list[Result]:
        """Run a batch in one transaction; a failed commit fails all of it."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._wrote = {}
            results = [self._one(job) for job in batch]
            self._connection.execute("COMMIT")
        except Exception as cause:  # whatever it is, the thread and its callers live on
            self._roll_back()
            full = isinstance(cause, apsw.FullError)
            failure = StoreUnavailable(
                f"the database took nothing ({cause}); it is tried again", full=full
            )
            failure.__cause__ = cause
            return [(job, failure) for job in batch]
        if self._wrote:
            self._told(self._wrote)
        return results

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

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
        """Run the steps of one unit; whoever calls holds the transaction."""
        outcomes: list[Outcome] = []
        for step in unit.steps:
            if isinstance(step, Append):
                outcomes.append(self._append(step))
            elif isinstance(step, AppendBatch):
                outcomes.append(self._take_in(step))
            else:
                outcomes.append(self._run(step, outcomes))
        return outcomes

    def _run(self, step: Run, outcomes: list[Outcome]) -> Outcome:
        before = self._connection.total_changes()
        cursor = self._connection.execute(self._sql[step.statement], resolve(step.values, outcomes))
        rows = tuple(rows_of(cursor))
        changed = self._connection.total_changes() - before
        if step.expect is not None and changed != step.expect:
            raise UnitFailed(step.statement, step.expect, changed)
        return Outcome(rows=rows, changed=changed)

    def _append(self, step: Append) -> Outcome:
        check(step.entries)
        tape = self._tape(step.tape)
        if step.key is not None:
            earlier = self._sequence("find_key", {"tape": tape, "key": step.key})
            if earlier:
                return Outcome(self._block(tape, *earlier[0]))
        dated, newest, last = self._newest(tape)
        batch = with_bootstrap(step.entries, empty=newest == 0)
        entries = self._write(tape, newest, (dated, last), batch)
        self._wrote[tape] = step.tape
        asked = tuple(entries[len(batch) - len(step.entries) :])
        if step.key is not None:
            self._connection.execute(
                self._sql["tape.add_key"],
                {
                    "tape": tape,
                    "key": step.key,
                    "first": asked[0].id if asked else 0,
                    "count": len(asked),
                },
            )
        return Outcome(asked)

    def _take_in(self, step: AppendBatch) -> Outcome:
        """Write a batch of any size, a piece at a time; the transaction holds all of it."""
        tape = self._tape(step.tape)
        newest = self._newest(tape)[1]
        if newest != step.batch.after:
            raise TapeMismatch(step.tape, step.batch.after, newest)
        entries = iter(step.batch)
        while piece := list(islice(entries, PIECE_SIZE)):
            check(piece)
            dated, newest, last = self._newest(tape)
            self._write(tape, newest, (dated, last), piece)
            newest += len(piece)
        step.batch.check(newest)
        self._wrote[tape] = step.tape
        return Outcome(changed=step.batch.count)

    def _write(
        self, tape: int, newest: int, dated: tuple[str, int], batch: list[NewEntry]
    ) -> list[Entry]:
        date = utc_iso(self._now())
        entries = [
            Entry(number, new.kind, new.payload, new.meta, new.date or date)
            for number, new in enumerate(batch, start=newest + 1)
        ]
        late = late_entries(entries, *dated)
        rows = [
            (
                tape,
                entry.id,
                entry.kind,
                entry.name,
                _text(entry.meta.get("author")),
                _text(entry.meta.get("lane")),
                _text(entry.meta.get("turn")),
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
        """Return the latest date of a tape, the id of its newest entry, and of the one so dated."""
        found = self._sequence("newest", {"tape": tape})
        return (str(found[0][0]), found[0][1], found[0][2]) if found else ("", 0, 0)

    def _block(self, tape: int, first: int, count: int) -> tuple[Entry, ...]:
        values = {"tape": tape, "first": first, "last": first + count - 1}
        return tuple(read_entry(row) for row in self._sequence("block", values))

    def _tape(self, name: str) -> int:
        found = self._sequence("find_tape", {"name": name})
        if not found:
            found = self._sequence("make_tape", {"name": name})
        return int(found[0][0])

    def _sequence(self, statement: str, values: Mapping[str, object]) -> list[tuple[int, ...]]:
        return list(self._connection.execute(self._sql[f"tape.{statement}"], values))


def late_entries(entries: Iterable[Entry], newest: str, last: int) -> dict[int, int]:
    """Return which are dated before one that stands before them, each with the last in order.

    `newest` is the latest date before them, and `last` the id of the last entry dated so.
    """
    late = {}
    for entry in entries:
        if entry.date < newest:
            late[entry.id] = last
        else:
            newest, last = entry.date, entry.id
    return late


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _as_tape_error(cause: Exception) -> TapeError:
    if isinstance(cause, TapeError):
        return cause
    refused = AppendRefused(f"the database refused a statement: {cause}")
    refused.__cause__ = cause
    return refused


def _settle(results: list[Result]) -> None:
    """Tell every caller, with one wake-up a loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Result]] = {}
    for job, outcome in results:
        by_loop.setdefault(job.loop, []).append((job, outcome))
    for loop, own in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_tell, own)


def _tell(results: list[Result]) -> None:
    for job, outcome in results:
        if job.future.done():
            continue
        if isinstance(outcome, TapeError):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
