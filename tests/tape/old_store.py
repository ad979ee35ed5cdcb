"""Tapes from before stores refused what views cannot show."""

from __future__ import annotations

from collections.abc import Sequence

from tape.entry import Entry, NewEntry, numbered
from tape.query import Query
from tape.store import TapeInfo, TapeStore
from tape.stores.memory import MemoryStore

DATE = "2026-01-02T03:04:05.000000+00:00"


class OldStore:
    """A store of one tape, which took everything."""

    durable = False

    def __init__(self, *batch: NewEntry) -> None:
        self._entries = numbered(batch, 0, DATE)

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        written = numbered(entries, len(self._entries), DATE)
        self._entries += written
        return written

    async def query(self, query: Query) -> list[Entry]:
        return query.pick(self._entries)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        return []

    async def size(self, tape: str) -> int:
        return len(self._entries)

    async def close(self) -> None: ...


class PartlyOldStore:
    """A store of today, one tape of which (whose name contains `part`) is old."""

    durable = False

    def __init__(self, old: OldStore, part: str) -> None:
        self._tapes = MemoryStore()
        self._old = old
        self._part = part

    def _of(self, tape: str) -> TapeStore:
        return self._old if self._part in tape else self._tapes

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        return await self._of(tape).append(tape, entries, key)

    async def query(self, query: Query) -> list[Entry]:
        return await self._of(query.tape).query(query)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        return await self._tapes.tapes(prefix)

    async def size(self, tape: str) -> int:
        return await self._of(tape).size(tape)

    async def close(self) -> None:
        await self._tapes.close()
