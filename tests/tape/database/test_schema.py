"""SQL in files: named statements and numbered migrations."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw
import pytest

from tape.database.connection import migrate
from tape.database.schema import Schema, parse_statements, read_schema
from tape.errors import MigrationMisnumbered

ROOT: Final = Path(__file__).resolve().parents[3]
FOLDERS: Final = sorted(
    folder
    for package in ("gateway", "channels", "tape", "agent")
    for folder in (ROOT / package).rglob("sql/*")
    if folder.is_dir()
)
"""The folders of every schema and dialect: one that is added is among them."""


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


@pytest.fixture(params=FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def migrations(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Return a copy of a schema's folder, in the package `copied`."""
    copy = tmp_path / "copied" / "sql" / "dialect"
    shutil.copytree(request.param, copy)
    monkeypatch.syspath_prepend(tmp_path)
    yield copy
    sys.modules.pop("copied")


def refusal() -> str:
    with pytest.raises(MigrationMisnumbered) as refused:
        read_schema("copied", "copied", "dialect")
    return str(refused.value)


def test_migrations_that_are_numbered_by_their_positions_are_read_in_order(
    migrations: Path,
) -> None:
    names = sorted(migrations.glob("0*.sql"))
    (migrations / f"{len(names) + 1:04}_next.sql").write_text("the next one")
    schema = read_schema("copied", "copied", "dialect")
    assert schema.migrations == (*(one.read_text() for one in names), "the next one")
    assert schema.statements


@pytest.mark.parametrize("number", ["0000", "22", "", "00220", "٠٠٢٢"])
def test_a_migration_without_a_number_of_four_digits_is_refused(
    migrations: Path, number: str
) -> None:
    place = len(list(migrations.glob("0*.sql"))) + 1
    (migrations / f"{number}_place.sql").write_text("CREATE TABLE place (a)")
    assert refusal() == (
        f"copied/sql/dialect/{number}_place.sql has no number: rename it to {place:04}_place.sql if"
        " it is a migration; nothing was changed"
    )


def test_a_migration_with_the_number_of_another_is_refused(migrations: Path) -> None:
    first, *others = sorted(one.name for one in migrations.glob("0*.sql"))
    (migrations / "0001_a_new_one.sql").write_text("CREATE TABLE place (a)")
    earlier, later = sorted([first, "0001_a_new_one.sql"])
    assert refusal() == (
        f"copied/sql/dialect/{later} has the same number as {earlier}: give the newer of the two"
        f" the number {len(others) + 2:04}; nothing was changed"
    )


def test_a_migration_that_leaves_out_a_number_is_refused(migrations: Path) -> None:
    place = len(list(migrations.glob("0*.sql"))) + 1
    (migrations / f"{place + 1:04}_place.sql").write_text("CREATE TABLE place (a)")
    assert refusal() == (
        f"copied/sql/dialect/{place + 1:04}_place.sql is number {place} in its folder: rename it to"
        f" {place:04}_place.sql, or put the missing file back; nothing was changed"
    )


def test_a_folder_that_lacks_its_first_migration_is_refused(migrations: Path) -> None:
    first, *others = sorted(migrations.glob("0*.sql"))
    first.rename(migrations / f"{len(others) + 2:04}_place.sql")
    assert "is number 1 in its folder: rename it to 0001_" in refusal()


def test_what_an_editor_leaves_beside_the_migrations_is_no_migration(migrations: Path) -> None:
    for name in (".#0022_place.sql", "0022_place.sql~", "README.md"):
        (migrations / name).write_text("NOT SQL")
    assert read_schema("copied", "copied", "dialect").migrations


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
