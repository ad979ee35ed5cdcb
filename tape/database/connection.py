"""Check, migrate and open the SQLite databases that hold tapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import apsw

from tape.database import relocation
from tape.database.query_compiler import compose
from tape.database.relocation import MARKED_ID, Relocation, refuse_moved
from tape.database.schema import Schema, own_version
from tape.entry import Entry, entry_text, load
from tape.errors import QueryRefused, StoreTooNew, StoreUnavailable, StoreUnusable, UnitFailed
from tape.private_file import make_private
from tape.query import Query, fold, located
from tape.store import STORE_LIMITS, TapeInfo
from tape.unit_of_work import Outcome, Row, Run, resolve

APPLICATION_ID: Final = 0x54505759  # "TPWY"
MIN_SQLITE: Final = (3, 51, 3)  # in older versions, resetting the log can corrupt a database
BUSY_SECONDS: Final = STORE_LIMITS.busy_seconds
"""Maximum wait for another connection that holds the file."""

STEPS: Final = 2000
"""Steps of SQLite's machine, some microseconds each at most, between two looks at the clock."""

MAX_CHECKED_BYTES: Final = 128 * 1024 * 1024
"""Maximum size of a file that is checked in full when opened, which takes about a second."""


@dataclass(frozen=True, slots=True)
class Database:
    """A checked and migrated database file, which opens connections."""

    path: Path
    statements: Mapping[str, str]
    busy_seconds: float = BUSY_SECONDS

    @classmethod
    def open(
        cls, path: Path, schemas: Sequence[Schema], busy_seconds: float = BUSY_SECONDS
    ) -> Database:
        """Check a file before changing it, then apply the migrations of `schemas`.

        Raises StoreUnusable, StoreTooNew, or StoreUnavailable.
        """
        _check_library()
        try:
            if path.exists() and path.stat().st_size:
                _check_before_touching(path, schemas, busy_seconds)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            make_private(path)
            statements = {name: sql for s in schemas for name, sql in s.statements.items()}
            database = cls(path, statements, busy_seconds)
            with closing(database.writer()) as connection:
                migrate(connection, schemas)
        except (apsw.NotADBError, apsw.CorruptError) as cause:
            raise StoreUnusable(
                f"{path} is not an intact tape database ({cause}): restore a backup, or move it"
                " away to start with an empty one; nothing was changed"
            ) from cause
        except (apsw.Error, OSError) as cause:
            raise StoreUnavailable(
                f"{path} cannot be opened ({cause}): check the disk and the permissions of the"
                " folder, or name another file in TAPEWAY_TAPE__URL"
            ) from cause
        return database

    @classmethod
    def open_read_only(
        cls, path: Path, schemas: Sequence[Schema], busy_seconds: float = BUSY_SECONDS
    ) -> Reader:
        """Open a file read-only, even while another process uses it.

        Raises StoreTooNew, StoreUnusable or StoreUnavailable. StoreUnavailable also means that
        the tables are too old for the statements: only `open` migrates them.
        """
        statements = {name: sql for s in schemas for name, sql in s.statements.items()}
        try:
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            wait_for_others(connection, busy_seconds)
            _check_kind(connection, path, schemas)
            if any(_applied(connection, s.name) < s.version for s in schemas):
                connection.close()
                raise StoreUnavailable(
                    f"{path} was written by an older version: start the gateway once to migrate it"
                )
        except (apsw.Error, OSError) as cause:
            raise StoreUnavailable(
                f"{path} cannot be read ({cause}): check that it exists, and its permissions"
            ) from cause
        return Reader(connection, statements)

    def writer(self) -> apsw.Connection:
        """Open a read-write connection, only for the writer thread."""
        connection = apsw.Connection(str(self.path))
        wait_for_others(connection, self.busy_seconds)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("foreign_keys", True)
        connection.pragma("secure_delete", True)
        return connection

    def reader(self) -> Reader:
        """Open a reader, which only the thread that opened it may use."""
        return Reader(self.read_connection(), self.statements)

    def read_connection(self) -> apsw.Connection:
        """Open a read-only connection, which only the thread that opened it may use."""
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        wait_for_others(connection, self.busy_seconds)
        return connection


def wait_for_others(connection: apsw.Connection, seconds: float = BUSY_SECONDS) -> None:
    """Have a connection wait at most some seconds for another one that holds the file."""
    connection.set_busy_timeout(round(seconds * 1000))


def migrate(connection: apsw.Connection, schemas: Sequence[Schema]) -> None:
    """Apply all missing migrations in one transaction."""
    with connection:
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migration"
            " (name TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (name, version)) STRICT"
        )
        if not _names_writer(connection):
            connection.execute("ALTER TABLE migration ADD COLUMN written_by TEXT")
        own = own_version()
        for schema in schemas:
            applied = _applied(connection, schema.name)
            for number, sql in enumerate(schema.migrations, start=1):
                if number > applied:
                    connection.execute(sql)
                    connection.execute(
                        "INSERT INTO migration (name, version, written_by) VALUES (?, ?, ?)",
                        (schema.name, number, own),
                    )


def _applied(connection: apsw.Connection, schema: str) -> int:
    value = connection.execute(
        "SELECT coalesce(max(version), 0) FROM migration WHERE name = ?", (schema,)
    ).get
    return int(value)


def _names_writer(connection: apsw.Connection) -> bool:
    return any(row[1] == "written_by" for row in connection.execute("PRAGMA table_info(migration)"))


def _writer(connection: apsw.Connection, schema: str) -> str:
    """Return which version of Tapeway applied the newest migration, or "" if that is unknown."""
    if not _names_writer(connection):
        return ""
    newest = "SELECT written_by FROM migration WHERE name = ? ORDER BY version DESC LIMIT 1"
    return str(connection.execute(newest, (schema,)).get or "")


def _check_library() -> None:
    found = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if found < MIN_SQLITE:
        oldest = ".".join(map(str, MIN_SQLITE))
        raise StoreUnusable(
            f"SQLite {apsw.sqlite_lib_version()} can corrupt a database: install the apsw wheel"
            f" that requirements.txt pins, with SQLite {oldest} or newer"
        )


def _check_before_touching(path: Path, schemas: Sequence[Schema], busy_seconds: float) -> None:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        # After a kill, the first connection recovers the log: wait if another process is doing so.
        wait_for_others(connection, busy_seconds)
        if is_bare(connection):
            return
        _check_kind(connection, path, schemas)
        if path.stat().st_size <= MAX_CHECKED_BYTES:
            verdict = connection.execute("PRAGMA quick_check(1)").get
            if verdict != "ok":
                raise apsw.CorruptError(str(verdict).replace("\n", " "))


def _check_kind(connection: apsw.Connection, path: Path, schemas: Sequence[Schema]) -> None:
    """Raise StoreUnusable for another program's database, StoreTooNew for a newer version's."""
    refuse_foreign(connection, path)
    for schema in schemas:
        found = _applied(connection, schema.name)
        if found > schema.version:
            raise StoreTooNew(
                path, schema.name, found, schema.version, _writer(connection, schema.name)
            )


def refuse_foreign(connection: apsw.Connection, path: Path) -> None:
    """Raise StoreUnusable for another program's database, StoreMoved for one that was moved."""
    kind = connection.pragma("application_id")
    if kind == MARKED_ID:
        refuse_moved(path, (Relocation(*row) for row in connection.execute(relocation.FIND)))
    if kind not in (APPLICATION_ID, MARKED_ID):
        raise StoreUnusable(
            f"{path} is a database of another program: name another file in TAPEWAY_TAPE__URL;"
            " nothing was changed"
        )


def is_bare(connection: apsw.Connection) -> bool:
    """Return whether a database is empty, as a kill leaves one that is just being made."""
    made = connection.pragma("application_id")
    return not made and not connection.execute("SELECT count(*) FROM sqlite_schema").get


class Reader:
    """A read-only connection that answers a store's queries."""

    def __init__(self, connection: apsw.Connection, statements: Mapping[str, str]) -> None:
        self._connection = connection
        self._sql = statements
        connection.create_scalar_function("entry_says", _entry_says, 3, deterministic=True)

    def query(self, query: Query) -> list[Entry]:
        query = located(query, self.query)
        tape = self._tape(query.tape)
        if tape is None or query.is_empty:
            return []
        if query.since is not None or query.until is not None:
            query = self._between_dates(tape, query)
        sql, values = compose(query, self._sql)
        # Each row is read as it comes: whoever ends what is late ends that, too.
        entries = self._fetch(sql, {"tape": tape, **values}, self._read)
        return entries[::-1] if query.newest else entries

    def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        try:
            return rows_of(self._connection.execute(self._sql[statement], values))
        except apsw.Error as cause:
            raise StoreUnavailable(f"the database cannot be read ({cause}): try again") from cause

    def tapes(self, prefix: str) -> list[TapeInfo]:
        rows = self._fetch(self._sql["tape.tapes"], {"prefix": prefix})
        return [TapeInfo(name, size, last or "") for name, size, last in rows]

    def size(self, tape: str) -> int:
        number = self._tape(tape)
        if number is None:
            return 0
        return int(self._fetch(self._sql["tape.newest_id"], {"tape": number})[0][0])

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Answer what is asked inside as of one moment, and quicker: SQLite locks once."""
        self._fetch("BEGIN", {})
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._fetch("ROLLBACK", {})

    def close(self) -> None:
        self._connection.close()

    def _read(self, row: Sequence[Any]) -> Entry:
        return read_entry(row)

    def _tape(self, name: str) -> int | None:
        rows = self._fetch(self._sql["tape.find_tape"], {"name": name})
        return rows[0][0] if rows else None

    def _fetch(
        self, sql: str, values: Mapping[str, Any], read: Callable[[Any], Any] = tuple
    ) -> list[Any]:
        try:
            with closing(self._connection.execute(sql, values)) as rows:
                return [read(row) for row in rows]
        except (UnicodeEncodeError, OverflowError) as cause:
            raise QueryRefused(
                f"the query holds a value that no entry can have ({cause}): remove it"
            ) from cause
        except apsw.Error as cause:
            raise StoreUnavailable(f"the database cannot be read ({cause}): try again") from cause

    def _between_dates(self, tape: int, query: Query) -> Query:
        """Narrow a query's range of ids by its dates, so that fewer entries are scanned."""
        after, before = query.after, query.before
        if query.since is not None:
            after = max(after, self._last_before(tape, query.since))
        if query.until is not None:
            last = self._last_before(tape, query.until)
            late = self._fetch(self._sql["tape.last_late"], {"tape": tape, "date": query.until})
            behind = max(last, late[0][0] or 0) + 1
            before = behind if before is None else min(before, behind)
        return replace(query, after=after, before=before)

    def _last_before(self, tape: int, date: str) -> int:
        """Return the id of the last entry in date order before a date, or 0, by binary search."""
        sql = self._sql["tape.dated"]
        low, high = 0, int(self._fetch(self._sql["tape.newest_id"], {"tape": tape})[0][0])
        while low < high:
            middle = (low + high + 1) // 2
            found = self._fetch(sql, {"tape": tape, "id": middle})
            if found and found[0][1] >= date:
                high = found[0][0] - 1
            else:
                low = middle
        found = self._fetch(sql, {"tape": tape, "id": low})
        return found[0][0] if found else 0


def end_late(connection: apsw.Connection, is_late: Callable[[], bool]) -> apsw.Connection:
    """Have what runs on a connection end with apsw.InterruptError once it is late."""

    def look(_cursor: apsw.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        if is_late():
            raise apsw.InterruptError("the read is late")
        return row

    connection.set_progress_handler(is_late, STEPS)
    # SQLite counts steps, but looks only where it jumps: it may miss a statement of many rows.
    connection.row_trace = look
    return connection


def rows_of(cursor: apsw.Cursor) -> list[Row]:
    """Return all rows of a statement, which then has ended; each maps column names to values.

    One that broke off would hold the connection at its moment of the file for as long as somebody
    keeps the error, whose traceback has the cursor.
    """
    rows: list[Row] = []
    names: tuple[str, ...] | None = None
    with closing(cursor):
        for row in cursor:
            if names is None:
                names = tuple(column[0] for column in cursor.get_description())
            rows.append(dict(zip(names, row, strict=True)))
    return rows


def run_step(
    connection: apsw.Connection, sql: Mapping[str, str], step: Run, outcomes: Sequence[Outcome]
) -> Outcome:
    """Run a step's statement; raises UnitFailed if it changed the wrong number of rows."""
    before = connection.total_changes()
    values = resolve(step.values, outcomes) if outcomes else step.values
    rows = tuple(rows_of(connection.execute(sql[step.statement], values)))
    changed = connection.total_changes() - before
    if step.expect is not None and changed != step.expect:
        raise UnitFailed(step.statement, step.expect, changed)
    return Outcome(rows=rows, changed=changed)


def read_entry(row: Sequence[Any]) -> Entry:
    """Make an entry from a row with id, kind, payload, meta and date."""
    return Entry(row[0], row[1], load(row[2]), load(row[3]), row[4])


def _entry_says(*values: object) -> bool:
    kind, payload, folded = (str(value) for value in values)
    return folded in fold(entry_text(kind, load(payload)))
