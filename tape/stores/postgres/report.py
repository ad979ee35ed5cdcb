"""Look at a PostgreSQL server without changing or locking anything, for whoever looks after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from tape.database.relocation import refuse_moved
from tape.database.schema import Schema, read_schema
from tape.errors import StoreUnavailable
from tape.search.indexer import is_indexed
from tape.stores.postgres.binding import driver_sql
from tape.stores.postgres.database import (
    MIN_SERVER,
    NOT_APPLIED,
    applied_versions,
    connection_target,
    is_pooled,
    place_of,
    relocations,
)
from tape.stores.postgres.listening import ELSEWHERE, IS_LOCKED, LOCK, POOLED, new_key
from tape.stores.postgres.search_index import NEWER_RULES
from tape.stores.postgres.search_lookup import RULES, is_older
from tape.stores.postgres.server_errors import first_line, remedy_of

_IN_USE: Final = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What a server says of itself.

    older, newer     the schemas that this version would migrate, and those that it cannot use
    standbys         how many follow it; `synchronous` if it waits for any
    max_connections  how many it allows to others than its administrators
    is_read_only     whether it is set to refuse writes, though it is no standby
    statement_timeout  after which time it ends a statement; "0" for never
    """

    place: str
    version: int
    encoding: str
    fsync: bool
    synchronous_commit: str
    is_standby: bool
    standbys: int
    synchronous: bool
    max_connections: int
    free_connections: int
    is_read_only: bool
    statement_timeout: str
    older: tuple[str, ...]
    newer: tuple[str, ...]

    @property
    def is_old(self) -> bool:
        """Whether the server is older than Tapeway needs."""
        return self.version < MIN_SERVER


def look(url: str, schemas: Sequence[Schema]) -> ServerReport:
    """Ask a server; raises StoreUnusable for a wrong URL, StoreMoved, and StoreUnavailable."""
    target = connection_target(url, writable=False)
    try:
        with psycopg.connect(target, autocommit=True) as connection:
            connection.read_only = True
            refuse_moved(f"the database {place_of(url)}", relocations(connection))
            found = applied_versions(connection)
            allowed = int(_setting(connection, "max_connections"))
            allowed -= int(_setting(connection, "superuser_reserved_connections"))
            known = [(one.version, found.get(one.name, NOT_APPLIED), one.name) for one in schemas]
            return ServerReport(
                place=place_of(url),
                version=connection.info.server_version,
                encoding=connection.info.parameter_status("server_encoding") or "",
                fsync=_setting(connection, "fsync") == "on",
                synchronous_commit=_setting(connection, "synchronous_commit"),
                is_standby=bool(_value(connection, "SELECT pg_is_in_recovery()")),
                standbys=int(_value(connection, "SELECT count(*) FROM pg_stat_replication")),
                synchronous=bool(_setting(connection, "synchronous_standby_names")),
                max_connections=allowed,
                free_connections=allowed - int(_value(connection, _IN_USE)),
                is_read_only=_setting(connection, "default_transaction_read_only") == "on",
                statement_timeout=_setting(connection, "statement_timeout"),
                older=tuple(name for own, there, name in known if 0 < there.version < own),
                newer=tuple(name for own, there, name in known if there.readable_from > own),
            )
    except psycopg.Error as cause:
        remedy = remedy_of(cause, "check that the server runs")
        raise StoreUnavailable(f"{place_of(url)}: {first_line(cause)}: {remedy}") from cause


@dataclass(frozen=True, slots=True)
class IndexReport:
    """How many entries the search index of a server lacks, and what is wrong with it."""

    left: int
    problem: str


def look_at_index(url: str) -> IndexReport | None:
    """Ask a server about its search index, None if it has none; raises as `look` does."""
    own = read_schema("search", "tape.search", "postgres").statements
    target = connection_target(url, writable=False)
    try:
        with psycopg.connect(target, autocommit=True) as connection:
            if not _value(connection, "SELECT to_regclass('search_covered') IS NOT NULL"):
                return None
            rules = connection.execute(driver_sql(own["search.rules"]).encode()).fetchall()
            found = connection.execute(driver_sql(own["search.lacking"]).encode()).fetchall()
    except psycopg.Error as cause:
        raise StoreUnavailable(f"{place_of(url)}: {first_line(cause)}") from cause
    left = sum(max(size - high, 0) + low - 1 for name, high, low, size in found if is_indexed(name))
    newer = any(not is_older(one) for (one,) in rules if one != RULES)
    return IndexReport(left, NEWER_RULES if newer else "")


@dataclass(frozen=True, slots=True)
class VectorReport:
    """The versions of pgvector that a database uses, and that its server has; "" for none."""

    installed: str
    available: str


_PGVECTOR: Final = """
SELECT coalesce((SELECT e.extversion FROM pg_extension AS e
                 WHERE e.extname = 'vector'
                   AND has_schema_privilege(e.extnamespace, 'USAGE')), ''),
       coalesce((SELECT default_version FROM pg_available_extensions WHERE name = 'vector'), '')"""


def look_at_vectors(url: str) -> VectorReport:
    """Ask a server what compares vectors there; raises as `look` does."""
    target = connection_target(url, writable=False)
    try:
        with psycopg.connect(target, autocommit=True) as connection:
            row = connection.execute(_PGVECTOR.encode()).fetchone()
    except psycopg.Error as cause:
        raise StoreUnavailable(f"{place_of(url)}: {first_line(cause)}") from cause
    return VectorReport(*row or ("", ""))


def deafness(url: str, listen_url: str) -> str:
    """Return why a process would hear nothing at a URL to listen to, "" if it would hear.

    Raises as `look` does.
    """
    try:
        with (
            psycopg.connect(connection_target(url, writable=False), autocommit=True) as here,
            psycopg.connect(connection_target(listen_url, writable=False)) as there,
        ):
            if is_pooled(there):
                return POOLED
            values = {"key": new_key()}
            there.execute(LOCK, values)
            row = here.execute(IS_LOCKED.encode(), values).fetchone()
            return "" if row and row[0] else ELSEWHERE
    except psycopg.Error as cause:
        raise StoreUnavailable(f"{place_of(listen_url)}: {first_line(cause)}") from cause


def _setting(connection: psycopg.Connection[Any], name: str) -> str:
    return str(_value(connection, "SELECT current_setting(%s)", name))


def _value(connection: psycopg.Connection[Any], sql: str, *values: str) -> Any:
    row = connection.execute(sql.encode(), values).fetchone()
    return row[0] if row else None
