"""The index of a folder of tapes, with each entry's position and the columns for queries.

The index is a database next to the files, and may be deleted at any time. It is trusted up to the
point where the file's own sums agree; the rest of the file is read again.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from tape.database.connection import Database
from tape.database.group_commit import COLUMNS, late_entries, meta_columns
from tape.database.schema import Schema, read_schema
from tape.entry import Entry
from tape.errors import StoreTooNew, StoreUnusable
from tape.query import subject_of
from tape.stores.jsonl.check import Check, Checkpoint, FileReplaced
from tape.stores.jsonl.folder import copy_end
from tape.stores.jsonl.rewriting import Place
from tape.stores.sqlite import tape_schema


@functools.cache
def index_schema() -> Schema:
    """Return the tables of the index, which shares statements with the SQLite store."""
    own = read_schema("tape", "tape", "file")
    return Schema("file", own.migrations, {**tape_schema().statements, **own.statements})


def open_index(path: Path) -> Database:
    """Open the index; an unusable index is deleted and created again."""
    try:
        return Database.open(path, [index_schema()])
    except (StoreUnusable, StoreTooNew):
        for suffix in ("", "-wal", "-shm"):
            path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
        return Database.open(path, [index_schema()])


class FileIndex:
    """The index, in the writer's thread; every method runs in the caller's transaction."""

    def __init__(self, connection: apsw.Connection, statements: Mapping[str, str]) -> None:
        self._connection = connection
        self._sql = statements

    def make(self, tape: str) -> int:
        """Return a tape's number, which is new if the tape has none."""
        rows = self.run("find_tape", name=tape) or self.run("make_tape", name=tape)
        return int(rows[0][0])

    def checkpoint(self, number: int) -> Checkpoint:
        ((size, digest),) = self.run("mark", tape=number)
        return Checkpoint(size, digest)

    def read(self, path: Path, number: int) -> str:
        """Index a file's new entries and cut an unfinished end; raises StoreUnusable if damaged.

        Returns a sentence about what was cut off, or "".
        """
        try:
            check = self._note(path, number, self.checkpoint(number))
        except (FileReplaced, apsw.ConstraintError):  # or the index has rows beyond its checkpoint
            self.forget(number)
            check = self._note(path, number, Checkpoint())
        end = check.end.size
        torn = path.stat().st_size - end
        if torn <= 0:
            return ""
        kept = _keep_copy(path, end) if check.has_entries_after_end else None
        os.truncate(path, end)
        where = f", and are kept in {kept.name}" if kept else ""
        return (
            f"{path.name} ended in an unfinished write, as a crash leaves it: its last {torn}"
            f" bytes, which were never acknowledged, were cut off{where}"
        )

    def forget(self, number: int) -> None:
        """Remove every entry and key of a tape from the index."""
        self.run("forget_entries", tape=number)
        self.run("forget_late", tape=number)
        self.run("forget_keys", tape=number)
        self.set_checkpoint(number, Checkpoint())

    def set_checkpoint(self, number: int, checkpoint: Checkpoint) -> None:
        self.run("set_mark", tape=number, bytes=checkpoint.size, sum=checkpoint.sum)

    def newest(self, number: int) -> tuple[str, int]:
        rows = self.run("newest", tape=number)
        return (rows[0][0], rows[0][1]) if rows else ("", 0)

    def add(self, number: int, dated: str, located: Sequence[tuple[Entry, int, int]]) -> None:
        """Add entries, each with its offset and size in the file; `dated` is the latest date."""
        behind = bool(located) and located[0][0].date < dated
        last = self.run("newest", tape=number)[0][2] if behind else 0
        late = late_entries((entry for entry, _at, _size in located), dated, last)
        rows = [
            (
                *(number, entry.id, entry.kind, entry.name),
                *meta_columns(entry),
                _about(entry),
                *(late.get(entry.id), entry.date, at, size),
            )
            for entry, at, size in located
        ]
        self._connection.executemany(self._sql["tape.add_entry"], rows)
        for entry, _at, _size in located:
            if entry.id in late:
                self.run("add_late", tape=number, id=entry.id, date=entry.date)

    def erase(self, number: int, left: Sequence[Entry], places: Sequence[Place]) -> None:
        """Take over what is left of entries, and where every line of the file stands now."""
        for entry in left:
            columns = dict(zip(COLUMNS, meta_columns(entry), strict=True))
            values = {"name": entry.name, "about": _about(entry), **columns}
            self.run("erase_entry", tape=number, id=entry.id, **values)
        rows = ((number, *place) for place in places)
        self._connection.executemany(self._sql["tape.move_entry"], rows)

    def add_key(self, number: int, key: str, entries: Sequence[Entry]) -> None:
        first = entries[0].id if entries else 0
        self.run("add_key", tape=number, key=key, first=first, count=len(entries))

    def run(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(self._sql[f"tape.{statement}"], values))

    def _note(self, path: Path, number: int, known: Checkpoint) -> Check:
        check = Check(path, known)
        dated, _newest = self.newest(number)
        for block in check.blocks():
            self.add(number, dated, [(one.line.entry, one.at, one.size) for one in block])
            dated = max(dated, *(one.line.entry.date for one in block))
            keyed = [one.line for one in block if one.line.key is not None]
            if keyed and keyed[0].key is not None:
                self.add_key(number, keyed[0].key, [line.entry for line in keyed])
        if check.end != known:
            self.set_checkpoint(number, check.end)
        return check


def _keep_copy(path: Path, start: int) -> Path:
    """Copy the end of a file to `<file>.cut-<n>` in the same folder, and sync the copy."""
    numbers = itertools.count(1)
    while (kept := path.with_name(f"{path.name}.cut-{next(numbers)}")).exists():
        pass
    copy_end(path, kept, start)
    return kept


def _about(entry: Entry) -> int | None:
    found = subject_of(entry)
    return int(found) if found is not None and found % 1 == 0 else None
