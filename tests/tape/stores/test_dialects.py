"""The statements of both dialects have the same names, parameters and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator

import anyio
import apsw
import psycopg
import pytest
from psycopg import sql

from gateway.storage.ledger.ledger import ledger_schema
from tape.database.connection import migrate
from tape.database.schema import Schema
from tape.stores import sqlite
from tape.stores.postgres import store as postgres
from tape.stores.postgres.binding import driver_sql
from tape.stores.postgres.database import PostgresDatabase
from tests.postgres import fresh_database

PARAMETER = re.compile(r"%\((\w+)\)s")
LEDGERS = ledger_schema("sqlite"), ledger_schema("postgres")
SHARED = sorted(LEDGERS[0].statements.keys() | LEDGERS[1].statements.keys())


def parameters(schema: Schema, name: str) -> set[str]:
    """Return the names that a statement binds."""
    return set(PARAMETER.findall(driver_sql(schema.statements[name])))


@pytest.mark.parametrize("name", SHARED)
def test_a_statement_of_the_ledger_binds_the_same_values_in_both_dialects(name: str) -> None:
    there, here = LEDGERS
    assert parameters(here, name) == parameters(there, name)


def test_each_piece_of_a_query_is_in_both_dialects() -> None:
    pieces = re.compile(r"tape\.(by|where|oldest|newest)_")
    dialects = [sqlite.tape_schema(), postgres.tape_schema()]
    names = [{n for n in one.statements if pieces.match(n)} for one in dialects]
    assert names[0] - names[1] == {"tape.where_text", "tape.newest_id", "tape.newest_ids"}
    assert names[1] <= names[0]


@pytest.fixture(scope="module")
def server() -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with fresh_database() as url:
        schemas = [postgres.tape_schema(), LEDGERS[1]]
        anyio.run(PostgresDatabase.open(url, schemas).close)
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection


@pytest.fixture(scope="module")
def file() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    migrate(connection, [sqlite.tape_schema(), LEDGERS[0]])
    return connection


@pytest.mark.postgresql
@pytest.mark.parametrize("name", SHARED)
def test_a_statement_of_the_ledger_returns_the_same_columns_in_both_dialects(
    name: str, server: psycopg.Connection[tuple[object, ...]], file: apsw.Connection
) -> None:
    assert columns_there(server, LEDGERS[1].statements[name]) == columns_here(
        file, LEDGERS[0].statements[name]
    )


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
