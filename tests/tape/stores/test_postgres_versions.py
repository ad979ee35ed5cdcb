"""Which version may use a database that another one has migrated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from gateway.sharing.schema import sharing_schema
from tape.entry import message
from tape.errors import StoreTooNew, StoreUnusable
from tape.query import Query
from tape.stores.postgres.store import PostgresStore, search_schema, tape_schema
from tests.postgres import fresh_database
from tests.tape.stores.following import ADDS, BREAKS, OWN, following

pytestmark = pytest.mark.postgresql


SHAPE = """
SELECT table_name || '.' || column_name, table_name, concat_ws(' ', data_type, is_nullable),
       is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'
FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL
SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid), true FROM pg_constraint
WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
UNION ALL
SELECT indexrelid::regclass::text, indrelid::regclass::text, pg_get_indexdef(indexrelid), true
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indisunique AND relnamespace = 'public'::regnamespace
  AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
UNION ALL
SELECT oid::regprocedure::text, '', pg_get_function_result(oid), false FROM pg_proc
WHERE pronamespace = 'public'::regnamespace"""
"""Columns, rules, indexes and functions: name, table, what it is, whether a row has to fit it."""


@pytest.fixture
def url() -> Iterator[str]:
    with fresh_database() as url:
        yield url


@dataclass(frozen=True, slots=True)
class Shape:
    """What programs may rely on in a database: each with its table, and what it is.

    needed  the columns that a row has to name
    """

    parts: dict[str, tuple[str, str]]
    needed: frozenset[str]

    @classmethod
    def of(cls, connection: psycopg.Connection[tuple[str, str, str, bool]]) -> Shape:
        rows = connection.execute(SHAPE).fetchall()
        return cls({n: (at, is_) for n, at, is_, _ in rows}, frozenset(r[0] for r in rows if r[3]))

    def unlike(self, before: Shape) -> list[str]:
        """Return what is gone or different, and what old tables demand since `before`."""
        changed = [name for name, is_ in before.parts.items() if self.parts.get(name) != is_]
        tables = {table for table, _ in before.parts.values() if table}
        new = [name for name in self.parts.keys() - before.parts.keys() if name in self.needed]
        return [*changed, *(name for name in new if self.parts[name][0] in tables)]


async def test_a_process_goes_on_beside_a_version_that_only_added(url: str) -> None:
    before = PostgresStore.open(url, [OWN])
    try:
        await PostgresStore.open(url, [following(ADDS)]).close()
        await before.refuse_newer()
        await before.append("tape", [message("user", "still here")])
    finally:
        await before.close()
    again = PostgresStore.open(url, [OWN])
    try:
        assert [entry.text for entry in await again.query(Query("tape"))][-1] == "still here"
    finally:
        await again.close()


@pytest.mark.parametrize("later", [(BREAKS,), (BREAKS, ADDS)], ids=["last", "before one that adds"])
async def test_a_process_stops_once_a_later_version_has_taken_something_away(
    url: str, later: tuple[str, ...]
) -> None:
    before = PostgresStore.open(url, [OWN])
    try:
        await PostgresStore.open(url, [following(*later)]).close()
        with pytest.raises(StoreTooNew, match=r"install Tapeway \d.* or a newer one"):
            await before.refuse_newer()
    finally:
        await before.close()
    with pytest.raises(StoreTooNew):
        PostgresStore.open(url, [OWN])


async def test_a_version_that_is_not_yet_written_down_counts_as_one_that_takes_away(
    url: str,
) -> None:
    await PostgresStore.open(url, [OWN]).close()
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO migration VALUES ('ledger', 99, '9.9.9')")
    with pytest.raises(StoreTooNew, match="ledger schema 99"):
        PostgresStore.open(url, [OWN])


def test_a_migration_after_which_older_versions_go_on_only_adds(url: str) -> None:
    schemas = (tape_schema(), search_schema(), OWN, sharing_schema())
    with psycopg.connect(url, autocommit=True) as connection:
        for schema in schemas:
            for number, sql in enumerate(schema.migrations, start=1):
                before = Shape.of(connection)
                connection.execute(sql.encode())
                if schema.readable_from(number) < number:
                    problems = Shape.of(connection).unlike(before)
                    assert problems == [], f"migration {number} of {schema.name}"


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        (BREAKS, "outbox.why"),
        ("ALTER TABLE outbox DROP COLUMN why", "outbox.why"),
        ("DROP TABLE card", "card.card_id"),
        ("ALTER TABLE inbox ALTER COLUMN chat_id TYPE VARCHAR(9)", "inbox.chat_id"),
        ("ALTER TABLE inbox ALTER COLUMN turn_id SET NOT NULL", "inbox.turn_id"),
        ("ALTER TABLE inbox ADD COLUMN mood TEXT NOT NULL", "inbox.mood"),
        ("ALTER TABLE inbox ADD CHECK (chat_id <> '')", "inbox_chat_id_check"),
        ("CREATE UNIQUE INDEX once ON inbox (message_id)", "once"),
        ("DROP FUNCTION json_text", "json_text(text,text[])"),
    ],
)
def test_what_a_migration_takes_away_or_asks_for_is_found(sql: str, problem: str, url: str) -> None:
    with psycopg.connect(url) as connection:
        for one in (*tape_schema().migrations, *OWN.migrations):
            connection.execute(one.encode())
        before = Shape.of(connection)
        connection.execute(sql.encode())
        assert problem in Shape.of(connection).unlike(before)


async def test_a_migration_that_a_server_does_not_understand_is_named(url: str) -> None:
    schemas = [following("CREATE TABLE mood (name TEXT STORAGE SOMEWHERE ELSE)")]
    with pytest.raises(StoreUnusable) as refused:
        PostgresStore.open(url, schemas)
    said = str(refused.value)
    number = len(schemas[0].migrations)
    assert f"refused the migration ledger {number} (" in said
    assert "nothing was changed" in said
    assert "password" not in said
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('tape')").fetchone() == (None,)
