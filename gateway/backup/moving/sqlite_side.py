"""A database of SQLite that is moved from or to, and tapes in files beside their ledger."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import anyio
import apsw

from gateway.backup.manifest import BackupError, known_schemas
from gateway.backup.moving.side import DROP_STEPS, MAKE_STEPS
from gateway.backup.moving.tables import ENTRY, Cells, MovedTable
from gateway.storage.ledger.ledger import ledger_schema
from tape.database import relocation as marks
from tape.database.connection import APPLICATION_ID, Database, is_bare
from tape.database.relocation import MARKED_ID, TARGET, Relocation
from tape.database.staging import STAGING
from tape.entry import dump
from tape.search.index_file import IndexFile
from tape.stores.jsonl.folder import INDEX
from tape.stores.jsonl.line import unseal
from tape.stores.jsonl.store import FileStore
from tape.stores.sqlite import tape_schema

_ADD_ENTRY: Final = "INSERT INTO entry (pos, {names}) VALUES (?1 * 4294967296 + ?2, {values})"
_SAME_AS: Final = "SELECT same_as FROM workspace WHERE path = ?"
_NAME: Final = "INSERT OR REPLACE INTO workspace (path, same_as) VALUES (?, ?)"
_STAGED: Final = f"SELECT tape FROM tape WHERE name LIKE '{STAGING}%'"  # noqa: S608


class SqliteSide:
    """Tapes and ledger in one file; raises BackupError unless they are of this version."""

    def __init__(self, path: Path) -> None:
        self.place = str(path)
        if not path.exists():
            raise BackupError(
                f"there is no database at {path}: TAPEWAY_TAPE__URL names what is moved"
            )
        self._ledger = apsw.Connection(str(path))
        self._tapes = self._ledger
        self._require_current(path)

    @classmethod
    def make(cls, path: Path) -> SqliteSide:
        """Open a database, which is made if it is missing."""
        if not path.exists() or _is_bare(path):
            Database.open(path, (tape_schema(), ledger_schema()))
            IndexFile(path).drop()  # of a database that had this name
        return cls(path)

    def require_alone(self) -> None:
        """Do nothing: the locks of the home and of the file keep others out."""

    def marks(self) -> list[Relocation]:
        if "relocation" not in self._names():
            return []
        return [Relocation(*row) for row in self._ledger.execute(marks.FIND)]

    def mark(self, relocation: Relocation) -> None:
        one = relocation
        with self._ledger:
            self._ledger.execute(marks.MAKE)
            self._ledger.execute(
                "INSERT INTO relocation VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (token) DO UPDATE SET ended_at = excluded.ended_at",
                (one.token, one.role, one.place, one.begun_at, one.ended_at),
            )
            if one.role == TARGET:
                self._ledger.execute(DROP_STEPS if one.ended_at else MAKE_STEPS)
            self._ledger.pragma("application_id", MARKED_ID if one.bars else APPLICATION_ID)

    def unmark(self, relocation: Relocation) -> None:
        with self._ledger:
            self._ledger.execute("DELETE FROM relocation WHERE token = ?", (relocation.token,))
            self._ledger.pragma("application_id", APPLICATION_ID)

    def count(self, table: MovedTable) -> int:
        return int(self._of(table).execute(f"SELECT count(*) FROM {table.name}").get)  # noqa: S608

    def rows(self, table: MovedTable, after: Sequence[Any] = ()) -> Iterator[Cells]:
        sql = f"SELECT {self._selected(table)} FROM {table.name} WHERE true"  # noqa: S608
        if table.of_tapes:
            sql += f" AND tape NOT IN ({_STAGED})"
        if table.name == ENTRY:
            sql += " AND pos > ? * 4294967296 + ?" if after else ""
            sql += " ORDER BY pos"
        else:
            key, places = ", ".join(table.key), ", ".join("?" * len(after))
            sql += f" AND ({key}) > ({places})" if after else ""
            sql += f" ORDER BY {key}"
        return iter(self._of(table).execute(sql, tuple(after)))

    def step(self, table: MovedTable) -> str:
        found = self._ledger.execute(
            "SELECT step FROM relocation_step WHERE name = ?", (table.name,)
        ).get
        return str(found or "")

    def write(self, table: MovedTable, rows: Sequence[Cells], step: str) -> None:
        names, values = ", ".join(table.columns), ", ".join("?" * len(table.columns))
        sql = f"INSERT INTO {table.name} ({names}) VALUES ({values})"  # noqa: S608
        if table.name == ENTRY:
            numbered = ", ".join(f"?{n}" for n in range(1, len(table.columns) + 1))
            sql = _ADD_ENTRY.format(names=names, values=numbered)
        with self._ledger:
            self._ledger.executemany(sql, rows)
            self._ledger.execute(
                "INSERT OR REPLACE INTO relocation_step VALUES (?, ?)", (table.name, step)
            )

    def settle(self) -> None:
        """Do nothing: nothing is derived, and the next id is the newest plus one."""

    def workspace(self, own: str) -> str:
        return str(self._ledger.execute(_SAME_AS, (own,)).get or own)

    def finish(self, relocation: Relocation, own: str, workspace: str) -> None:
        with self._ledger:
            if workspace != own:
                self._ledger.execute(_NAME, (own, workspace))
            self.mark(relocation)

    def close(self) -> None:
        self._ledger.close()

    def _of(self, table: MovedTable) -> apsw.Connection:
        return self._tapes if table.of_tapes else self._ledger

    def _selected(self, table: MovedTable) -> str:
        return ", ".join(table.columns)

    def _names(self) -> set[str]:
        return {str(row[0]) for row in self._ledger.execute("SELECT name FROM sqlite_schema")}

    def _require_current(self, path: Path) -> None:
        """Raise BackupError unless the tables are of this version."""
        try:
            if self._ledger.pragma("application_id") not in (APPLICATION_ID, MARKED_ID):
                raise BackupError(f"{path} is a database of another program")
            sql = "SELECT coalesce(max(version), 0) FROM migration WHERE name = ?"
            for name, known in known_schemas().items():
                found = int(self._ledger.execute(sql, (name,)).get)
                if found != known:
                    raise BackupError(
                        f"{path} has tables of another version ({name} {found}, this Tapeway has"
                        f" {known}): run `tapeway migrate --apply` first"
                    )
        except (apsw.Error, BackupError) as cause:
            self.close()
            if isinstance(cause, BackupError):
                raise
            raise BackupError(f"{path} cannot be read ({cause}): check the disk") from cause


class FileSide(SqliteSide):
    """Tapes in files, and their ledger; only moved from. It holds the folder's lock."""

    def __init__(self, folder: Path, ledger: Path) -> None:
        super().__init__(ledger)
        self.place = str(folder)
        try:
            self._store = anyio.run(_verified, folder)
            self._tapes = apsw.Connection(str(folder / INDEX), flags=apsw.SQLITE_OPEN_READONLY)
        except BaseException:
            super().close()
            raise

    def rows(self, table: MovedTable, after: Sequence[Any] = ()) -> Iterator[Cells]:
        rows = super().rows(table, after)
        return self._with_content(rows, table) if table.name == ENTRY else rows

    def close(self) -> None:
        self._tapes.close()
        anyio.run(self._store.close)
        super().close()

    def _selected(self, table: MovedTable) -> str:
        names = super()._selected(table)
        # The index has where the line stands in place of what it says.
        return names.replace("payload, meta", "place, size") if table.name == ENTRY else names

    def _with_content(self, rows: Iterator[Cells], table: MovedTable) -> Iterator[Cells]:
        names = dict(self._tapes.execute("SELECT tape, name FROM tape"))
        content = table.columns.index("payload")
        for tape, own in itertools.groupby(rows, key=itemgetter(0)):
            with self._store.folder.file_of(names[tape]).open("rb") as file:
                for row in own:
                    place, size = row[content : content + 2]
                    entry = unseal(os.pread(file.fileno(), size, place)).entry
                    texts = dump(entry.payload), dump(entry.meta)
                    yield (*row[:content], *texts, *row[content + 2 :])


def _is_bare(path: Path) -> bool:
    try:
        with closing(apsw.Connection(str(path))) as connection:
            return is_bare(connection)
    except apsw.Error as cause:
        raise BackupError(f"{path} cannot be read ({cause}): name another file") from cause


async def _verified(folder: Path) -> FileStore:
    """Open the tapes of a folder, and verify every file; raises TapeError."""
    store = FileStore.open(folder)
    try:
        for info in await store.tapes():
            await store.size(info.name)
    except BaseException:
        await store.close()
        raise
    return store
