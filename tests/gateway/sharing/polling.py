"""A bus over one database, and a change on it."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import psycopg

from gateway.clock import SystemClock
from gateway.sharing.bus import Bus
from tape.store import SharedStore, UnitStore


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
