"""Group commit for tape files: a batch of units is written to its files, each synced once.

The index is updated in the same transaction and committed last. If anything fails before that, the
files are truncated to their old size, and no caller has seen a result.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import apsw

from tape.database.group_commit import Job, Result, copied_rows, failed
from tape.database.staging import OLD, STAGING
from tape.entry import Entry, dump, numbered, utc_iso, with_bootstrap
from tape.erasing import check_left
from tape.errors import StoreUnavailable, TapeError, TapeMismatch
from tape.payloads import check
from tape.private_file import open_private, sync_folder
from tape.store import Now
from tape.stores.jsonl.check import Checkpoint
from tape.stores.jsonl.folder import Folder
from tape.stores.jsonl.index import FileIndex
from tape.stores.jsonl.line import Block, seal, unseal
from tape.stores.jsonl.rewriting import SUFFIX, rewrite
from tape.unit_of_work import Append, AppendBatch, Copy, Drop, Erase, Outcome, Publish, Run, Unit

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
        self._published: dict[str, int] = {}

    def run(self, batch: list[Job]) -> list[Result]:
        results: list[Result] = []
        for erases, jobs in itertools.groupby(batch, lambda job: _is_erase(job.unit)):
            found = list(jobs)
            results += [self._erased(job) for job in found] if erases else self._written(found)
        return results

    def _written(self, batch: list[Job]) -> list[Result]:
        before = set(self._verified)
        self._stages, self._published = {}, {}
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [self._one(job) for job in batch]
            self._write()
            self._connection.execute("COMMIT")
        except Exception as cause:  # the thread and its callers must survive any error
            self._undo()
            changed = {*self._stages, *self._published}
            self._verified.intersection_update(before.difference(changed))
            return failed(batch, f"the tapes' folder refused the write ({cause}): try again", cause)
        self._verified.update(self._stages)
        return results

    def _erased(self, job: Job) -> Result:
        """Replace a tape's file by one with less in it, and let the index follow."""
        (step,) = job.unit.steps
        assert isinstance(step, Erase)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._erase(step)
        except Exception as cause:  # the thread and its callers must survive any error
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._verified.discard(step.tape)
            if isinstance(cause, TapeError):
                return job, cause
            return failed([job], f"the tapes' folder refused the write ({cause})", cause)[0]
        return job, [Outcome(changed=len(step.entries))]

    def _erase(self, step: Erase) -> None:
        path, number = self._folder.file_of(step.tape), self._index.make(step.tape)
        rows = [
            row
            for entry in step.entries
            for row in self._index.run("block", tape=number, first=entry.id, last=entry.id)
        ]
        check_left(step.tape, _read(path, rows), step.entries)
        copy, places, end = rewrite(path, {entry.id: entry for entry in step.entries})
        self._index.erase(number, step.entries, places)
        self._index.set_checkpoint(number, end)
        with self._folder.rewriting:
            copy.replace(path)
            sync_folder(self._folder.path)
            self._connection.execute("COMMIT")
        for torn in self._folder.path.glob(f"{glob.escape(path.name)}.cut-*"):
            torn.unlink()  # what a crash cut off may have the same words

    def close(self) -> None:
        self._connection.close()

    def verify_all(self) -> None:
        """Update the index from files whose size it does not know, and drop missing files."""
        sizes = self._folder.sizes()
        for tape in [name for name in sizes if name.startswith(STAGING)]:
            self._folder.file_of(tape).unlink()  # an import that a crash cut off
            del sizes[tape]
        for left in self._folder.path.glob(f"*{SUFFIX}"):
            left.unlink()  # an erasure that a crash cut off
        with self._connection:
            marks = dict(self._index.run("marks"))
            for tape in marks.keys() - sizes.keys():
                number = self._index.make(tape)
                self._index.forget(number)
                self._index.run("forget_tape", tape=number)
            for tape, size in sizes.items():
                if marks.get(tape) != size:
                    # A damaged file raises an error when its tape is first used; other tapes work.
                    with contextlib.suppress(TapeError, OSError, apsw.Error), self._connection:
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
            elif isinstance(step, Copy):
                outcome = self._copy(step)
            elif isinstance(step, Publish):
                outcome = self._publish(step)
            elif isinstance(step, Drop):
                outcome = self._drop(step)
            elif isinstance(step, Run):
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
        batch = with_bootstrap(
            step.entries,
            empty=stage.newest == 0,
            anchored=lambda: bool(self._index.run("anchored", tape=stage.number)),
        )
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
        check(step.entries, imported=True)
        dump(step.tape)
        stage = self._stages.get(step.tape) or self._stage(step.tape)
        if stage.newest != step.after:
            raise TapeMismatch(step.tape, step.after, stage.newest)
        entries = numbered(step.entries, stage.newest, utc_iso(self._now()))
        lines, digest = seal(entries, Block(len(entries)), stage.checkpoint.sum)
        self._note(stage, entries, lines, digest)
        self._stages[step.tape] = stage
        return Outcome(changed=len(entries))

    def _copy(self, step: Copy) -> Outcome:
        """Index the next entries of the copy of a tape's file."""
        source = self._unchanged(step.tape, step.after)
        tape = self._index.make(step.staging)
        if not step.copied:
            copy = self._folder.file_of(step.staging)
            if copy.stat().st_size < source.start:
                raise StoreUnavailable(f"{source.path} is shorter than it was: restart Tapeway")
            os.truncate(copy, source.start)  # what follows was never acknowledged
            self._index.run("copy_late", tape=tape, old=source.number)
            self._index.set_checkpoint(tape, source.checkpoint)
            self._verified.add(step.staging)
        rows = self._index.run("copy_entries", **copied_rows(step, tape, source.number))
        return Outcome(changed=len(rows))

    def _unchanged(self, tape: str, after: int) -> _Stage:
        """Return the end of a tape with `after` entries in its file; else raise TapeMismatch."""
        stage = self._stages.get(tape) or self._stage(tape)
        if stage.newest != after or stage.lines:
            raise TapeMismatch(tape, after, stage.newest)
        return stage

    def _publish(self, step: Publish) -> Outcome:
        """Replace the tape's file with its staging tape's, which begins with the same bytes.

        So the old index is valid for both files, and truncating the new one undoes this.
        """
        replaced = self._unchanged(step.tape, step.after)
        self._stages.pop(step.tape, None)
        old, tape = replaced.number, self._index.make(step.staging)
        self._index.run("take_keys", tape=tape, old=old)
        self._index.run("rename", tape=old, name=f"{step.staging}{OLD}")
        self._index.run("rename", tape=tape, name=step.tape)
        self._published[step.tape] = replaced.start
        self._folder.file_of(step.staging).replace(self._folder.file_of(step.tape))
        sync_folder(self._folder.path)
        self._verified.discard(step.staging)
        self._verified.add(step.tape)
        return Outcome()

    def _drop(self, step: Drop) -> Outcome:
        tape = self._index.make(step.staging)
        dropped = len(self._index.run("drop_entries", tape=tape, most=step.most))
        if not dropped:
            self._index.forget(tape)
            self._index.run("forget_tape", tape=tape)
            self._folder.file_of(step.staging).unlink(missing_ok=True)
        self._verified.discard(step.staging)
        return Outcome(changed=dropped)

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
            if note := self._index.read(path, self._index.make(tape)):
                self._folder.notes.append(note)
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
        return tuple(_read(stage.path, rows))

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
                sync_folder(self._folder.path)
        for stage in self._stages.values():
            self._index.set_checkpoint(stage.number, stage.checkpoint)

    def _undo(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        for stage in self._stages.values():
            with contextlib.suppress(OSError):
                os.truncate(stage.path, stage.start)
        for tape, size in self._published.items():
            with contextlib.suppress(OSError):
                os.truncate(self._folder.file_of(tape), size)


def _is_erase(unit: Unit) -> bool:
    return any(isinstance(step, Erase) for step in unit.steps)


def _read(path: Path, rows: Sequence[tuple[int, ...]]) -> list[Entry]:
    """Return the entries of a file at these places."""
    if not rows:
        return []
    with path.open("rb") as file:
        read = (os.pread(file.fileno(), size, at) for _id, at, size in rows)
        return [unseal(line).entry for line in read]


def _open(stage: _Stage) -> int:
    file = open_private(stage.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    if os.fstat(file).st_size != stage.start:
        os.close(file)
        raise OSError(errno.EBUSY, "another program wrote to it", str(stage.path))
    return file


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]
