"""The file of a search index, next to the database that it indexes.

The index can be rebuilt from the tapes: so transactions don't wait for the disk, and a file that is
damaged or has another version is deleted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from tape.database.schema import Schema, read_schema
from tape.private_file import make_private
from tape.search.tokenizer import VERSION

SUFFIX: Final = "-search"
IDS_PER_TAPE: Final = 2**32  # size of the range of row ids that a tape has in the index
BUSY_MS: Final = 5000

_LOG_BYTES: Final = 16 * 1024 * 1024
_RULES: Final = f"3 {VERSION}"

BROKEN: Final = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.SchemaChangeError)
"""SQLite's errors that mean the index must be rebuilt."""


class IndexFile:
    """The file of one database's index; `generation` counts how often the file was deleted."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}{SUFFIX}")
        self.generation = 0

    def writer(self) -> apsw.Connection:
        """Open the index for its writing thread; an unusable file is replaced."""
        try:
            return open_file(self.path, _make)
        except BROKEN:
            self.drop()
            return open_file(self.path, _make)

    def reader(self) -> apsw.Connection | None:
        """Open the index for reading, or return None if no index with the current rules exists."""
        if not self.path.exists():
            return None
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(BUSY_MS)
        try:
            made = connection.execute("SELECT count(*) FROM sqlite_schema").get
            version = index_schema().statements["search.version"]
            if made and connection.execute(version).get == _RULES:
                return connection
        except BROKEN:
            pass  # the writing thread notices this, too, and rebuilds the index
        connection.close()
        return None

    def drop(self) -> None:
        """Delete the index; open readers keep the old file until their next search."""
        self.generation += 1
        drop_file(self.path)


def open_file(path: Path, make: Callable[[apsw.Connection, bool], None]) -> apsw.Connection:
    """Open a file for writing; `make` fills an empty file, or checks the version of any other."""
    make_private(path)
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(BUSY_MS)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "normal")
        connection.pragma("secure_delete", True)
        with connection:
            make(connection, not connection.execute("SELECT count(*) FROM sqlite_schema").get)
    except BaseException:
        connection.close()
        raise
    return connection


def settle_file(connection: apsw.Connection) -> None:
    """Write a file once more, without what was deleted from it."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def drop_file(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


def _make(connection: apsw.Connection, empty: bool) -> None:
    connection.pragma("journal_size_limit", _LOG_BYTES)
    sql = index_schema()
    if empty:
        for migration in sql.migrations:
            connection.execute(migration)
        connection.execute(sql.statements["search.set_version"], {"version": _RULES})
    elif connection.execute(sql.statements["search.version"]).get != _RULES:
        raise apsw.CorruptError("the index was made by other rules")


@functools.cache
def index_schema() -> Schema:
    return read_schema("search", "tape.search", "sqlite")
