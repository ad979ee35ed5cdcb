"""A database of the gateway, read where none runs: no lock, no channel, nothing resumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tape.database.connection import Database, Reader
from tape.database.schema import read_schema
from tape.entry import Entry
from tape.query import Query
from tape.unit_of_work import Row


class ReadOnly:
    """A read-only connection, as a store is read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query."""
        return self._reader.query(query)

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named reading statement."""
        return self._reader.select(statement, values)


@contextmanager
def read_only(path: Path) -> Iterator[ReadOnly]:
    """Open a database for reading alone; raises TapeError where that cannot be."""
    schemas = (
        read_schema("tape", "tape", "sqlite"),
        read_schema("ledger", "gateway.storage.ledger", "sqlite"),
    )
    reader = Database.open_read_only(path, schemas)
    try:
        yield ReadOnly(reader)
    finally:
        reader.close()
