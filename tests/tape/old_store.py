"""A tape from before stores refused what views cannot show."""

from __future__ import annotations

from collections.abc import Sequence

from tape.entry import Entry, NewEntry, numbered
from tape.query import Query
from tape.store import TapeInfo

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
