"""SQL in files: named statements and numbered migrations."""

from __future__ import annotations

import re

import apsw
import pytest

from tape.database.connection import migrate
from tape.database.schema import Schema, parse_statements, read_schema


def test_statements_are_split_at_their_names_and_keep_their_comments() -> None:
    text = "-- a heading\n-- name: one\n-- What it does.\nSELECT 1\n\n-- name: two\nSELECT 2;\n"
    assert parse_statements(text, "t.") == {
        "t.one": "-- What it does.\nSELECT 1",
        "t.two": "SELECT 2;",
    }


def test_the_tapes_schema_has_its_migrations_in_order_and_its_statements_under_its_name() -> None:
    schema = read_schema("tape", "tape", "sqlite")
    assert schema.version == len(schema.migrations) >= 1
    assert "CREATE TABLE tape" in schema.migrations[0]
    assert "tape.newest_id" in schema.statements
    assert all(name.startswith("tape.") for name in schema.statements)


def test_a_migration_is_applied_once_and_a_later_one_after_it() -> None:
    connection = apsw.Connection(":memory:")
    first = "CREATE TABLE thing (a)"
    second = "ALTER TABLE thing ADD COLUMN b; INSERT INTO thing VALUES (1, 2)"
    migrate(connection, [Schema("own", (first,), {})])
    for _ in range(2):
        migrate(connection, [Schema("own", (first, second), {})])
    assert list(connection.execute("SELECT a, b FROM thing")) == [(1, 2)]
    applied = connection.execute("SELECT name, version FROM migration ORDER BY version")
    assert list(applied) == [("own", 1), ("own", 2)]


def test_migrations_of_which_one_fails_leave_nothing() -> None:
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.SQLError):
        migrate(connection, [Schema("own", ("CREATE TABLE thing (a)", "NOT SQL"), {})])
    assert list(connection.execute("SELECT name FROM sqlite_schema")) == []


def test_every_statement_of_the_tapes_is_sound_sql() -> None:
    schema = read_schema("tape", "tape", "sqlite")
    connection = apsw.Connection(":memory:")
    migrate(connection, [schema])
    connection.create_scalar_function("entry_says", lambda *_: True, 3)
    columns, place = schema.statements["tape.columns"], schema.statements["tape.by_place"]
    for name, sql in schema.statements.items():
        whole = sql
        if name.startswith("tape.by_"):
            whole = f"{columns}\n{sql}"
        elif re.match(r"tape\.(where_|oldest|newest_first|newest_placed)", name):
            whole = f"{columns}\n{place}\n{sql}"
        connection.execute(f"EXPLAIN {whole}", dict.fromkeys(_parameters(whole)) or None)


def _parameters(sql: str) -> list[str]:
    """Return the names of a statement's parameters, the numbered ones as what they are called."""
    return re.findall(r"[:](\w+)", sql) + re.findall(r"\?(\d+)", sql)
