"""The tape as its users hold it: reads that cost what they return, and appends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tape.deleted import deleted, words_of
from tape.entry import ANCHOR, MESSAGE, Entry, NewEntry, handoff
from tape.errors import NotFound
from tape.query import Query
from tape.store import TapeStore


class Tape:
    """One tape of a store. Ids are those of the store; a fork's are provisional."""

    def __init__(self, store: TapeStore, name: str) -> None:
        self.store = store
        self.name = name

    async def append(self, *entries: NewEntry, key: str | None = None) -> list[Entry]:
        """Put entries at the end, as one block."""
        return await self.store.append(self.name, entries, key)

    async def handoff(self, name: str, state: dict[str, Any] | None = None, **meta: Any) -> Entry:
        """Append an anchor and the event that tells of it; returns the anchor."""
        anchor, _told = await self.append(*handoff(name, state, **meta))
        return anchor

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query on this tape, whatever tape it names."""
        return await self.store.query(replace(query, tape=self.name))

    async def size(self) -> int:
        """Return how many entries there are."""
        return await self.store.size(self.name)

    async def find(self, **conditions: Any) -> list[Entry]:
        """Answer a query given by its conditions (see `Query`)."""
        return await self.query(Query(self.name, **conditions))

    async def read(self) -> list[Entry]:
        """Return every entry; on a long tape ask for less."""
        return await self.find()

    async def recent(self, limit: int) -> list[Entry]:
        """Return the newest entries, oldest of them first."""
        return await self.find(limit=limit, newest=True)

    async def entries(self, ids: Sequence[int]) -> dict[int, Entry]:
        """Return entries by their ids; unknown ones are absent."""
        if not ids:
            return {}
        found = await self.find(ids=tuple(ids))
        return {entry.id: entry for entry in found}

    async def anchors(self, limit: int | None = None) -> list[Entry]:
        """Return the anchors (the newest `limit` of them) in tape order."""
        return await self.find(kinds=(ANCHOR,), limit=limit, newest=limit is not None)

    async def last_anchor(
        self, name: str | None = None, lane: str | None = None, before: int | None = None
    ) -> Entry | None:
        """Return the latest anchor (before an id); with a lane, its own or a tape-wide one."""
        found = await self.find(
            kinds=(ANCHOR,),
            name=name,
            lane=lane,
            unlaned=lane is not None,
            before=before,
            limit=1,
            newest=True,
        )
        return found[0] if found else None

    async def after(self, name: str | None = None, limit: int | None = None) -> list[Entry]:
        """Return what follows the latest anchor of a name (or the latest of all), without it."""
        start = await self.anchor(name) if name else await self.last_anchor()
        return await self.find(after=start.id if start else 0, limit=limit)

    async def between(self, first: str, second: str) -> list[Entry]:
        """Return what stands between the latest `first` and the next `second`, without both."""
        start = await self.anchor(first)
        found = await self.find(kinds=(ANCHOR,), name=second, after=start.id, limit=1)
        if not found:
            raise NotFound(second, await self._names())
        return await self.find(after=start.id, before=found[0].id)

    async def search(self, text: str, limit: int = 20) -> list[Entry]:
        """Return the newest entries that say a text, whatever its case, newest first.

        What was deleted says nothing any more.
        """
        if not text.strip():
            return []
        wanted: dict[str, Any] = {"kinds": (MESSAGE, ANCHOR), "text": text.strip()}
        hits = await self.find(**wanted, limit=limit, newest=True)
        gone = await deleted(self) if hits else set()
        if any(words_of(entry) in gone for entry in hits):
            # Its prompt may say again what a deleted message said.
            hits = await self.find(**wanted, limit=limit + 2 * len(gone), newest=True)
        return [entry for entry in reversed(hits) if words_of(entry) not in gone][:limit]

    async def anchor(self, name: str) -> Entry:
        """Return the latest anchor of a name; raises NotFound with the nearest names."""
        found = await self.last_anchor(name)
        if found is None:
            raise NotFound(name, await self._names())
        return found

    async def _names(self) -> list[str]:
        return sorted({entry.name for entry in await self.anchors(limit=1000) if entry.name})
