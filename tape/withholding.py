"""Read tapes without the entries of threads that must not be shown to others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tape.entry import Entry, NewEntry
from tape.linking.utterance import THREAD
from tape.query import Query, subject_of
from tape.search.query_text import SearchQuery
from tape.search.search import ForgettingSearch, NearestSearch, hits_of
from tape.store import TapeInfo, TapeStore

PAGE: Final = 200  # minimum entries to read at once behind entries that were withheld


@dataclass(slots=True)
class WithheldThreads:
    """The withheld threads of a tape, by their ids.

    entries, turns  map entries and turns to their thread, since not every entry names its thread
    """

    threads: set[str] = field(default_factory=set)
    entries: dict[int, str] = field(default_factory=dict)
    turns: dict[str, str] = field(default_factory=dict)

    def hides(self, entry: Entry) -> bool:
        """Return whether an entry was written in a withheld thread, or is about such an entry."""
        lane, turn, thread = (str(entry.meta.get(name)) for name in ("lane", "turn", "thread"))
        about = subject_of(entry)
        places = (
            thread,
            lane.removeprefix(THREAD) if lane.startswith(THREAD) else None,
            self.turns.get(turn),
            self.entries.get(entry.id),
            self.entries.get(int(about)) if about is not None else None,
        )
        return not self.threads.isdisjoint(places)


class WithholdingStore:
    """A tape store whose answers leave out what is withheld; everything is still written."""

    def __init__(self, store: TapeStore) -> None:
        self._store = store
        self.durable = store.durable
        self.tapes_with: dict[str, WithheldThreads] = {}

    def withheld(self, tape: str) -> WithheldThreads:
        """Return what is withheld of a tape, to be changed in place."""
        return self.tapes_with.setdefault(tape, WithheldThreads())

    def over(self, store: TapeStore) -> WithholdingStore:
        """Return the same for another way to read the same tapes; both know what is withheld."""
        other = WithholdingStore(store)
        other.tapes_with = self.tapes_with
        return other

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        return await self._store.append(tape, entries, key)

    async def query(self, query: Query) -> list[Entry]:
        found = await self._shown(query, self._store.query, backwards=query.newest)
        return sorted(found, key=lambda entry: entry.id)

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        async def hits(asked: Query) -> list[Entry]:
            return await hits_of(self._store, asked, wanted)

        return await self._shown(query, hits, backwards=True)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        return await self._store.tapes(prefix)

    async def size(self, tape: str) -> int:
        return await self._store.size(tape)

    async def close(self) -> None:
        await self._store.close()

    async def _shown(
        self, query: Query, ask: Callable[[Query], Awaitable[list[Entry]]], *, backwards: bool
    ) -> list[Entry]:
        """Return the shown entries that match, reading on until there are enough of them."""
        hidden = self.tapes_with.get(query.tape)
        if hidden is None or not hidden.threads:
            return await ask(query)
        found: list[Entry] = []
        limit, asked = query.limit, query
        while True:
            page = await ask(asked)
            kept = [entry for entry in page if not hidden.hides(entry)]
            found += sorted(kept, key=lambda entry: entry.id, reverse=backwards)
            if limit is None or len(found) >= limit or len(page) < (asked.limit or 1):
                return found[:limit]
            ids = [entry.id for entry in page]
            after, before = (asked.after, min(ids)) if backwards else (max(ids), asked.before)
            asked = replace(asked, after=after, before=before, limit=max(limit, PAGE))


class WithholdingSearch:
    """A search by meaning whose hits leave out what a store withholds."""

    def __init__(self, semantic: NearestSearch, store: WithholdingStore) -> None:
        self._semantic = semantic
        self._store = store

    async def nearest(self, query: Query, text: str, limit: int) -> list[tuple[Entry, float]]:
        found = await self._semantic.nearest(query, text, limit)
        hidden = self._store.tapes_with.get(query.tape, WithheldThreads())
        return [hit for hit in found if not hidden.hides(hit[0])]

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Remove what is kept of entries, the withheld ones included."""
        if isinstance(self._semantic, ForgettingSearch):
            await self._semantic.forget(tape, ids)
