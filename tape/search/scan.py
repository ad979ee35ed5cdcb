"""Search without an index: match every entry, page by page, newest first.

This search is the reference: an index may only be faster. A scan is a generator that yields queries
and receives their answers, so that a store's thread and an event loop run the same steps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, replace
from typing import Final

import anyio.lowlevel

from tape.entry import Entry
from tape.query import Query
from tape.search.edits import edits_of, with_edits
from tape.search.query_text import SearchQuery

FIRST_PAGE: Final = 100
MAX_PAGE: Final = 1000

MAX_SCANNED: Final = 20_000  # maximum entries to scan if others wait for the thread


@dataclass(frozen=True, slots=True)
class Scanned:
    """The hits of a scan, newest first; `whole` if the scan did not stop at its maximum."""

    hits: list[Entry]
    whole: bool = True


Scan = Generator[Query, list[Entry], Scanned]


def scanning(query: Query, wanted: SearchQuery, most: int | None = None) -> Scan:
    """Scan at most `most` entries that match a query; the query's limit is for hits."""
    hits: list[Entry] = []
    size, looked = FIRST_PAGE, 0
    while query.limit is None or len(hits) < query.limit:
        if most is not None and looked >= most:
            return Scanned(hits, whole=False)
        page = yield replace(query, limit=size, newest=True)
        asked = edits_of(query.tape, page, wanted.asof)
        shown = with_edits(page, (yield asked)) if asked else page
        hits += [entry for entry in reversed(shown) if wanted.matches(entry)]
        if len(page) < size:
            break
        query = replace(query, before=page[0].id)
        looked += size
        size = min(2 * size, MAX_PAGE)
    return Scanned(hits if query.limit is None else hits[: query.limit])


def newest_first(*hits: Entry) -> list[Entry]:
    return sorted(hits, key=lambda entry: -entry.id)


def scan_here(scan: Scan, ask: Callable[[Query], list[Entry]]) -> Scanned:
    """Run a scan in the current thread."""
    try:
        query = next(scan)
        while True:
            query = scan.send(ask(query))
    except StopIteration as end:
        found: Scanned = end.value
        return found


async def scan_there(scan: Scan, ask: Callable[[Query], Awaitable[list[Entry]]]) -> Scanned:
    """Run a scan on the event loop."""
    try:
        query = next(scan)
        while True:
            query = scan.send(await ask(query))
            await anyio.lowlevel.checkpoint()
    except StopIteration as end:
        found: Scanned = end.value
        return found
