"""A search on a tape, from a person's text to the entries that may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from tape.deletions import MESSAGE_DELETE, words_of
from tape.entry import EVENT, Entry
from tape.query import Query
from tape.search.bm25 import MAX_RANKED, best_first, scores
from tape.search.fusion import fused
from tape.search.query_text import SearchQuery
from tape.search.scan import scan_there, scanning
from tape.store import TapeStore

MIN_PAGE: Final = 20
HITS_WITH_NEIGHBOURS: Final = 3
"""So many of the best hits bring their neighbours, where meaning found some of them."""


@runtime_checkable
class SearchStore(Protocol):
    """A store with an index of its words.

    `search` answers what a scan of the query would: the newest hits, newest first, entries of this
    moment included. While an index is being made it may leave out what lies far back.
    """

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Return the newest entries of the query that say what is wanted."""
        ...


class NearestSearch(Protocol):
    """What finds entries by their meaning (`tape.search.semantic.Meaning`)."""

    async def nearest(self, query: Query, text: str, limit: int) -> list[tuple[Entry, float]]:
        """Return the entries of the query that mean nearly the same, each with its score."""
        ...


class SearchedTape(Protocol):
    """A tape, as far as a search needs one."""

    async def hits(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Return the newest entries of the query that say what is wanted and may be shown."""
        ...

    async def near(self, query: Query, text: str) -> list[tuple[Entry, float]]:
        """Return the entries of the query that mean nearly the same and may be shown."""
        ...

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query."""
        ...

    async def shown(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return those whose words were not deleted."""
        ...


async def search(tape: SearchedTape, text: str, query: Query, *, rank: bool) -> list[Entry]:
    """Return what says a text: the newest first, or the best of the newest with `rank`."""
    wanted = SearchQuery.read(text)
    limit = query.limit or 0
    if not wanted or limit <= 0:
        return []
    if not rank:
        return await tape.hits(query, wanted)
    window = await tape.hits(replace(query, limit=max(limit, MAX_RANKED)), wanted)
    near = await tape.near(replace(query, limit=max(limit, MIN_PAGE)), text)
    if not near:
        return (await best_first(window, wanted))[:limit]
    by_words = zip(window, await scores(window, wanted), strict=True)
    order = fused({entry.id: score for entry, score in by_words}, {e.id: s for e, s in near})
    found = {entry.id: entry for entry in (*window, *(entry for entry, _ in near))}
    return await _with_neighbours(tape, query, [found[number] for number in order[:limit]])


async def _with_neighbours(tape: SearchedTape, query: Query, found: Sequence[Entry]) -> list[Entry]:
    """Put the message before and the one after each of the best hits behind it."""
    placed: dict[int, Entry] = {}
    for place, entry in enumerate(found):
        placed.setdefault(entry.id, entry)
        if place < HITS_WITH_NEIGHBOURS:
            before = await tape.query(replace(query, before=entry.id, limit=1, newest=True))
            after = await tape.query(replace(query, after=entry.id, limit=1))
            for neighbour in await tape.shown([*before, *after]):
                placed.setdefault(neighbour.id, neighbour)
    return list(placed.values())[: query.limit]


async def shown_hits(store: TapeStore, query: Query, wanted: SearchQuery) -> list[Entry]:
    """Return the newest hits on a store's tape, without those whose words were deleted."""
    found: list[Entry] = []
    limit = query.limit or 0
    while len(found) < limit:
        size = max(limit - len(found), MIN_PAGE)
        page = await _hits_of(store, replace(query, limit=size), wanted)
        found += await shown_entries(store, query.tape, page)
        if len(page) < size:
            break
        query = replace(query, before=page[-1].id)
    return found[:limit]


async def _hits_of(store: TapeStore, query: Query, wanted: SearchQuery) -> list[Entry]:
    """Ask a store's index, or look through its entries where it has none."""
    if isinstance(store, SearchStore):
        return await store.search(query, wanted)
    return (await scan_there(scanning(query, wanted), store.query)).hits


async def shown_entries(store: TapeStore, tape: str, page: Sequence[Entry]) -> list[Entry]:
    """Return the entries of a store's tape whose words were not deleted."""
    said = [number for entry in page if (number := _words_of(entry)) is not None]
    if not said:
        return list(page)
    told = Query(tape, after=min(said), about=tuple(dict.fromkeys(said)), name=MESSAGE_DELETE)
    gone = {event.payload["data"]["entry"] for event in await store.query(told)}
    return [entry for entry in page if _words_of(entry) not in gone]


def _words_of(entry: Entry) -> int | None:
    """Return the message whose words an entry repeats, an edit's event among them."""
    if entry.kind != EVENT:
        return words_of(entry)
    data = entry.payload.get("data")
    number = data.get("entry") if isinstance(data, dict) else None
    return number if isinstance(number, int) else None
