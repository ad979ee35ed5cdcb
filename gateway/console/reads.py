"""Read the store for the screens of the console."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.services import Services
from tape.handle import Tape
from tape.unit_of_work import Row


@dataclass(frozen=True, slots=True)
class ConsoleReads:
    """Reads rows and tapes, apart from what chats wait for."""

    _services: Services

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named SELECT statement."""
        return await self._services.store.select(statement, values, long=True)

    def tape(self, name: str) -> Tape:
        """Return a tape as its readers may see it."""
        return self._services.tapes.tape(name)
