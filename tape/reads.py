"""Read a tape; the cost depends on the size of the result, not on that of the tape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tape.entry import ANCHOR, Entry
from tape.errors import NotFound
from tape.lanes import holds_in
from tape.query import MAX_NAMES, Query
from tape.query_builder import TapeQuery
from tape.store import TapeStore


class Reads:
    """The methods that read a tape, from which views are built."""

    def __init__(self, store: TapeStore, name: str) -> None:
        self.store = store
        self.name = name

    @property
    def query(self) -> TapeQuery:
        """A query of all entries, to narrow by conditions and read with `all`."""
        return TapeQuery(self.run_query, Query(self.name))

    async def run_query(self, query: Query) -> list[Entry]:
        """Answer a query on this tape, even if the query names another tape."""
        own = query if query.tape == self.name else replace(query, tape=self.name)
        return await self.store.query(own)

    async def size(self) -> int:
        return await self.store.size(self.name)

    async def find(self, **conditions: Any) -> list[Entry]:
        """Return the entries that meet all conditions (see `Query`)."""
        return await self.run_query(Query(self.name, **conditions))

    async def read(self) -> list[Entry]:
        """Return every entry; on a long tape, use `find` or `recent` instead."""
        return await self.find()

    async def recent(self, limit: int) -> list[Entry]:
        """Return the newest `limit` entries in tape order."""
        return await self.find(limit=limit, newest=True)

    async def entries(self, ids: Sequence[int]) -> dict[int, Entry]:
        """Map ids to entries, without unknown ids."""
        if not ids:
            return {}
        found = await self.find(ids=tuple(ids))
        return {entry.id: entry for entry in found}

    async def anchors(self, limit: int | None = None) -> list[Entry]:
        """Return the anchors, or the newest `limit` of them, in tape order."""
        return await self.find(kinds=(ANCHOR,), limit=limit, newest=limit is not None)

    async def last_anchor(
        self, name: str | None = None, lane: str | None = None, before: int | None = None
    ) -> Entry | None:
        """Return the latest anchor of a name, or the latest that holds in a lane or in the chat.

        In a lane, those of that lane and those of none hold; `tape.lanes` has the exceptions.
        """
        while True:
            found = await self.find(
                kinds=(ANCHOR,),
                name=name,
                lane=lane,
                unlaned=lane is not None,
                before=before,
                limit=1,
                newest=True,
            )
            if not found or name is not None or holds_in(found[0], lane):
                return found[0] if found else None
            before = found[0].id

    async def after(self, name: str | None = None, limit: int | None = None) -> list[Entry]:
        """Return the entries after the latest anchor (of the name, if given); raises NotFound."""
        if name is not None:
            return await self.find(after_anchor=name, limit=limit)
        start = await self.last_anchor()
        return await self.find(after=start.id if start else 0, limit=limit)

    async def between(self, first: str, second: str) -> list[Entry]:
        """Return the entries between the latest anchor `first` and the next `second`, or raise
        NotFound."""
        return await self.find(after_anchor=first, before_anchor=second)

    async def anchor(self, name: str) -> Entry:
        """Return the latest anchor of a name; raises NotFound with similar names."""
        found = await self.last_anchor(name)
        if found is None:
            known = await self.anchors(limit=MAX_NAMES)
            raise NotFound(name, sorted({entry.name for entry in known if entry.name}))
        return found
