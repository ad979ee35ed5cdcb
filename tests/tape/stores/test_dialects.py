"""The statements of both dialects have the same names, parameters and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import anyio
import apsw
import psycopg
import pytest
from psycopg import sql

from gateway.storage.ledger.ledger import ledger_schema
from tape.database.connection import migrate
from tape.database.schema import read_schema
from tape.stores import sqlite
from tape.stores.postgres import store as postgres
from tape.stores.postgres.binding import driver_sql
from tape.stores.postgres.database import PostgresDatabase
from tests.postgres import fresh_database

PARAMETER = re.compile(r"%\((\w+)\)s")
PIECE = re.compile(r"tape\.(by|where|oldest|newest)_")
LEDGERS = ledger_schema("sqlite"), ledger_schema("postgres")
TAPES = sqlite.tape_schema(), postgres.tape_schema()
SEARCHES = read_schema("search", "tape.search", "sqlite"), postgres.search_schema()


def joined(number: int) -> dict[str, str]:
    """Return every statement of a dialect, by its name."""
    found = (LEDGERS[number], TAPES[number], SEARCHES[number])
    return {name: sql for schema in found for name, sql in schema.statements.items()}


HERE, THERE = joined(0), joined(1)
SHARED = sorted(
    LEDGERS[0].statements.keys() | LEDGERS[1].statements.keys() | (HERE.keys() & THERE.keys())
)

OTHERWISE: Final[Mapping[str, tuple[set[str], set[str]]]] = MappingProxyType(
    {
        # SQLite's column follows from the payload.
        "tape.erase_entry": (set(), {"about"}),
        # SQLite's index has a database of its own, which is built again when the rules change.
        "search.cover": ({"name"}, {"rules", "old"}),
    }
)
"""The values that a statement binds in one dialect only: SQLite's, and PostgreSQL's."""

ANSWERED_OTHERWISE: Final = frozenset({"tape.erase_entry", "search.cover", "search.covered"})
"""What returns other columns: a function of the server, and the two search indexes' own state."""

ONLY_HERE: Final = {
    # What the server does in one of its functions, in one round trip.
    *("tape.add_entry", "tape.add_key", "tape.add_late", "tape.anchored", "tape.dated"),
    *("tape.dates_at", "tape.find_key", "tape.last_late", "tape.make_tape", "tape.newest"),
    # Erasing is one function there, and an import is one transaction.
    *("tape.begin_erasing", "tape.end_erasing", "tape.copy_entries", "tape.copy_late"),
    *("tape.drop_entries", "tape.forget_keys", "tape.forget_late", "tape.forget_tape"),
    *("tape.rename", "tape.take_keys"),
    # A tape's row has its size there, and words are looked for in Python.
    *("tape.newest_id", "tape.newest_ids", "tape.where_text"),
}
ONLY_THERE: Final = {
    *("tape.append", "tape.between_dates", "tape.ends", "tape.expects", "tape.keyed"),
    *("tape.lock", "tape.make", "tape.size", "tape.state", "tape.tables"),
}


def parameters(text: str) -> set[str]:
    """Return the names that a statement binds."""
    return set(PARAMETER.findall(driver_sql(text)))


def whole(statements: Mapping[str, str], name: str) -> str:
    """Return a statement, or a query that has the piece of one."""
    if PIECE.match(name) is None:
        return statements[name]
    place = [] if name.startswith("tape.by_") else ["tape.by_place"]
    order = [] if name.startswith(("tape.newest", "tape.oldest")) else ["tape.oldest_first"]
    return "\n".join(statements[one] for one in ("tape.columns", *place, name, *order))


@pytest.mark.parametrize("name", SHARED)
def test_a_statement_binds_the_same_values_in_both_dialects(name: str) -> None:
    here, there = parameters(HERE[name]), parameters(THERE[name])
    assert (here - there, there - here) == OTHERWISE.get(name, (set(), set()))


def test_each_statement_of_tapes_is_in_both_dialects_or_known_not_to_be() -> None:
    """Those of the search index differ: one is an FTS5 table in a file, the other a table."""
    here, there = (set(one.statements) for one in TAPES)
    assert (here - there, there - here) == (ONLY_HERE, ONLY_THERE)


@pytest.fixture(scope="module")
def server() -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with fresh_database() as url:
        schemas = [TAPES[1], SEARCHES[1], LEDGERS[1]]
        anyio.run(PostgresDatabase.open(url, schemas).close)
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection


@pytest.fixture(scope="module")
def file() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    migrate(connection, [TAPES[0], SEARCHES[0], LEDGERS[0]])
    return connection


@pytest.mark.postgresql
@pytest.mark.parametrize("name", [name for name in SHARED if name not in ANSWERED_OTHERWISE])
def test_a_statement_returns_the_same_columns_in_both_dialects(
    name: str, server: psycopg.Connection[tuple[object, ...]], file: apsw.Connection
) -> None:
    there = columns_there(server, whole(THERE, name))
    here = columns_here(file, whole(HERE, name))
    assert there == here


def columns_here(file: apsw.Connection, text: str) -> list[str]:
    found: list[str] = []

    def look(cursor: apsw.Cursor, _sql: str, _values: object) -> bool:
        found.extend(column[0] for column in cursor.get_description())
        return False

    cursor = file.cursor()
    cursor.set_exec_trace(look)
    with pytest.raises(apsw.ExecTraceAbort):
        cursor.execute(text, dict.fromkeys(re.findall(r":([a-z_]\w*)", text)))
    return found


def columns_there(server: psycopg.Connection[tuple[object, ...]], text: str) -> list[str]:
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    plain = PARAMETER.sub(number, driver_sql(text)).replace("%%", "%")
    result = server.pgconn.prepare(b"checked", plain.encode())
    assert result.status == psycopg.pq.ExecStatus.COMMAND_OK, result.get_error_message()
    described = server.pgconn.describe_prepared(b"checked")
    found = [(described.fname(n) or b"").decode() for n in range(described.nfields)]
    server.execute(sql.SQL("DEALLOCATE checked"))
    return found
