"""The versions of a home's tables: what is there, what this version knows, and migrating."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import apsw

from gateway.backup.backup import HomeData
from gateway.backup.manifest import BackupError, known_schemas, refuse_newer
from gateway.home import locked
from gateway.settings import Settings
from gateway.sharing.schema import sharing_schema
from gateway.storage.database_lock import database_locked
from gateway.storage.ledger.ledger import ledger_schema
from tape.database.connection import Database, refuse_foreign, wait_for_others
from tape.errors import TapeError
from tape.stores.registry import open_store
from tape.stores.sqlite import tape_schema


@dataclass(frozen=True, slots=True)
class TableVersion:
    """The version of a package's tables in a database, and the newest one known here."""

    path: Path
    name: str
    found: int
    known: int


def find_versions(settings: Settings) -> list[TableVersion]:
    """Return the versions of the tables in a home's database; none if it has no database.

    Raises BackupError for a file that is no intact database, StoreUnusable, and StoreTooNew.
    """
    try:
        path = HomeData.of(settings).database
    except BackupError:
        return []
    if (
        path is None or path.stat().st_size == 0
    ):  # a start was cut off; the next one makes the tables
        return []
    try:
        found = list(_versions(path))
    except apsw.Error as cause:
        raise BackupError(
            f"{path} is not an intact database of Tapeway ({cause}): restore a backup, or move it"
            " away to start with an empty one"
        ) from cause
    refuse_newer(path, {one.name: one.found for one in found})
    return found


def is_outdated(settings: Settings) -> bool:
    """Return whether a start would migrate a home's database; False if it cannot be read."""
    with suppress(BackupError, TapeError):
        return any(0 < one.found < one.known for one in find_versions(settings))
    return False


async def apply_migrations(settings: Settings) -> float:
    """Migrate a database, and return the seconds that it took.

    No gateway may use a home's database meanwhile; on PostgreSQL, they go on.
    """
    path, begun = HomeData.of(settings).database, time.monotonic()
    if path is None:
        await open_store(settings.tape_url, [ledger_schema("postgres"), sharing_schema()]).close()
        return time.monotonic() - begun
    with locked(settings.home_path), database_locked(settings):
        Database.open(path, (tape_schema(), ledger_schema()))
    return time.monotonic() - begun


def _versions(path: Path) -> Iterator[TableVersion]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        wait_for_others(connection)
        refuse_foreign(connection, path)
        sql = "SELECT coalesce(max(version), 0) FROM migration WHERE name = ?"
        for name, known in known_schemas().items():
            yield TableVersion(path, name, int(connection.execute(sql, (name,)).get), known)
