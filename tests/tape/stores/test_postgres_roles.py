"""What the role of a gateway can do to the tapes in PostgreSQL, if another role owns the tables."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import psycopg
import pytest

from tape.entry import message
from tape.erasing import tombstone
from tape.errors import StoreUnusable
from tape.stores.postgres.store import PostgresStore
from tests.postgres import APPLICATION, application_database, fresh_database, url_of

pytestmark = pytest.mark.postgresql


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """Make a database with one tape of three entries."""
    with application_database() as made:
        store = PostgresStore.open(made)
        await store.append("t", [message("user", "plum")], "key")
        await store.close()
        yield made


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET payload = '{}'",
        "DELETE FROM entry",
        "TRUNCATE entry",
        "UPDATE tape SET name = 'other'",
        "DELETE FROM tape",
        "DELETE FROM append_key",
        "DELETE FROM erased",
        "INSERT INTO erased (tape, id) VALUES (1, 1)",
        "ALTER TABLE entry DISABLE TRIGGER ALL",
        "SET session_replication_role = replica",
        "DROP TABLE entry",
        "DELETE FROM migration",
    ],
)
async def test_a_gateway_s_role_can_neither_change_nor_remove_what_is_on_a_tape(
    url: str, statement: str
) -> None:
    with (
        psycopg.connect(url, autocommit=True) as connection,
        pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.RaiseException)),
    ):
        connection.execute(statement.encode())


async def test_it_erases_through_one_function_which_leaves_a_record(url: str) -> None:
    store = PostgresStore.open(url)
    (entry,) = await store.append("t", [message("user", "plum")], "key")
    await store.erase("t", [tombstone(entry, "2026-01-31")])
    await store.close()
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT tape, id, role FROM erased").fetchall()
        assert found == [(1, entry.id, APPLICATION)]


async def test_that_function_adds_no_words_and_is_not_misled_by_a_temporary_table(url: str) -> None:
    erase = "SELECT tape_erase('t', 3, NULL, NULL, NULL, NULL, NULL, %s, '{}')"
    longer = '{"role": "user", "content": "' + "pear " * 30 + '"}'
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TEMPORARY TABLE entry (LIKE public.entry)")
        with pytest.raises(psycopg.errors.RaiseException, match="would add words"):
            connection.execute(erase, (longer,))
        connection.execute(erase, ('{"role": "user", "content": ""}',))
        left = connection.execute("SELECT payload FROM public.entry WHERE id = 3").fetchone()
        assert left == ('{"role": "user", "content": ""}',)


async def test_an_erased_entry_can_be_erased_once_more_but_not_filled(url: str) -> None:
    store = PostgresStore.open(url)
    (entry,) = await store.append("t", [message("user", "plum")], "key")
    left = tombstone(entry, "2026-01-31")
    await store.erase("t", [left])
    await store.erase("t", [replace(left)])
    assert [found.text for found in await store.append("t", [message("user", "x")], "key")] == [""]
    await store.close()


async def test_from_postgresql_17_on_it_may_vacuum_what_it_has_erased(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda one: notices.append(one.message_primary or ""))
        connection.execute("VACUUM entry")
        is_new = connection.info.server_version >= 170000
        assert ["skipping" in one for one in notices] == ([] if is_new else [True])


async def test_a_role_that_may_not_make_the_tables_is_said_so() -> None:
    with application_database():
        pass  # now the role is there
    with fresh_database() as owner:
        there = url_of(str(psycopg.conninfo.conninfo_to_dict(owner)["dbname"]), APPLICATION)
        with pytest.raises(
            StoreUnusable, match="role that owns them, and run there SELECT let_use"
        ):
            PostgresStore.open(there)
