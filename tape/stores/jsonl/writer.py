"""Writing tapes' files: what waits goes to the files of its tapes at once, and is synced once.

The index is written in the same breath and committed last. Whatever fails before that, the files
are cut back to where they ended, and nobody was told otherwise.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Final

import apsw

from tape.database.group_commit import PIECE_SIZE, Job, Result
from tape.entry import Entry, NewEntry, check, dump, utc_iso, with_bootstrap
from tape.errors import AppendRefused, StoreUnavailable, TapeError, TapeMismatch
from tape.store import Now
from tape.stores.jsonl.check import Checkpoint
from tape.stores.jsonl.folder import Folder
from tape.stores.jsonl.index import FileIndex
from tape.stores.jsonl.line import Block, seal, unseal
from tape.unit_of_work import Append, AppendBatch, Outcome, Run, Unit

VERIFY: Final = "file.know"
"""The step that has a tape's file read through; its value `tape` is the name."""

_FULL: Final = {errno.ENOSPC, errno.EDQUOT}


def verify(tape: str) -> Unit:
    """Return the unit that has a tape's file read through."""
    return Unit([Run(VERIFY, {"tape": tape})])


@dataclass(slots=True)
class _Stage:
    """What a batch adds to one tape."""

    path: Path
    number: int
    start: int
    mark: Checkpoint
    dated: str
    newest: int
    lines: list[bytes] = field(default_factory=list)
    keys: dict[str, tuple[Entry, ...]] = field(default_factory=dict)


class FileBatches:
    """Runs units of one append each; `known` are the tapes whose files were read through."""

    def __init__(
        self,
        folder: Folder,
        connection: apsw.Connection,
        statements: Mapping[str, str],
        now: Now,
        known: set[str],
    ) -> None:
        # The files are the truth, so the index need not wait for the disk.
        connection.pragma("synchronous", "normal")
        self._folder = folder
        self._connection = connection
        self._index = FileIndex(connection, statements)
        self._now = now
        self._known = known
        self._stages: dict[str, _Stage] = {}

    def run(self, batch: list[Job]) -> list[Result]:
        """Write a batch; what fails at the disk fails for all of it."""
        before = set(self._known)
        self._stages = {}
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [self._one(job) for job in batch]
            self._write()
            self._connection.execute("COMMIT")
        except Exception as cause:  # whatever it is, the thread and its callers live on
            self._take_back()
            self._known.intersection_update(before.difference(self._stages))
            full = isinstance(cause, apsw.FullError) or getattr(cause, "errno", None) in _FULL
            failure = StoreUnavailable(
                f"the tapes' folder took nothing ({cause}); it is tried again", full=full
            )
            failure.__cause__ = cause
            return [(job, failure) for job in batch]
        self._known.update(self._stages)
        return results

    def close(self) -> None:
        """Close the index."""
        self._connection.close()

    def verify_all(self) -> None:
        """Bring the index up to the files: those that it does not know so long are read."""
        sizes = self._folder.sizes()
        with self._connection:
            marks = dict(self._index.run("marks"))
            for tape in marks.keys() - sizes.keys():
                number = self._index.make(tape)
                self._index.forget(number)
                self._index.run("forget_tape", tape=number)
            for tape, size in sizes.items():
                if marks.get(tape) != size:
                    # What is damaged is told to whoever asks for that tape; the others go on.
                    with contextlib.suppress(TapeError, OSError), self._connection:
                        self._know(tape)

    def _one(self, job: Job) -> Result:
        (step,) = job.unit.steps
        before = set(self._known)
        self._connection.execute("SAVEPOINT unit")
        try:
            if isinstance(step, Append):
                outcome = self._append(step)
            elif isinstance(step, AppendBatch):
                outcome = self._take_in(step)
            else:
                self._know(str(step.values["tape"]))
                outcome = Outcome()
        except TapeError as cause:
            self._connection.execute("ROLLBACK TO unit")
            self._connection.execute("RELEASE unit")
            self._known.intersection_update(before)
            return job, cause
        self._connection.execute("RELEASE unit")
        return job, [outcome]

    def _append(self, step: Append) -> Outcome:
        check(step.entries)
        dump([step.tape, step.key])  # refuses what is no text
        stage = self._stages.get(step.tape) or self._stage(step.tape)
        if step.key is not None and (earlier := self._earlier(stage, step.key)) is not None:
            return Outcome(earlier)
        batch = with_bootstrap(step.entries, empty=stage.newest == 0)
        date = utc_iso(self._now())
        entries = [
            Entry(number, new.kind, new.payload, new.meta, new.date or date)
            for number, new in enumerate(batch, start=stage.newest + 1)
        ]
        unasked = len(batch) - len(step.entries)
        block = Block(len(entries), step.key, unasked)
        lines, digest = seal(entries, block, stage.mark.sum)
        asked = tuple(entries[unasked:])
        self._note(stage, entries, lines, digest)
        if step.key is not None:
            self._index.add_key(stage.number, step.key, asked)
            stage.keys[step.key] = asked
        self._stages[step.tape] = stage
        return Outcome(asked)

    def _take_in(self, step: AppendBatch) -> Outcome:
        """Stage a batch as one block: its lines are kept until they are written, and no more."""
        dump(step.tape)
        stage = self._stages.get(step.tape) or self._stage(step.tape)
        stage = replace(stage, lines=list(stage.lines), keys=dict(stage.keys))
        if stage.newest != step.batch.after:
            raise TapeMismatch(step.tape, step.batch.after, stage.newest)
        date = utc_iso(self._now())
        block = Block(step.batch.count)
        batch = iter(step.batch)
        while piece := _next(batch):
            check(piece)
            entries = [
                Entry(number, new.kind, new.payload, new.meta, new.date or date)
                for number, new in enumerate(piece, start=stage.newest + 1)
            ]
            first = stage.newest - step.batch.after + 1
            lines, digest = seal(entries, block, stage.mark.sum, first)
            self._note(stage, entries, lines, digest)
        step.batch.check(stage.newest)
        self._stages[step.tape] = stage
        return Outcome(changed=step.batch.count)

    def _note(self, stage: _Stage, entries: list[Entry], lines: list[bytes], digest: bytes) -> None:
        at = stage.mark.size
        placed = []
        for entry, line in zip(entries, lines, strict=True):
            placed.append((entry, at, len(line) - 1))
            at += len(line)
        self._index.add(stage.number, stage.dated, placed)
        stage.mark = Checkpoint(at, digest)
        stage.dated = max([stage.dated, *(entry.date for entry in entries)])
        stage.newest += len(entries)
        stage.lines += lines

    def _stage(self, tape: str) -> _Stage:
        path = self._folder.file_of(tape)
        self._know(tape)
        number = self._index.make(tape)
        mark = self._index.mark(number)
        return _Stage(path, number, mark.size, mark, *self._index.newest(number))

    def _know(self, tape: str) -> None:
        """Read a tape's file through, once; raises StoreUnfit where it is damaged."""
        path = self._folder.file_of(tape)
        if tape in self._known or not path.exists():
            return
        try:
            self._index.read(path, self._index.make(tape))
        except OSError as cause:  # this tape's trouble, not that of others
            raise StoreUnavailable(f"{path} cannot be read: {cause.strerror}") from cause
        self._known.add(tape)

    def _earlier(self, stage: _Stage, key: str) -> tuple[Entry, ...] | None:
        """Return what an append with this key wrote, in this batch or before."""
        if key in stage.keys:
            return stage.keys[key]
        found = self._index.run("find_key", tape=stage.number, key=key)
        if not found:
            return None
        first, count = found[0]
        if not count:
            return ()
        last = first + count - 1
        rows = self._index.run("block", tape=stage.number, first=first, last=last)
        with stage.path.open("rb") as file:
            return tuple(_read(file.fileno(), at, size) for _id, at, size in rows)

    def _write(self) -> None:
        """Put what was staged on the disk: all files written, then each synced."""
        with contextlib.ExitStack() as opened:
            files = []
            made = False
            for stage in self._stages.values():
                if stage.lines:
                    made = made or not stage.start
                    files.append(_open(stage))
                    opened.callback(os.close, files[-1])
                    _write_all(files[-1], b"".join(stage.lines))
            for file in files:
                os.fsync(file)
            if made:
                _sync_folder(self._folder.path)
        for stage in self._stages.values():
            self._index.set_mark(stage.number, stage.mark)

    def _take_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        for stage in self._stages.values():
            with contextlib.suppress(OSError):
                os.truncate(stage.path, stage.start)


def _next(batch: Iterator[NewEntry]) -> list[NewEntry]:
    """Read a piece of an import; raises AppendRefused where that fails: others' appends go on."""
    try:
        return list(islice(batch, PIECE_SIZE))
    except (OSError, ValueError) as cause:
        raise AppendRefused(f"what is taken in cannot be read ({cause})") from cause


def _open(stage: _Stage) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    file = os.open(stage.path, flags, 0o600)
    if os.fstat(file).st_size != stage.start:
        os.close(file)
        raise OSError(errno.EBUSY, "somebody else wrote to it", str(stage.path))
    return file


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(file: int, at: int, size: int) -> Entry:
    return unseal(os.pread(file, size, at)).entry
