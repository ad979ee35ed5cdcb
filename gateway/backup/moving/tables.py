"""The tables that are moved, with their columns in SQLite; PostgreSQL has the same and more."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import apsw

from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.sqlite import tape_schema

ENTRY: Final = "entry"

Cells = tuple[Any, ...]
"""A row, in the order of its table's columns."""

_LEFT: Final = frozenset(
    {
        "erasing",  # it is empty between two transactions
        "room_piece",  # it is made of the tapes again
    }
)
_LEFT_COLUMNS: Final[Mapping[str, frozenset[str]]] = {
    ENTRY: frozenset({"pos"}),
    "session": frozenset({"owner", "lease_until", "ready_at"}),  # of processes that have ended
}


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A table; its rows are moved in the order of `key`.

    of_tapes  whether it is the tapes' (its first column is the number of a tape), or the ledger's
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    of_tapes: bool

    def key_of(self, row: Cells) -> list[Any]:
        return [row[self.columns.index(name)] for name in self.key]


@functools.cache
def moved_tables() -> tuple[MovedTable, ...]:
    """Return every table of the tapes and of the ledger; what others refer to comes first."""
    with closing(apsw.Connection(":memory:")) as connection:
        found: dict[str, MovedTable] = {}
        for schema, of_tapes in ((tape_schema(), True), (ledger_schema(), False)):
            for sql in schema.migrations:
                connection.execute(sql)
            for (name,) in list(connection.execute(_TABLES)):
                if name not in _LEFT and name not in found:
                    found[name] = _table(connection, name, of_tapes=of_tapes)
        return tuple(found.values())


_TABLES: Final = """
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid"""


def _table(connection: apsw.Connection, name: str, *, of_tapes: bool) -> MovedTable:
    rows = list(connection.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)))
    left = _LEFT_COLUMNS.get(name, frozenset())
    key = [str(column) for column, place in sorted(rows, key=lambda row: row[1]) if place]
    columns = tuple(str(column) for column, _place in rows if column not in left)
    key = ["tape", "id"] if name == ENTRY else key
    return MovedTable(name, columns, tuple(key), of_tapes)
