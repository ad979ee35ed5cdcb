"""What a process asks of the database about rooms in which nobody listens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest

from gateway.sharing.rooms.shared_rooms import SharedRooms
from tape.stores.memory import MemoryStore
from tape.unit_of_work import Outcome, Row, Unit
from tests.clock import ManualClock

pytestmark = pytest.mark.anyio


class EmptyStore(MemoryStore):
    """A database in which nothing goes on, and how often it is asked."""

    asked = 0

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]:
        del statement, values, long
        self.asked += 1
        return []

    async def commit(self, unit: Unit) -> list[Outcome]:
        del unit
        return []


class Silence:
    """Nobody says anything."""

    def on(self, topic: str, heard: Callable[[frozenset[int]], None]) -> None:
        """Hear nothing."""

    def send(self, topic: str, *numbers: int) -> None:
        """Say it to nobody."""


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
    rooms = SharedRooms(store, clock, Silence(), "aa")
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
