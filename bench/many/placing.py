"""What a gateway has accepted and placed, read from its database, beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from bench.stage import LONGEST

# The first condition is the index's; without it, SQLite reads every row.
_WAIT: Final = """
SELECT count(*) FROM inbox
WHERE status IN ('accepted', 'waiting', 'taken') AND status = 'accepted'
"""
_SINCE: Final = "SELECT count(*) FROM inbox WHERE id > ?"
_TAPES: Final = "SELECT count(*) FROM tape"
_NEWEST: Final = "SELECT coalesce(max(id), 0) FROM inbox"


class Placing:
    """Counts the messages of a gateway's inbox; rows get on their tapes in any order.

    What is accepted counts from the row after `before`, or else from now on.
    """

    def __init__(self, home: Path, before: int | None = None) -> None:
        self._database = str(home / "tapeway.db")
        self._before = self._read(_NEWEST) if before is None else before

    def begin(self) -> None:
        """Count what is accepted from now on."""
        self._before = self._read(_NEWEST)

    def accepted(self) -> int:
        """Return how many rows were accepted since."""
        return self._read(_SINCE, self._before)

    def tapes(self) -> int:
        """Return how many tapes there are."""
        return self._read(_TAPES)

    def waiting(self) -> int:
        """Return how many rows, of any time, are accepted and not placed."""
        return self._read(_WAIT)

    def placed(self) -> int:
        """Return how many rows that were accepted since are placed, where none waited before."""
        return self.accepted() - self.waiting()

    async def all_accepted(self, count: int, every: float = 0.005) -> float:
        """Wait until so many rows were accepted since; returns the moment."""
        return await self._until(count, self.accepted, every)

    async def all_placed(self, count: int, every: float = 0.005) -> float:
        """Wait until so many rows were accepted since, and all are placed; returns the moment."""
        return await self._until(count, self.placed, every)

    async def _until(self, count: int, found: Callable[[], int], every: float) -> float:
        most, until = -1, time.monotonic() + LONGEST
        while time.monotonic() < until:
            now = found()
            if now >= count:
                return time.monotonic()
            if now > most:
                most, until = now, time.monotonic() + LONGEST
            await asyncio.sleep(every)
        raise RuntimeError(f"{most} of {count} messages, and no more for {LONGEST:g} s")

    def _read(self, sql: str, *values: int) -> int:
        connection = apsw.Connection(self._database, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(10_000)
            return int(connection.execute(sql, values).get)
        finally:
            connection.close()
