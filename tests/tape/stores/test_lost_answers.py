"""What the PostgreSQL store does when a connection breaks during a commit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from anyio import to_thread
from psycopg import conninfo

from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import message
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import Unit
from tests.fakes.cutting_proxy import Cut, CuttingProxy
from tests.postgres import fresh_database

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]

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
