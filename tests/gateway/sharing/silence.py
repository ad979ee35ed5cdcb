"""A store that answers late or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tape.stores.memory import MemoryStore
from tape.unit_of_work import Outcome, Row, Unit


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
