"""What the PostgreSQL store does when its connections stay up, and nobody answers on them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Final

import anyio
import pytest
from anyio import to_thread
from psycopg import conninfo

from channels.clock import SystemClock
from gateway.sharing.schema import sharing_schema
from gateway.sharing.sessions import SessionTable
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from tape.entry import message
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.store import StoreLimits
from tape.stores.postgres.store import PostgresStore
from tests.fakes.cutting_proxy import CuttingProxy
from tests.postgres import fresh_database

pytestmark = pytest.mark.postgresql

LIMITS: Final = StoreLimits(answer_seconds=2.0, connections=4)


@asynccontextmanager
async def behind_a_proxy() -> AsyncIterator[tuple[PostgresStore, CuttingProxy]]:
    """Open a store with a message on each of four tapes, over as many connections."""
    with fresh_database() as url:
        port = str(conninfo.conninfo_to_dict(url)["port"])
        async with CuttingProxy(int(port)) as proxy:
            there = url.replace(f":{port}/", f":{proxy.port}/")
            schemas = [ledger_schema("postgres"), sharing_schema()]
            opened = partial(PostgresStore.open, there, schemas, limits=LIMITS)
            store = await to_thread.run_sync(opened)
            await all_at_once(store, "a")
            yield store, proxy
            await store.close()


async def all_at_once(store: PostgresStore, text: str) -> None:
    async with anyio.create_task_group() as group:
        for tape in "abcd":
            group.start_soon(store.append, tape, [message("user", text)], text)


async def texts(store: PostgresStore) -> list[str]:
    found = [await store.query(Query(tape, kinds=("message",))) for tape in "abcd"]
    return ["".join(entry.text for entry in entries) for entries in found]


async def test_what_is_lost_on_silent_connections_is_written_once_over_new_ones() -> None:
    async with behind_a_proxy() as (store, proxy):
        assert proxy.swallow() >= 2
        with pytest.raises(StoreUnavailable, match="try again"):
            await store.append("a", [message("user", "b")], "b")
        await all_at_once(store, "b")
        assert await texts(store) == ["ab"] * 4


async def test_what_is_read_of_a_silent_connection_fails_and_the_next_read_does_not() -> None:
    async with behind_a_proxy() as (store, proxy):
        assert proxy.swallow() >= 2
        with pytest.raises(StoreUnavailable, match="no answer for 2 s"):
            await store.tapes()
        assert len(await store.tapes()) == 4


async def test_a_listener_that_hears_nothing_asks_whether_the_server_is_there() -> None:
    async with behind_a_proxy() as (store, proxy):
        async with aclosing(store.listen("", ["tapeway_x"])) as heard:
            assert await anext(heard) == ("", "")
            proxy.swallow()
            with pytest.raises(StoreUnavailable, match="no answer for 2 s"):
                await anext(heard)


async def test_leases_are_renewed_within_a_third_of_them_or_not_at_all() -> None:
    async with behind_a_proxy() as (store, proxy):
        table = SessionTable(store, Ledger(store, SystemClock(), "me").inbox, "me", lease=1.0)
        await table.renew()
        proxy.swallow()
        with pytest.raises(StoreUnavailable, match="leases"):
            await table.renew()
        assert await table.renew() == ([], set())


async def test_no_more_connections_than_allowed_are_made() -> None:
    async with behind_a_proxy() as (store, proxy):
        async with anyio.create_task_group() as group:
            for number in range(40):
                group.start_soon(store.append, f"t{number}", [message("user", "c")])
        assert proxy.swallow() <= LIMITS.connections
