"""Search a tape for a plain text, and return only entries that may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from tape.deletions import MESSAGE_DELETE, source_message, without_deleted
from tape.entry import EVENT, TOOL_CALL, TOOL_RESULT, Entry
from tape.query import Query, subject_of
from tape.reads import Reads
from tape.search.bm25 import best_first, fused, scores
from tape.search.edits import edits_of, with_edits
from tape.search.query_text import MAX_RANKED, SearchQuery
from tape.search.scan import scan_there, scanning
from tape.store import TapeStore

MIN_PAGE: Final = 20
HITS_WITH_NEIGHBOURS: Final = 3
"""Number of best hits that get their neighbours, if the search by meaning found any hits."""


@runtime_checkable
class SearchStore(Protocol):
    """A store with an index of words.

    `search` returns the same hits as a scan: newest first, the latest entries included. While the
    index is being built, old hits may be missing.
    """

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]: ...


class NearestSearch(Protocol):
    """Finds entries by their meaning; see `tape.search.semantic.SemanticIndex`."""

    async def nearest(self, query: Query, text: str, limit: int) -> list[tuple[Entry, float]]:
        """Return the query's entries nearest in meaning, each with its score."""


@runtime_checkable
class ForgettingSearch(NearestSearch, Protocol):
    """A search by meaning that keeps something of each entry."""

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Remove what is kept of entries: call it before and after they are erased."""


class SearchedTape(Protocol):
    """The methods of a tape that a search needs."""

    async def hits(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Return the query's newest entries that match and may be shown."""

    async def near(self, query: Query, text: str) -> list[tuple[Entry, float]]:
        """Return the query's entries nearest in meaning that may be shown."""

    async def run_query(self, query: Query) -> list[Entry]: ...

    async def shown(self, entries: Sequence[Entry]) -> list[Entry]: ...


async def search(tape: SearchedTape, text: str, query: Query, *, rank: bool) -> list[Entry]:
    """Return the newest matching entries, or with `rank` the best of the newest."""
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
    shown = await as_edited(tape, query.tape, [entry for entry, _score in near])
    by_words = zip(window, await scores(window, wanted), strict=True)
    order = fused({entry.id: score for entry, score in by_words}, {e.id: s for e, s in near})
    found = {entry.id: entry for entry in (*window, *shown)}
    return await _with_neighbours(tape, query, [found[number] for number in order[:limit]])


async def without_quotes(tape: Reads, found: Sequence[Entry]) -> list[Entry]:
    """Leave out the results that quote a deleted message."""
    return [entry for entry in found if await _may_be_found(tape, entry)]


async def _may_be_found(tape: Reads, entry: Entry) -> bool:
    if entry.kind != TOOL_RESULT:
        return True
    turn = entry.meta.get("turn")
    own = turn if isinstance(turn, str) else None
    called = await tape.find(kinds=(TOOL_CALL,), before=entry.id, turn=own, limit=1, newest=True)
    return entry in await without_deleted(tape, [*called, entry])


async def _with_neighbours(tape: SearchedTape, query: Query, found: Sequence[Entry]) -> list[Entry]:
    """Insert after each of the best hits the messages before and after it."""
    placed: dict[int, Entry] = {}
    for place, entry in enumerate(found):
        placed.setdefault(entry.id, entry)
        if place < HITS_WITH_NEIGHBOURS:
            before = await tape.run_query(replace(query, before=entry.id, limit=1, newest=True))
            after = await tape.run_query(replace(query, after=entry.id, limit=1))
            beside = await as_edited(tape, query.tape, [*before, *after])
            for neighbour in await tape.shown(beside):
                placed.setdefault(neighbour.id, neighbour)
    return list(placed.values())[: query.limit]


async def as_edited(tape: SearchedTape, name: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return a tape's entries with the newest text of their messages."""
    asked = edits_of(name, entries)
    return with_edits(entries, await tape.run_query(asked)) if asked else list(entries)


async def shown_hits(store: TapeStore, query: Query, wanted: SearchQuery) -> list[Entry]:
    """Return a store's newest hits whose text was not deleted."""
    found: list[Entry] = []
    limit = query.limit or 0
    while len(found) < limit:
        size = max(limit - len(found), MIN_PAGE)
        page = await hits_of(store, replace(query, limit=size), wanted)
        found += await shown_entries(store, query.tape, page)
        if len(page) < size:
            break
        query = replace(query, before=page[-1].id)
    return found[:limit]


async def hits_of(store: TapeStore, query: Query, wanted: SearchQuery) -> list[Entry]:
    """Return a store's newest hits, as its index finds them or a scan does."""
    if isinstance(store, SearchStore):
        return await store.search(query, wanted)
    return (await scan_there(scanning(query, wanted), store.query)).hits


async def shown_entries(store: TapeStore, tape: str, page: Sequence[Entry]) -> list[Entry]:
    """Return the entries of a page whose text was not deleted."""
    ids = [number for entry in page if (number := _words_of(entry)) is not None]
    if not ids:
        return list(page)
    deletions = Query(tape, after=min(ids), about=tuple(dict.fromkeys(ids)), name=MESSAGE_DELETE)
    gone = {subject_of(event) for event in await store.query(deletions)}
    return [entry for entry in page if _words_of(entry) not in gone]


def _words_of(entry: Entry) -> int | None:
    # The event of an edit repeats the text of its message, too.
    if entry.kind != EVENT:
        return source_message(entry)
    data = entry.payload.get("data")
    number = data.get("entry") if isinstance(data, dict) else None
    return number if isinstance(number, int) else None
