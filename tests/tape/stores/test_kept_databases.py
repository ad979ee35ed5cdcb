"""What a test finds of the one before: nothing but the tables and connections as good as new."""

from __future__ import annotations

from typing import Any, Final, LiteralString

import psycopg
import pytest

from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import message
from tape.stores.postgres.database import connection_target
from tape.stores.postgres.store import PostgresStore
from tests.kit.kept_connections import MOST, kept_connections
from tests.kit.kept_databases import STEPS, kept_database

pytestmark = pytest.mark.postgresql

OWN_LOCKS: Final = """
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"""
"""Not those of other tests on the same server."""


def asked(url: str, sql: LiteralString) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql).fetchall()


async def test_of_the_rows_of_one_test_the_next_finds_none() -> None:
    with kept_database() as url:
        store = PostgresStore.open(url, [ledger_schema("postgres"), sharing_schema()])
        first, *_ = await store.append("t", [message("user", "plum " * 50)] * 2000, "key")
        await store.indexed()
        await store.close()
    with kept_database() as again:
        assert again == url
        tables = [name for kind, name in asked(url, STEPS) if kind == "r"]
        assert {"entry", "tape", "append_key", "inbox", "search_entry", "session"} <= set(tables)
        with psycopg.connect(url) as connection:
            for name in tables:
                found = connection.execute(f"SELECT count(*) FROM {name}".encode())
                assert (name, found.fetchone()) == (name, (0,))
        store = PostgresStore.open(url)
        (entry,) = await store.append("t", [message("user", "pear")])
        await store.close()
        assert entry.id == first.id


async def test_a_connection_is_taken_over_without_what_was_set_and_listened_to() -> None:
    with kept_database() as url:
        target = connection_target(url)
        with psycopg.connect(target, autocommit=True) as connection:
            connection.execute("SET statement_timeout = 1234")
            connection.execute("SELECT pg_advisory_lock(1)")
            connection.execute("LISTEN anything")
            pid = connection.info.backend_pid
        assert connection.closed
        assert pid in kept_connections(url)
        async with await psycopg.AsyncConnection.connect(target, autocommit=True) as taken:
            assert taken.info.backend_pid == pid
            for sql, left in (
                ("SELECT count(*) FROM pg_listening_channels()", 0),
                (OWN_LOCKS, 0),
                ("SELECT current_setting('statement_timeout')", "0"),
            ):
                assert await (await taken.execute(sql)).fetchone() == (left,), sql


async def test_what_is_under_way_or_too_many_closes() -> None:
    with kept_database() as url:
        target = connection_target(url)
        began = psycopg.connect(target)
        began.execute("SELECT 1")
        pid = began.info.backend_pid
        began.close()
        assert pid not in kept_connections(url)
        many = [psycopg.connect(target) for _ in range(MOST + 2)]
        for one in many:
            one.close()
        assert len(kept_connections(url)) == MOST
