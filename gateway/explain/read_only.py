"""A gateway's database, opened read-only: takes no lock, starts no channels, resumes nothing."""

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
    """A store's reads over a read-only connection."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def query(self, query: Query) -> list[Entry]:
        return self._reader.query(query)

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        return self._reader.select(statement, values)


@contextmanager
def read_only(path: Path) -> Iterator[ReadOnly]:
    """Open a database for reading; raises TapeError."""
    schemas = (
        read_schema("tape", "tape", "sqlite"),
        read_schema("ledger", "gateway.storage.ledger", "sqlite"),
    )
    reader = Database.open_read_only(path, schemas)
    try:
        yield ReadOnly(reader)
    finally:
        reader.close()
