"""A search on a tape, from a person's text to the entries that may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from tape.deleted import MESSAGE_DELETE, words_of
from tape.entry import EVENT, Entry
from tape.query import Query
from tape.search.rank import RANKED, best_first
from tape.search.scan import scan_there, scanning
from tape.search.wanted import Wanted
from tape.store import TapeStore

LEAST_PAGE: Final = 20


@runtime_checkable
class SearchStore(Protocol):
    """A store with an index of its words.

    `search` answers what a scan of the query would: the newest hits, newest first, entries of this
    moment included. While an index is being made it may leave out what lies far back.
    """

    async def search(self, query: Query, wanted: Wanted) -> list[Entry]:
        """Return the newest entries of the query that say what is wanted."""
        ...


class SearchedTape(Protocol):
    """A tape, as far as a search needs one."""

    async def hits(self, query: Query, wanted: Wanted) -> list[Entry]:
        """Return the newest entries of the query that say what is wanted and may be shown."""
        ...


async def search(tape: SearchedTape, text: str, query: Query, *, rank: bool) -> list[Entry]:
    """Return what says a text: the newest first, or the best of the newest with `rank`."""
    wanted = Wanted.read(text)
    limit = query.limit or 0
    if not wanted or limit <= 0:
        return []
    if not rank:
        return await tape.hits(query, wanted)
    window = await tape.hits(replace(query, limit=max(limit, RANKED)), wanted)
    return (await best_first(window, wanted))[:limit]


async def shown_hits(store: TapeStore, query: Query, wanted: Wanted) -> list[Entry]:
    """Return the newest hits on a store's tape, without those whose words were deleted."""
    found: list[Entry] = []
    limit = query.limit or 0
    while len(found) < limit:
        size = max(limit - len(found), LEAST_PAGE)
        page = await _hits_of(store, replace(query, limit=size), wanted)
        found += await _shown(store, query.tape, page)
        if len(page) < size:
            break
        query = replace(query, before=page[-1].id)
    return found[:limit]


async def _hits_of(store: TapeStore, query: Query, wanted: Wanted) -> list[Entry]:
    """Ask a store's index, or look through its entries where it has none."""
    if isinstance(store, SearchStore):
        return await store.search(query, wanted)
    return (await scan_there(scanning(query, wanted), store.query)).hits


async def _shown(store: TapeStore, tape: str, page: Sequence[Entry]) -> list[Entry]:
    said = [number for entry in page if (number := _words_of(entry)) is not None]
    if not said:
        return list(page)
    told = Query(tape, after=min(said), kinds=(EVENT,), name=MESSAGE_DELETE)
    gone = {event.payload["data"]["entry"] for event in await store.query(told)}
    return [entry for entry in page if _words_of(entry) not in gone]


def _words_of(entry: Entry) -> int | None:
    """Return the message whose words an entry repeats, an edit's event among them."""
    if entry.kind != EVENT:
        return words_of(entry)
    data = entry.payload.get("data")
    number = data.get("entry") if isinstance(data, dict) else None
    return number if isinstance(number, int) else None
