"""A database of PostgreSQL that is moved from or to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from psycopg import sql

from channels.backoff import Backoff
from gateway.backup.manifest import BackupError
from gateway.backup.moving.handover import SHARED, hand_over
from gateway.backup.moving.side import DROP_STEPS, MAKE_STEPS
from gateway.backup.moving.tables import ENTRY, Cells, MovedTable, moved_tables
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from gateway.wording import counted
from tape.database import relocation as marks
from tape.database.relocation import TARGET, Relocation
from tape.entry import EVENT, Entry, load
from tape.query import MESSAGE_CHANGES, subject_of
from tape.stores.postgres.binding import NUL, NUL_SHOWN
from tape.stores.postgres.database import checked_connection, place_of, relocations, translated
from tape.stores.postgres.store import search_schema, tape_schema

AT_ONCE: Final = 2_000  # rows that are asked for together
PATIENCE: Final = 6  # times to look again whether others still use a database

_ABOUT: Final = "about"
_FROM: Final = {"workspace": "(SELECT * FROM {} WHERE path <> '') AS own"}  # without SHARED
_SIZES: Final = """
UPDATE tape SET size = newest.id, dated = last.date, last = last.id
FROM tape AS t
CROSS JOIN LATERAL (
    SELECT id, late FROM entry WHERE entry.tape = t.tape ORDER BY id DESC LIMIT 1
) AS newest
JOIN entry AS last ON last.tape = t.tape AND last.id = coalesce(newest.late, newest.id)
WHERE tape.tape = t.tape"""
_MOVING: Final = 0x5450574D  # "TPWM"
_LOCK: Final = "SELECT pg_try_advisory_lock(%s)"
_OTHERS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'tapeway'"""
_READERS: Final = """
SELECT DISTINCT rolname FROM pg_class
CROSS JOIN LATERAL aclexplode(relacl) AS granted
JOIN pg_roles ON pg_roles.oid = granted.grantee
WHERE pg_class.oid = to_regclass('migration') AND granted.privilege_type = 'SELECT'"""
_ASKED: Final = "SELECT count(*) FROM control WHERE answer IS NULL"
_IDENTITIES: Final = """
SELECT c.table_name, c.column_name FROM information_schema.columns AS c
WHERE c.table_schema = current_schema() AND c.is_identity = 'YES' AND c.table_name = ANY(%s)"""
_NEXT: Final = """
SELECT setval(pg_get_serial_sequence({text}, {column_text}), coalesce(max({column}), 1),
              max({column}) IS NOT NULL) FROM {table}"""


class PostgresSide:
    """Tapes and ledger in one database, which nobody else uses."""

    def __init__(self, url: str) -> None:
        schemas = (tape_schema(), search_schema(), ledger_schema("postgres"), sharing_schema())
        self.place = place_of(url)
        self.connection = checked_connection(url, schemas, moving=True)
        try:
            self.require_alone()
        except BaseException:
            self.close()
            raise

    def marks(self) -> list[Relocation]:
        with translated():
            return relocations(self.connection)

    def mark(self, relocation: Relocation) -> None:
        one = relocation
        with translated(), self.connection.transaction():
            self.connection.execute(marks.MAKE)
            self.connection.execute(
                "INSERT INTO relocation VALUES (%s, %s, %s, %s, %s)"
                " ON CONFLICT (token) DO UPDATE SET ended_at = excluded.ended_at",
                (one.token, one.role, one.place, one.begun_at, one.ended_at),
            )
            for (role,) in self.connection.execute(_READERS).fetchall():
                granted = sql.SQL("GRANT SELECT ON relocation TO {}").format(sql.Identifier(role))
                self.connection.execute(granted)
            if one.role == TARGET:
                self.connection.execute(DROP_STEPS if one.ended_at else MAKE_STEPS)

    def unmark(self, relocation: Relocation) -> None:
        with translated():
            self.connection.execute("DELETE FROM relocation WHERE token = %s", (relocation.token,))

    def count(self, table: MovedTable) -> int:
        asked = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table.name))
        with translated():
            row = self.connection.execute(asked).fetchone()
        return int(row[0]) if row else 0

    def rows(self, table: MovedTable, after: Sequence[Any] = ()) -> Iterator[Cells]:
        key = _names(table.key)
        asked = sql.SQL("SELECT {} FROM {} {} ORDER BY {}").format(
            _names(table.columns),
            sql.SQL(_FROM.get(table.name, "{}")).format(sql.Identifier(table.name)),
            sql.SQL("WHERE ({}) > ({})").format(
                key, sql.SQL(", ").join([sql.Placeholder()] * len(after))
            )
            if after
            else sql.SQL(""),
            key,
        )
        with (
            translated(),
            self.connection.transaction(),
            self.connection.cursor(name="moved") as cursor,
        ):
            cursor.itersize = AT_ONCE
            yield from cursor.execute(asked, after or None)

    def step(self, table: MovedTable) -> str:
        found = "SELECT step FROM relocation_step WHERE name = %s"
        with translated():
            row = self.connection.execute(found, (table.name,)).fetchone()
        return str(row[0]) if row else ""

    def write(self, table: MovedTable, rows: Sequence[Cells], step: str) -> None:
        columns = [*table.columns, _ABOUT] if table.name == ENTRY else table.columns
        copy = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(table.name), _names(columns)
        )
        with translated(), self.connection.transaction():
            if rows:
                with self.connection.cursor() as cursor, cursor.copy(copy) as copied:
                    for row in rows:
                        copied.write_row(_storable(row, table))
            self.connection.execute(
                "INSERT INTO relocation_step VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET step = excluded.step",
                (table.name, step),
            )

    def settle(self) -> None:
        """Set what the tapes' rows say of their entries, and the next ids."""
        with translated(), self.connection.transaction():
            self.connection.execute(_SIZES)
            tables = [table.name for table in moved_tables()]
            for name, column in self.connection.execute(_IDENTITIES, (tables,)).fetchall():
                if any(column in table.columns for table in moved_tables() if table.name == name):
                    self.connection.execute(
                        sql.SQL(_NEXT).format(
                            text=sql.Literal(name),
                            column_text=sql.Literal(column),
                            column=sql.Identifier(column),
                            table=sql.Identifier(name),
                        )
                    )
        with translated():
            self.connection.execute("ANALYZE")

    def require_alone(self) -> None:
        tries = Backoff(0.1, 1.0)  # the server needs a moment to notice that one was killed
        while True:
            with translated():
                self.connection.execute("SET application_name = 'tapeway migrate'")
                (moving,) = self.connection.execute(_LOCK, (_MOVING,)).fetchone() or (False,)
                (others,) = self.connection.execute(_OTHERS).fetchone() or (0,)
            if moving and not others:
                return
            if tries.tries == PATIENCE:
                what = f"a gateway uses {self.place}" if others else f"{self.place} is being moved"
                raise BackupError(f"{what}: stop every process there first; nothing was changed")
            time.sleep(tries.next())

    def require_nothing_asked(self) -> None:
        """Raise BackupError if processes have asked each other for what is not done yet."""
        with translated():
            (left,) = self.connection.execute(_ASKED).fetchone() or (0,)
        if left:
            raise BackupError(
                f"{counted(left, 'request')} to chats, such as a stop, stands open at {self.place}:"
                " start a gateway there once, stop it again, and run this again"
            )

    def workspace(self, own: str) -> str:
        asked = "SELECT same_as FROM workspace WHERE path IN (%s, %s) ORDER BY path LIMIT 1"
        with translated():
            row = self.connection.execute(asked, (SHARED, own)).fetchone()
        return str(row[0]) if row else own

    def finish(self, relocation: Relocation, own: str, workspace: str) -> None:
        del own
        with translated(), self.connection.transaction():
            hand_over(self.connection, workspace)
            self.mark(relocation)

    def close(self) -> None:
        self.connection.close()


def _names(names: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _storable(row: Cells, table: MovedTable) -> Cells:
    if table.name == ENTRY:
        row = (*row, _about(dict(zip(table.columns, row, strict=True))))
    if any(isinstance(cell, str) and NUL in cell for cell in row):
        return tuple(c.replace(NUL, NUL_SHOWN) if isinstance(c, str) else c for c in row)
    return row


def _about(entry: dict[str, Any]) -> float | None:
    if entry["kind"] != EVENT or entry["name"] not in MESSAGE_CHANGES:
        return None
    return subject_of(Entry(entry["id"], EVENT, load(entry["payload"]), {}, entry["date"]))
