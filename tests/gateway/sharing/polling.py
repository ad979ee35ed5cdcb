"""A bus over one database, and a change on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import anyio
import psycopg
import pytest

from gateway.clock import SystemClock
from gateway.sharing.bus import Bus
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.store import SharedStore, UnitStore
from tape.stores.registry import open_store
from tests.kit.kept_databases import kept_database


@pytest.fixture
def url() -> Iterator[str]:
    with kept_database() as url:
        yield url


@pytest.fixture
async def store(url: str) -> AsyncIterator[UnitStore]:
    store = open_store(url, [ledger_schema("postgres"), sharing_schema()])
    yield store
    await store.close()


def bus_of(store: UnitStore) -> Bus:
    """Return the bus of a process over a store."""
    assert isinstance(store, SharedStore)
    return Bus(store, SystemClock(), partial(store.listen, ""))


async def until(wanted: Any) -> None:
    """Wait for what goes over sockets; how long is no promise."""
    with anyio.fail_after(30):
        while not wanted():  # noqa: ASYNC110 - a database has no event
            await anyio.sleep(0.005)


def change(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.encode())
