"""Read rows that PostgreSQL returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import AsyncCursor

from tape.database.connection import read_entry
from tape.entry import Entry
from tape.unit_of_work import Row


def read_entries(rows: Iterable[Sequence[Any]]) -> list[Entry]:
    """Make entries from rows with id, kind, payload, meta and date."""
    return [read_entry(row) for row in rows]


def rows_of(cursor: AsyncCursor[tuple[Any, ...]], rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Map column names to values in each row."""
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in rows]
