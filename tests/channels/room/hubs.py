"""Hubs of the same rooms: one in memory, or those of three processes over one database."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import anyio
import psycopg
from anyio.streams.memory import MemoryObjectReceiveStream

from channels.room.hub import Hub, Json, RoomHub
from gateway.clock import Clock, SystemClock
from gateway.settings.intervals import INTERVALS
from gateway.sharing.bus import Bus
from gateway.sharing.rooms.shared_hub import SharedHub
from gateway.sharing.rooms.shared_rooms import SharedRooms
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.store import SharedStore, UnitStore
from tape.stores.registry import open_store

WORKER = """
INSERT INTO worker (owner, home, role, version, place, started_at, seen_at)
VALUES (%s, '', 'all', '', '', utc_after(0), utc_after(0))
"""


@dataclass(slots=True)
class Hubs:
    """The hub where turns run, and those of two pages, with what brings them to one state."""

    worker: RoomHub
    page: RoomHub
    other: RoomHub
    shared: Sequence[SharedRooms] = ()

    async def settle(self) -> None:
        """Show everybody what has happened so far."""
        for rooms in self.shared:
            await rooms.write()
        for rooms in self.shared:
            await rooms.look()

    async def heard(self, events: MemoryObjectReceiveStream[Json]) -> list[Json]:
        """Return what has come so far."""
        await self.settle()
        found: list[Json] = []
        try:
            while True:
                found.append(events.receive_nowait())
        except (anyio.WouldBlock, anyio.EndOfStream):
            return found


def local_hubs() -> Hubs:
    """Return the hub of a process that works alone."""
    hub = Hub()
    return Hubs(hub, hub, hub)


@asynccontextmanager
async def shared_hubs(
    url: str, clock: Clock | None = None, news: Callable[..., Any] | None = None
) -> AsyncIterator[Hubs]:
    """Open a store, and yield the hubs of three processes that share its rooms."""
    store = open_store(url, [ledger_schema("postgres"), sharing_schema()])
    try:
        with workers(url, 3) as owners:
            shared = [shared_rooms(store, owner, clock) for owner in owners]
            worker, page, other = (
                SharedHub(rooms, "web", news or nothing_taped) for rooms in shared
            )
            yield Hubs(worker, page, other, shared)
    finally:
        await store.close()


def shared_rooms(store: UnitStore, owner: str, clock: Clock | None = None) -> SharedRooms:
    """Return the rooms of one process."""
    clock = clock or SystemClock()
    return SharedRooms(store, clock, bus_of(store, clock), owner, INTERVALS)


def bus_of(store: UnitStore, clock: Clock) -> Bus:
    """Return the bus of one process."""
    return Bus(store, clock, partial(cast(SharedStore, store).listen, ""))


async def nothing_taped(_room: str, after: int | None) -> tuple[int, list[Json]]:
    """Read an empty tape."""
    return after or 0, []


@contextmanager
def workers(url: str, count: int) -> Iterator[list[str]]:
    """Have processes be alive while the block runs."""
    owners = [secrets.token_hex(8) for _ in range(count)]
    with psycopg.connect(url, autocommit=True) as connection:
        for owner in owners:
            connection.execute(WORKER, (owner,))
        try:
            yield owners
        finally:
            connection.execute("DELETE FROM worker WHERE owner = ANY (%s)", (owners,))


def silence(url: str, owner: str) -> None:
    """Have a process be dead: it was last seen a minute ago."""
    with psycopg.connect(url, autocommit=True) as connection:
        sql = "UPDATE worker SET seen_at = utc_after(-60) WHERE owner = %s"
        connection.execute(sql, (owner,))
