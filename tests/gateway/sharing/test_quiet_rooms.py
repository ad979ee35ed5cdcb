"""What a process asks of the database about rooms in which nobody listens."""

from __future__ import annotations

import anyio

from gateway.settings.intervals import INTERVALS
from gateway.sharing.rooms.shared_rooms import SharedRooms
from tests.gateway.sharing.silence import EmptyStore, Silence
from tests.kit.clock import ManualClock


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
