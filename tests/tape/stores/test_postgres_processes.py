"""What holds of one PostgreSQL database when several processes, and many tasks of each, use it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, Final

import anyio
import psycopg
import pytest
from anyio import to_thread

from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import Entry, message
from tape.erasing import tombstone
from tape.errors import AppendRefused, TapeMismatch
from tape.handle import Tape
from tape.query import Query
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.measures import MEASURES, PostgresMeasures
from tape.stores.postgres.search_index import NEWEST, PAGE
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import Append, Batch, Unit
from tests.kit.waiting import Patience
from tests.postgres import owned_database

pytestmark = pytest.mark.postgresql

BREAK_ALL: Final = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@pytest.fixture
def url() -> Iterator[str]:
    with owned_database() as made:
        yield made


@asynccontextmanager
async def opened(
    url: str, many: int = 1, measures: PostgresMeasures = MEASURES
) -> AsyncIterator[list[PostgresStore]]:
    """Open a database as so many processes do."""
    schemas = [ledger_schema("postgres")]
    stores = [PostgresStore.open(url, schemas, measures=measures) for _ in range(many)]
    try:
        yield stores
    finally:
        for store in stores:
            await store.close()


def rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []


def said(text: str) -> Any:
    return message("user", text)


async def texts(store: PostgresStore, tape: str = "t") -> list[str]:
    return [entry.text for entry in await store.query(Query(tape, kinds=("message",)))]


# Connections.


async def test_connections_that_ended_while_nobody_used_them_lose_nothing(url: str) -> None:
    async with opened(url) as (store,):
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(store.append, f"t{number}", [said("a")])
        for number in range(3):
            await to_thread.run_sync(rows, url, BREAK_ALL)
            await store.append(f"t{number}", [said("b")])
            await store.append(f"t{number}", [said("c")], "key")
            assert await texts(store, f"t{number}") == ["a", "b", "c"]


async def test_callers_that_do_not_wait_any_longer_take_no_connection_with_them(url: str) -> None:
    async with opened(url) as (store,):
        await store.append("t", [said(f"plum {number}") for number in range(400)])
        await store.indexed()

        async def leave(number: int) -> None:
            with anyio.move_on_after(0.0002 * number):
                await store.query(Query("t"))
                await Tape(store, "t").search("plum")
                await store.append("t", [said("x")])
                await store.forget("t", [3])

        for _ in range(5):
            async with anyio.create_task_group() as group:
                for number in range(30):
                    group.start_soon(leave, number)
        with anyio.fail_after(5):
            assert len(await store.query(Query("t", text="plum"))) == 400
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(store.select, "ledger.sessions", {})


# Tapes.


async def test_units_of_two_processes_leave_no_gap_and_keep_each_one_s_order(url: str) -> None:
    async with opened(url, 2) as stores:

        async def write(store: PostgresStore, who: str) -> None:
            for number in range(40):
                unit = Unit([Append("t", (said(f"{who}{number}"),), f"{who}{number}")])
                unit.run("ledger.know_session", session_id="s", tape="t")
                unit.run("ledger.move_cursor", account_id="a", chat_id=who, value=f"{number:03}")
                await store.commit(unit)

        async with anyio.create_task_group() as group:
            for place, who in enumerate("abcd"):
                group.start_soon(write, stores[place % 2], who)
        found = await stores[0].query(Query("t"))
        assert [entry.id for entry in found] == list(range(1, len(found) + 1))
        for who in "abcd":
            own = [text for text in await texts(stores[1]) if text.startswith(who)]
            assert own == [f"{who}{number}" for number in range(40)]


async def test_a_unit_locks_its_tapes_in_sorted_order_so_that_nobody_waits_in_a_circle(
    url: str,
) -> None:
    both = Unit([Append(tape, (said("a"),), f"{tape} once") for tape in ("v", "t")])
    waiting = """SELECT count(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()"""
    async with opened(url) as (store,), anyio.create_task_group() as group:
        for tape in ("v", "t"):
            await store.append(tape, [said("first")])
        with psycopg.connect(url) as other:
            other.execute("SELECT FROM tape WHERE name = 't' FOR UPDATE")
            group.start_soon(store.commit, both)
            patience = Patience("the other commit waits for the lock")
            while rows(url, waiting) == [(0,)]:
                await patience.pause()
            other.execute("SELECT FROM tape WHERE name = 'v' FOR UPDATE NOWAIT")


async def test_one_key_of_two_processes_is_written_once(url: str) -> None:
    async with opened(url, 2) as stores:
        written: list[list[Entry]] = []

        async def write(store: PostgresStore, key: str) -> None:
            written.append(await store.append("t", [said(key)], key))

        for number in range(20):
            async with anyio.create_task_group() as group:
                for store in (*stores, *stores):
                    group.start_soon(write, store, f"k{number}")
        assert await texts(stores[0]) == [f"k{number}" for number in range(20)]
        assert len({(block[0].id, block[0].text) for block in written}) == 20


async def test_an_import_and_an_append_of_another_process_do_not_mix(url: str) -> None:
    async with opened(url, 2) as (here, there):
        await here.append("t", [said("first")])
        size = await here.size("t")
        many = Batch(lambda: (said(f"old {n}") for n in range(size + 3000)), size, 3000)
        refused: list[TapeMismatch] = []

        async def bring() -> None:
            try:
                await here.append_batch("t", many)
            except TapeMismatch as cause:
                refused.append(cause)

        async with anyio.create_task_group() as group:
            group.start_soon(bring)
            for _ in range(20):
                await there.append("t", [said("new")])
        found = await texts(there)
        place = [number for number, text in enumerate(found) if text.startswith("old")]
        assert len(place) == (0 if refused else 3000)
        assert not place or place == list(range(place[0], place[0] + 3000))
        assert await there.size("t") == size + len(place) + 20


async def test_two_processes_that_erase_parts_of_one_entry_bring_nothing_back(url: str) -> None:
    async with opened(url, 2) as stores:
        for number in range(10):
            (entry,) = await stores[0].append("t", [said("plum and pear, and a fig")])
            part = replace(entry, payload={"role": "user", "content": f"plum and pear {number}"})

            async def erase(store: PostgresStore, left: Entry) -> None:
                with suppress(AppendRefused):  # it would add words
                    await store.erase("t", [left])

            async with anyio.create_task_group() as group:
                group.start_soon(erase, stores[0], tombstone(entry, "2026-01-31"))
                group.start_soon(erase, stores[1], part)
            assert await texts(stores[0]) == [""] * (number + 1)


# The index.


def covered(url: str) -> list[tuple[Any, ...]]:
    return rows(url, "SELECT low, high FROM search_covered ORDER BY tape")


async def until_covered(url: str, wanted: list[tuple[int, int]]) -> None:
    patience = Patience("the entries are indexed")
    while covered(url) != wanted:
        await patience.pause()


async def test_two_processes_share_the_work_of_indexing(url: str) -> None:
    names = [f"t{number}" for number in range(6)]
    async with opened(url) as (store,):
        for name in names:
            await store.append(name, [said(f"plum {number}") for number in range(PAGE + 100)])
    async with opened(url, 2) as stores:
        async with anyio.create_task_group() as group:
            for store in stores:
                group.start_soon(store.indexed)
        assert covered(url) == [(1, PAGE + 102)] * 6
        for store in stores:
            assert len(await Tape(store, "t3").search("plum", limit=9999)) == PAGE + 100


async def test_a_tape_that_another_process_indexes_is_left_to_it_until_it_is_done(url: str) -> None:
    async with opened(url, measures=PostgresMeasures(gather_seconds=0.0)) as (store,):
        for name in ("t0", "t1"):
            await store.append(name, [said("plum")])
        await store.indexed()
        with psycopg.connect(url) as other:
            other.execute("SELECT FROM search_covered ORDER BY tape LIMIT 1 FOR UPDATE")
            for name in ("t0", "t1"):
                await store.append(name, [said("pear")])
            await until_covered(url, [(1, 3), (1, 4)])
        await store.indexed()
        assert covered(url) == [(1, 4), (1, 4)]


async def test_what_an_ended_process_left_is_indexed_by_whoever_searches_it(url: str) -> None:
    async with opened(url, 2) as (gone, store):
        await store.indexed()
        await gone.append("t", [said(f"plum {number}") for number in range(NEWEST + 100)])
        await gone.close()
        assert covered(url) == []
        assert len(await Tape(store, "t").search("plum", limit=5)) == 5
        await until_covered(url, [(1, NEWEST + 102)])


async def test_an_index_that_a_newer_process_has_made_by_its_rules_is_left_to_it(url: str) -> None:
    async with opened(url, measures=PostgresMeasures(gather_seconds=0.0)) as (store,):
        (entry,) = await store.append("t", [said("plum")])
        await store.indexed()
        rows(url, "UPDATE search_covered SET rules = '9'")
        await store.append("t", [said("plum once more")])
        patience = Patience("the index is ready")
        while not store.search_state().ready:
            await patience.pause()
        assert rows(url, "SELECT rules, high FROM search_covered") == [("9", 3)]
        assert len(await Tape(store, "t").search("plum")) == 2
        await store.erase("t", [tombstone(entry, "2026-01-31")])
        assert rows(url, "SELECT count(*) FROM search_entry WHERE id = 3") == [(0,)]


async def test_many_erasures_at_once_do_not_wait_for_each_other_s_connections(url: str) -> None:
    async with opened(url) as (store,):
        for number in range(30):
            await store.append(f"t{number}", [said("plum")])
        await store.indexed()
        with anyio.fail_after(8):
            async with anyio.create_task_group() as group:
                for number in range(30):
                    group.start_soon(store.forget, f"t{number}", [3])


async def test_erased_words_are_also_purged_from_what_stands_beside_the_tapes(url: str) -> None:
    async with opened(url) as (store,):
        await store.purge()
        lacking = "SELECT relname FROM pg_stat_user_tables WHERE last_vacuum IS NULL"
        assert rows(url, lacking) == []


async def test_nobody_waits_for_the_purge_of_what_was_erased_nor_does_it_for_them(url: str) -> None:
    with psycopg.connect(url) as other:
        rows(url, f"ALTER DATABASE {other.info.dbname} SET lock_timeout = '1s'")
        async with opened(url) as (store,):
            (entry,) = await store.append("t", [said("plum")], "key")
            other.execute("SELECT FROM entry")  # its transaction stays open
            await store.erase("t", [tombstone(entry, "2026-01-31")])
            await store.purge()
            other.execute("SELECT FROM inbox, session, tape")


async def test_the_server_finds_out_soon_that_a_process_is_cut_off(url: str) -> None:
    database = await to_thread.run_sync(PostgresDatabase.open, url, [])
    try:
        async with database.connection() as connection:
            found = await (await connection.execute("SHOW tcp_keepalives_idle")).fetchone()
    finally:
        await database.close()
    assert found == ("15",)
