"""A bus over one database, and a change on it."""

from __future__ import annotations

from functools import partial
from typing import Any

import psycopg

from gateway.clock import SystemClock
from gateway.sharing.bus import Bus
from tape.store import SharedStore, UnitStore
from tests.kit.waiting import Patience


def bus_of(store: UnitStore) -> Bus:
    """Return the bus of a process over a store."""
    assert isinstance(store, SharedStore)
    return Bus(store, SystemClock(), partial(store.listen, ""))


async def until(wanted: Any) -> None:
    """Wait for what goes over sockets; how long is no promise."""
    patience = Patience("what the test asks for is so")
    while not wanted():
        await patience.pause()


def change(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.encode())
