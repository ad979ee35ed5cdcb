"""What the PostgreSQL store does when a connection breaks during a commit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import anyio
import psycopg
import pytest
from anyio import to_thread
from psycopg import conninfo

from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import message
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.stores.postgres.lost_answer import NUMBER
from tape.stores.postgres.measures import MEASURES, PostgresMeasures
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import Unit
from tests.fakes.cutting_proxy import Cut, CuttingProxy
from tests.postgres import Server, fresh_database
from tests.postgres import server as running_server

pytestmark = pytest.mark.postgresql

LATE: Final = ("synchronous_commit=on", "wal_writer_delay=10s")
"""The log gets what a transaction did when it is committed, and not before."""

SAID, AGAIN = message("user", "a"), message("user", "b")


@asynccontextmanager
async def cut_at_the_next_commit(cut: Cut) -> AsyncIterator[PostgresStore]:
    """Open a store with one message, behind a proxy that cuts the next commit."""
    with fresh_database() as url:
        port = str(conninfo.conninfo_to_dict(url)["port"])
        async with CuttingProxy(int(port)) as proxy:
            there = url.replace(f":{port}/", f":{proxy.port}/")
            schemas = [ledger_schema("postgres")]
            store = await to_thread.run_sync(partial(PostgresStore.open, there, schemas))
            await store.append("t", [SAID], "first")
            proxy.cut = cut
            yield store
            assert proxy.cuts == 1
            await store.close()


async def texts(store: PostgresStore) -> list[str]:
    return [entry.text for entry in await store.query(Query("t", kinds=("message",)))]


@pytest.mark.parametrize("cut", ["before", "after"])
async def test_an_append_with_a_key_is_written_once_if_it_is_tried_again(cut: Cut) -> None:
    async with cut_at_the_next_commit(cut) as store:
        with pytest.raises(StoreUnavailable):
            await store.append("t", [AGAIN], "second")
        (written,) = await store.append("t", [AGAIN], "second")
        assert written.text == "b"
        assert await texts(store) == ["a", "b"]


async def test_of_an_append_without_a_key_the_server_says_that_it_is_written() -> None:
    async with cut_at_the_next_commit("after") as store:
        (written,) = await store.append("t", [AGAIN])
        assert (written.id, written.text) == (4, "b")
        assert await texts(store) == ["a", "b"]


async def test_of_an_append_without_a_key_the_server_says_that_it_is_not_written() -> None:
    async with cut_at_the_next_commit("before") as store:
        with pytest.raises(StoreUnavailable, match="before the write"):
            await store.append("t", [AGAIN])
        assert await texts(store) == ["a"]


async def test_of_an_append_behind_a_fence_the_server_says_that_it_is_written() -> None:
    async with cut_at_the_next_commit("after") as store:
        unit = Unit()
        values = {"account_id": "a", "chat_id": "1", "value": "7"}
        unit.run("ledger.move_cursor", expect=1, **values)
        unit.append("t", [AGAIN])
        fenced, written = await store.commit(unit)
        assert (fenced.changed, written.entries[0].text) == (1, "b")
        assert await texts(store) == ["a", "b"]


async def test_a_statement_whose_answer_was_lost_leaves_the_same_rows_when_run_again() -> None:
    async with cut_at_the_next_commit("after") as store:
        unit = Unit()
        unit.run("ledger.move_cursor", account_id="a", chat_id="1", value="7")
        with pytest.raises(StoreUnavailable):
            await store.commit(unit)
        await store.commit(unit)
        (row,) = await store.select("ledger.marks", {"channel": "a"})
        assert row["value"] == "7"


@asynccontextmanager
async def lost_in_a_crash(
    server: Server, measures: PostgresMeasures = MEASURES
) -> AsyncIterator[tuple[PostgresStore, CuttingProxy]]:
    """Open a store behind a proxy that cuts the next commit, and is away from then on."""
    url = await to_thread.run_sync(server.new_database)
    async with CuttingProxy(server.port) as proxy:
        there = url.replace(f":{server.port}/", f":{proxy.port}/")
        store = await to_thread.run_sync(partial(PostgresStore.open, there, [], measures=measures))
        await store.append("t", [SAID], "first")
        proxy.cut, proxy.away_after = "before", True
        yield store, proxy
        await store.close()


def crash(server: Server, *, transactions: int) -> None:
    """Crash a server and start it; then so many transactions are committed there."""
    server.stop("immediate")
    server.start()
    with psycopg.connect(server.url, autocommit=True) as connection:
        for _ in range(transactions):
            connection.execute(NUMBER)


@pytest.mark.parametrize("transactions", [0, 50])
async def test_a_crashed_server_does_not_take_another_transaction_for_a_lost_one(
    transactions: int,
) -> None:
    """It gives numbers once more: "committed" is then said of somebody else's transaction."""
    patient = PostgresMeasures(answer_seconds=0.05, answer_tries=10_000)
    refused: list[StoreUnavailable] = []

    async def append(store: PostgresStore) -> None:
        with pytest.raises(StoreUnavailable) as caught:
            await store.append("t", [AGAIN])
        refused.append(caught.value)

    with running_server(LATE) as server:
        async with lost_in_a_crash(server, patient) as (store, proxy):
            async with anyio.create_task_group() as group:
                group.start_soon(append, store)
                await proxy.wait_for_cut()
                await to_thread.run_sync(partial(crash, server, transactions=transactions))
                proxy.away = False
            assert await texts(store) == ["a"]
            assert "before the write" in str(refused[0])
            (written,) = await store.append("t", [AGAIN])
            assert await texts(store) == ["a", "b"]
            assert written.id == 4
