"""Check, migrate and connect to the PostgreSQL databases that hold tapes."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import conninfo

from tape.database import relocation
from tape.database.relocation import Relocation, refuse_moved
from tape.database.schema import Schema, own_version
from tape.errors import AppendRefused, StoreTooNew, StoreUnavailable, StoreUnusable, TapeError
from tape.store import STORE_LIMITS, StoreLimits
from tape.stores.postgres.binding import driver_sql
from tape.stores.postgres.measures import MEASURES, PostgresMeasures
from tape.stores.postgres.pool import ConnectionPool, ServerConnection
from tape.stores.postgres.server_errors import (
    ON_THE_SERVER,
    first_line,
    is_lasting,
    reason_without_values,
    remedy_of,
)

MIN_SERVER: Final = 150000
CONNECTING: Final[Mapping[str, str]] = {
    "connect_timeout": "5",
    "target_session_attrs": "read-write",
    "application_name": "tapeway",
    "client_encoding": "UTF8",
    "tcp_user_timeout": "15000",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
}
"""What a URL says itself comes first, apart from the name, by which others know whose it is."""

CHECK_URL: Final = (
    "check that the server runs, and user, password and database in TAPEWAY_TAPE__URL"
)
DISK_FULL: Final = "53100"
UNIT_CLASSES: Final = (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError)
"""Errors that concern one unit; others concern the server."""

_MIGRATION_LOCK: Final = 0x54505759  # "TPWY"
_MIGRATIONS: Final = """
CREATE TABLE IF NOT EXISTS migration (
    name TEXT NOT NULL, version BIGINT NOT NULL, written_by TEXT, readable_from BIGINT,
    PRIMARY KEY (name, version)
)"""

_APPLIED: Final = """
SELECT name, max(version), max(coalesce(readable_from, version)),
       coalesce((array_agg(written_by ORDER BY version DESC))[1], '')
FROM migration GROUP BY name"""

_MARKED: Final = "SELECT 1 WHERE to_regclass('relocation') IS NOT NULL"


class Applied(NamedTuple):
    """The tables of a schema in a database: programs older than `readable_from` cannot use them."""

    version: int = 0
    readable_from: int = 0
    written_by: str = ""


NOT_APPLIED: Final = Applied()


class PostgresDatabase:
    """A checked and migrated database, and the pool of this process's connections to it."""

    def __init__(
        self,
        url: str,
        schemas: Sequence[Schema],
        measures: PostgresMeasures = MEASURES,
        *,
        pooled: bool,
        limits: StoreLimits = STORE_LIMITS,
    ) -> None:
        self._schemas = schemas
        self.measures = measures
        self.statements = {n: sql for one in schemas for n, sql in one.statements.items()}
        self.url = url
        self.pooled = pooled
        self.limits = limits
        self._pool = ConnectionPool(url, limits, prepared=not pooled)

    @classmethod
    def open(
        cls,
        url: str,
        schemas: Sequence[Schema],
        measures: PostgresMeasures = MEASURES,
        limits: StoreLimits = STORE_LIMITS,
    ) -> PostgresDatabase:
        """Check a server, and apply the missing migrations of `schemas`.

        Raises StoreUnusable, StoreTooNew, or StoreUnavailable.
        """
        with translated(), checked_connection(url, schemas) as connection:
            pooled = is_pooled(connection)
        target = connection_target(url)
        return cls(target, schemas, measures, pooled=pooled, limits=limits)

    def sql(self, name: str) -> str:
        """Return a named statement as psycopg reads it."""
        return driver_sql(self.statements[name])

    @asynccontextmanager
    async def connection(self, *, patient: bool = False) -> AsyncIterator[ServerConnection]:
        """Borrow a connection; its errors become errors of the store.

        If `patient`, an answer may take as long as it takes.
        """
        with translated():
            async with self._pool.connection(patient=patient) as connection:
                yield connection

    async def refuse_newer(self) -> None:
        """Raise StoreTooNew if a newer version has left tables that this one cannot use.

        Raise StoreMoved if a move has marked the database.
        """
        async with self.connection() as connection:
            rows = await (await connection.execute(_APPLIED)).fetchall()
            marked = await (await connection.execute(_MARKED)).fetchone()
            found = await connection.execute(relocation.FIND) if marked else None
            marks = [Relocation(*row) for row in await found.fetchall()] if found else []
        refuse_moved(f"the database {place_of(self.url)}", marks)
        _refuse_newer({str(name): Applied(*found) for name, *found in rows}, self._schemas)

    async def close(self) -> None:
        await self._pool.close()


def checked_connection(
    url: str, schemas: Sequence[Schema], *, moving: bool = False
) -> psycopg.Connection[Any]:
    """Connect to a checked and migrated database.

    One that is moved is refused, except by who is `moving` it. Raises StoreUnusable, StoreMoved,
    StoreTooNew, or StoreUnavailable.
    """
    try:
        connection = psycopg.connect(connection_target(url), autocommit=True)
        try:
            _check_server(connection)
            if not moving:
                refuse_moved(f"the database {place_of(url)}", relocations(connection))
            _migrate(connection, schemas)
        except BaseException:
            connection.close()
            raise
    except psycopg.errors.InsufficientPrivilege as cause:
        raise StoreUnusable(
            f"the role in TAPEWAY_TAPE__URL may not make the tables of {place_of(url)}"
            f" ({first_line(cause)}): run `tapeway migrate --apply` as the role that owns them,"
            " and run there SELECT let_use('ROLE') for the one that is named here"
        ) from cause
    except psycopg.Error as cause:
        raise StoreUnavailable(
            f"the PostgreSQL database of {place_of(url)} cannot be opened"
            f" ({_why_not_opened(cause, url)}): {remedy_of(cause, CHECK_URL)}",
            lasting=is_lasting(cause),
        ) from cause
    return connection


def _why_not_opened(cause: psycopg.Error, url: str) -> str:
    # A value that libpq cannot read may be a password at the wrong place.
    says = first_line(cause)
    return reason_without_values(cause, url) if "invalid " in says else says


def relocations(connection: psycopg.Connection[Any]) -> list[Relocation]:
    """Return the marks that moves have left in a database."""
    if not _exists(connection, "relocation"):
        return []
    return [Relocation(*row) for row in connection.execute(relocation.FIND)]


@contextmanager
def translated() -> Iterator[None]:
    """Raise psycopg's errors as TapeError."""
    try:
        yield
    except psycopg.Error as cause:
        raise as_tape_error(cause) from cause
    except UnicodeEncodeError as cause:
        raise AppendRefused(f"a value is not valid Unicode text ({cause}): remove it") from cause


def as_tape_error(cause: Exception) -> TapeError:
    """Return StoreUnavailable for a server's trouble, and AppendRefused for a statement's."""
    state = getattr(cause, "sqlstate", None)
    if isinstance(cause, UNIT_CLASSES) and state not in ON_THE_SERVER:
        return AppendRefused(f"the database refused a statement: {first_line(cause)}")
    says = f"the database is away ({first_line(cause)}): {remedy_of(cause, 'try again')}"
    return StoreUnavailable(says, full=state == DISK_FULL, lasting=is_lasting(cause))


def connection_target(url: str, *, writable: bool = True) -> str:
    """Return what libpq connects to: encrypted and checked, unless the server is on this machine.

    Of several hosts it takes one that is `writable`. Raises StoreUnusable for a URL that cannot be
    read.
    """
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as cause:
        raise StoreUnusable(
            f"TAPEWAY_TAPE__URL cannot be read ({reason_without_values(cause, url)}): use a URL"
            " like postgresql://tapeway@db.example.com/tapeway"
        ) from None
    given.pop("application_name", None)
    defaults = dict(CONNECTING)
    if not writable:
        defaults["target_session_attrs"] = "any"
    if not _is_on_this_machine(given):
        defaults |= {"sslmode": "verify-full", "sslrootcert": "system"}
        if "sslmode" in given or "sslrootcert" in given:
            del defaults["sslrootcert"]
    return conninfo.make_conninfo(url, **{k: v for k, v in defaults.items() if k not in given})


def without_password(url: str) -> str:
    """Return a URL as libpq's words, without what is secret in it."""
    given = conninfo.conninfo_to_dict(url)
    shown: dict[str, Any] = {name: one for name, one in given.items() if "password" not in name}
    return conninfo.make_conninfo(**shown)


def place_of(url: str) -> str:
    """Return the host and database of a URL, without its password."""
    given = conninfo.conninfo_to_dict(url)
    return f"{given.get('host') or 'this machine'}/{given.get('dbname') or ''}"


def _is_on_this_machine(given: Mapping[str, Any]) -> bool:
    """Return whether libpq connects only here; the environment names what a URL leaves out."""
    named = {
        name: str(given.get(name) or os.environ.get(f"PG{name.upper()}", ""))
        for name in ("host", "hostaddr", "service")
    }
    if named.pop("service"):
        return False  # a file names the hosts
    return all(_is_here(one.strip()) for hosts in named.values() for one in hosts.split(","))


def _is_here(host: str) -> bool:
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_server(connection: psycopg.Connection[Any]) -> None:
    found = connection.info.server_version
    if found < MIN_SERVER:
        raise StoreUnusable(
            f"the server is PostgreSQL {found // 10000}: Tapeway needs {MIN_SERVER // 10000} or"
            " newer"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreUnusable(
            f"the database has the encoding {encoding}: create one with"
            " CREATE DATABASE tapeway TEMPLATE template0 ENCODING 'UTF8'"
        )


def is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Return whether a pooler stands between, which numbers its connections itself."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid


def _migrate(connection: psycopg.Connection[Any], schemas: Sequence[Schema]) -> None:
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
        known = _exists(connection, "migration")
        if not known and (_exists(connection, "tape") or _exists(connection, "entry")):
            raise StoreUnusable(
                "the database holds another program's tables: name an empty one in"
                " TAPEWAY_TAPE__URL; nothing was changed"
            )
        if not known:
            connection.execute(_MIGRATIONS)
        applied = applied_versions(connection)
        _refuse_newer(applied, schemas)
        # Whoever uses the tables goes on meanwhile: others queue behind whoever waits for a table.
        connection.execute("SET LOCAL lock_timeout = '10s'")
        for schema in schemas:
            for number, sql in enumerate(schema.migrations, start=1):
                if number > applied.get(schema.name, NOT_APPLIED).version:
                    with _named(f"{schema.name} {number}", connection):
                        connection.execute(sql.encode())
                    connection.execute(
                        "INSERT INTO migration (name, version, written_by, readable_from)"
                        " VALUES (%s, %s, %s, %s)",
                        (schema.name, number, own_version(), schema.readable_from(number)),
                    )


@contextmanager
def _named(migration: str, connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Name a migration whose statements a server does not understand."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege:
        raise
    except psycopg.ProgrammingError as cause:
        version = connection.info.server_version
        raise StoreUnusable(
            f"PostgreSQL {version // 10000} refused the migration {migration}"
            f" ({first_line(cause)}): nothing was changed; report it as a fault of Tapeway, or"
            " name a server of another version in TAPEWAY_TAPE__URL"
        ) from cause


def _refuse_newer(applied: Mapping[str, Applied], schemas: Sequence[Schema]) -> None:
    for schema in schemas:
        found = applied.get(schema.name, NOT_APPLIED)
        if found.readable_from > schema.version:
            by = found.written_by
            raise StoreTooNew("the database", schema.name, found.version, schema.version, by)


def _exists(connection: psycopg.Connection[Any], table: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()
    return row is not None and row[0] is not None


def applied_versions(connection: psycopg.Connection[Any]) -> dict[str, Applied]:
    """Return what is known of each schema in a database; nothing if it has no tables yet."""
    if not _exists(connection, "migration"):
        return {}
    rows = connection.execute(_APPLIED).fetchall()
    return {str(name): Applied(*found) for name, *found in rows}
