"""What a room costs that nobody hears, and what is heard if the database is away just then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from channels.room.hub import Json
from channels.room.routes import ERASED
from channels.room.session import OWNER
from gateway.settings.intervals import INTERVALS
from gateway.sharing.rooms.shared_hub import SharedHub
from gateway.sharing.rooms.shared_rooms import EVENT_SECONDS, RETRY_SECONDS, SharedRooms
from tape.entry import load
from tape.errors import StoreUnavailable
from tape.unit_of_work import Outcome, Row, Run, Unit
from tests.channels.room.hubs import nothing_taped
from tests.gateway.sharing.silence import EmptyStore, Silence
from tests.kit.clock import ManualClock


class AwayStore(EmptyStore):
    """A database that is away at times, and what is written to it of rooms."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False
        self.written: list[str] = []

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]:
        if self.away:
            raise StoreUnavailable("the server restarts")
        return await super().select(statement, values, long=long)

    async def commit(self, unit: Unit) -> list[Outcome]:
        if self.away:
            raise StoreUnavailable("the server restarts")
        for step in unit.steps:
            if isinstance(step, Run) and "changes" in step.values:
                self.written += [one["data"] for one in load(step.values["changes"])]
        return []


def heard(events: MemoryObjectReceiveStream[Json]) -> list[Json]:
    """Return what has come so far."""
    found = []
    while events.statistics().current_buffer_used:
        found.append(events.receive_nowait())
    return found


async def test_what_is_erased_is_written_once_the_database_is_back_and_other_events_are_not() -> (
    None
):
    store, clock = AwayStore(), ManualClock()
    rooms = SharedRooms(store, clock, Silence(), "aa", INTERVALS)
    hub = SharedHub(rooms, "web", nothing_taped)
    store.away = True
    for kind in (ERASED, "pressed"):
        hub.publish("lobby", {"type": kind})
    await rooms.write()
    store.away = False
    await rooms.write()
    assert [load(data) for data in store.written] == [{"type": ERASED}]
    await store.close()


async def test_the_past_is_shown_once_more_if_an_erasure_may_have_been_missed() -> None:
    store, clock = AwayStore(), ManualClock()
    rooms = SharedRooms(store, clock, Silence(), "aa", INTERVALS)
    hub = SharedHub(rooms, "web", nothing_taped)
    async with anyio.create_task_group() as group:
        group.start_soon(rooms.run)
        async with hub.listen("lobby", OWNER) as events:
            for away, expected in ((EVENT_SECONDS - 5, []), (EVENT_SECONDS + 5, [ERASED])):
                await clock.advance(5)
                store.away = True
                await clock.advance(away)
                store.away = False
                await clock.advance(2 * RETRY_SECONDS)
                assert [event["type"] for event in heard(events)] == expected
        group.cancel_scope.cancel()
    await store.close()


class Viewer:
    """Shows a room to somebody who only listens."""

    async def begin(self, room: str) -> None: ...

    def fill(self, room: str, rows: object) -> None: ...

    async def show(self, room: str, rows: object, over: object, *, tape: bool) -> None: ...

    def missed(self, room: str) -> None: ...

    def forget(self, room: str) -> None: ...

    def dismissed(self, person_id: str) -> None: ...


async def test_rooms_are_looked_at_each_second_only_while_somebody_listens() -> None:
    store, clock = EmptyStore(), ManualClock()
    rooms = SharedRooms(store, clock, Silence(), "aa", INTERVALS)
    rooms.viewers["web"] = Viewer()
    async with anyio.create_task_group() as group:
        group.start_soon(rooms.run)
        await clock.advance(50)
        assert store.asked <= 11
        async with rooms.following("web", "lobby"):
            before = store.asked
            await clock.advance(10)
            assert store.asked - before >= 10
        group.cancel_scope.cancel()
    await store.close()
