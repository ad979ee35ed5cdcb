"""Group commit for tape files: a batch of units is written to its files, each synced once.

The index is updated in the same transaction and committed last. If anything fails before that, the
files are truncated to their old size, and no caller has seen a result.
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

from tape.database.group_commit import PIECE_SIZE, Job, Result, failed
from tape.entry import Entry, NewEntry, dump, numbered, utc_iso, with_bootstrap
from tape.errors import AppendRefused, StoreUnavailable, TapeError, TapeMismatch
from tape.payloads import check
from tape.store import Now
from tape.stores.jsonl.check import Checkpoint
from tape.stores.jsonl.folder import Folder
from tape.stores.jsonl.index import FileIndex
from tape.stores.jsonl.line import Block, seal, unseal
from tape.unit_of_work import Append, AppendBatch, Outcome, Run, Unit

VERIFY: Final = "file.know"
"""The step that verifies a tape's file; its value `tape` is the tape's name."""


def verify(tape: str) -> Unit:
    return Unit([Run(VERIFY, {"tape": tape})])


@dataclass(slots=True)
class _Stage:
    """What a batch adds to a tape; `start` is the file's old size, `checkpoint` the new end."""

    path: Path
    number: int
    start: int
    checkpoint: Checkpoint
    dated: str
    newest: int
    lines: list[bytes] = field(default_factory=list)
    keys: dict[str, tuple[Entry, ...]] = field(default_factory=dict)


class FileBatches:
    """Runs units of one append each; `verified` is the set of tapes whose files were verified."""

    def __init__(
        self,
        folder: Folder,
        connection: apsw.Connection,
        statements: Mapping[str, str],
        now: Now,
        verified: set[str],
    ) -> None:
        # The files are the source of truth, so the index need not be synced.
        connection.pragma("synchronous", "normal")
        self._folder = folder
        self._connection = connection
        self._index = FileIndex(connection, statements)
        self._now = now
        self._verified = verified
        self._stages: dict[str, _Stage] = {}

    def run(self, batch: list[Job]) -> list[Result]:
        before = set(self._verified)
        self._stages = {}
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [self._one(job) for job in batch]
            self._write()
            self._connection.execute("COMMIT")
        except Exception as cause:  # the thread and its callers must survive any error
            self._undo()
            self._verified.intersection_update(before.difference(self._stages))
            return failed(batch, f"the tapes' folder refused the write ({cause}): try again", cause)
        self._verified.update(self._stages)
        return results

    def close(self) -> None:
        self._connection.close()

    def verify_all(self) -> None:
        """Update the index from files whose size it does not know, and drop missing files."""
        sizes = self._folder.sizes()
        with self._connection:
            marks = dict(self._index.run("marks"))
            for tape in marks.keys() - sizes.keys():
                number = self._index.make(tape)
                self._index.forget(number)
                self._index.run("forget_tape", tape=number)
            for tape, size in sizes.items():
                if marks.get(tape) != size:
                    # A damaged file raises an error when its tape is first used; other tapes work.
                    with contextlib.suppress(TapeError, OSError), self._connection:
                        self._verify(tape)

    def _one(self, job: Job) -> Result:
        (step,) = job.unit.steps
        before = set(self._verified)
        self._connection.execute("SAVEPOINT unit")
        try:
            if isinstance(step, Append):
                outcome = self._append(step)
            elif isinstance(step, AppendBatch):
                outcome = self._append_batch(step)
            else:
                self._verify(str(step.values["tape"]))
                outcome = Outcome()
        except TapeError as cause:
            self._connection.execute("ROLLBACK TO unit")
            self._connection.execute("RELEASE unit")
            self._verified.intersection_update(before)
            return job, cause
        self._connection.execute("RELEASE unit")
        return job, [outcome]

    def _append(self, step: Append) -> Outcome:
        check(step.entries)
        dump([step.tape, step.key])  # raises AppendRefused unless tape and key are valid text
        stage = self._stages.get(step.tape) or self._stage(step.tape)
        if step.key is not None and (earlier := self._earlier(stage, step.key)) is not None:
            return Outcome(earlier)
        batch = with_bootstrap(step.entries, empty=stage.newest == 0)
        entries = numbered(batch, stage.newest, utc_iso(self._now()))
        added = len(batch) - len(step.entries)
        block = Block(len(entries), step.key, added)
        lines, digest = seal(entries, block, stage.checkpoint.sum)
        own = tuple(entries[added:])
        self._note(stage, entries, lines, digest)
        if step.key is not None:
            self._index.add_key(stage.number, step.key, own)
            stage.keys[step.key] = own
        self._stages[step.tape] = stage
        return Outcome(own)

    def _append_batch(self, step: AppendBatch) -> Outcome:
        """Prepare a batch as one block; only the block's lines are kept in memory."""
        dump(step.tape)
        stage = self._stages.get(step.tape) or self._stage(step.tape)
        stage = replace(stage, lines=list(stage.lines), keys=dict(stage.keys))
        if stage.newest != step.batch.after:
            raise TapeMismatch(step.tape, step.batch.after, stage.newest)
        date = utc_iso(self._now())
        block = Block(step.batch.count)
        batch = iter(step.batch)
        while piece := _next(batch):
            check(piece, imported=True)
            entries = numbered(piece, stage.newest, date)
            first = stage.newest - step.batch.after + 1
            lines, digest = seal(entries, block, stage.checkpoint.sum, first)
            self._note(stage, entries, lines, digest)
        step.batch.check(stage.newest)
        self._stages[step.tape] = stage
        return Outcome(changed=step.batch.count)

    def _note(self, stage: _Stage, entries: list[Entry], lines: list[bytes], digest: bytes) -> None:
        at = stage.checkpoint.size
        located = []
        for entry, line in zip(entries, lines, strict=True):
            located.append((entry, at, len(line) - 1))
            at += len(line)
        self._index.add(stage.number, stage.dated, located)
        stage.checkpoint = Checkpoint(at, digest)
        stage.dated = max([stage.dated, *(entry.date for entry in entries)])
        stage.newest += len(entries)
        stage.lines += lines

    def _stage(self, tape: str) -> _Stage:
        path = self._folder.file_of(tape)
        self._verify(tape)
        number = self._index.make(tape)
        checkpoint = self._index.checkpoint(number)
        return _Stage(path, number, checkpoint.size, checkpoint, *self._index.newest(number))

    def _verify(self, tape: str) -> None:
        """Verify a tape's file once; raises StoreUnusable if the file is damaged."""
        path = self._folder.file_of(tape)
        if tape in self._verified or not path.exists():
            return
        try:
            self._index.read(path, self._index.make(tape))
        except OSError as cause:  # as a TapeError, this fails only the unit and not the batch
            raise StoreUnavailable(
                f"{path} cannot be read ({cause.strerror}): check its permissions"
            ) from cause
        self._verified.add(tape)

    def _earlier(self, stage: _Stage, key: str) -> tuple[Entry, ...] | None:
        """Return the entries that an append with this key wrote, in this batch or earlier."""
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
            read = (os.pread(file.fileno(), size, at) for _id, at, size in rows)
            return tuple(unseal(line).entry for line in read)

    def _write(self) -> None:
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
            self._index.set_checkpoint(stage.number, stage.checkpoint)

    def _undo(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        for stage in self._stages.values():
            with contextlib.suppress(OSError):
                os.truncate(stage.path, stage.start)


def _next(batch: Iterator[NewEntry]) -> list[NewEntry]:
    try:
        return list(islice(batch, PIECE_SIZE))
    except (OSError, ValueError) as cause:
        raise AppendRefused(f"the imported file cannot be read ({cause}): check it") from cause


def _open(stage: _Stage) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    file = os.open(stage.path, flags, 0o600)
    if os.fstat(file).st_size != stage.start:
        os.close(file)
        raise OSError(errno.EBUSY, "another program wrote to it", str(stage.path))
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
