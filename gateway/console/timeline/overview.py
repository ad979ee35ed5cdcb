"""The whole of a tape at once: bins of counts, chapters, and the lanes of a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gateway.console.reads import PAGE, SEARCH_TOO_SLOW, ConsoleReads
from gateway.console.timeline.marks import chapter_of, rows_of
from gateway.context.rooms.reading import recorded_recognition
from gateway.errors import AdminError
from gateway.explain.words import recognized
from tape.entry import ANCHOR, MESSAGE, Entry
from tape.errors import ReadTooSlow
from tape.query import ID_SPACE, Query
from tape.rollups import BLOCK, BLOCK_IDS, HOUR, Stretch, hour_of

Json = dict[str, Any]

MAX_BINS: Final = 480  # maximum bins of a tape
MIN_BLOCKS: Final = 48  # with fewer blocks than that, a tape is shown by hours
MAX_STRETCHES: Final = 20_000  # maximum stretches of a tape that are read, newest left out
MAX_HITS: Final = 30
MAX_LANES: Final = 200  # maximum lanes of a part: the busiest


async def map_of(reads: ConsoleReads, tape: str) -> Json:
    """Return what the minimap draws.

    size        number of entries
    low, high   the entries that are counted; the index counts the others soon
    bins        lists of first and last id, oldest and newest date, and the numbers of entries,
                messages, answers, failed turns, refusals, edits and deletions, and anchors
    recognized  how well the chat's conversations are recognized, in words, or ""
    """
    size = await reads.size(tape)
    low, high, found = await _stretches(reads, tape, BLOCK)
    if len(found) < MIN_BLOCKS:
        low, high, found = await _stretches(reads, tape, HOUR)
        found.sort(key=lambda one: one.first)
    bins = [_bin(one) for one in joined(found)]
    says = await _recognized(reads, tape)
    return {"size": size, "low": low, "high": high, "bins": bins, "recognized": says}


async def _recognized(reads: ConsoleReads, tape: str) -> str:
    """Return how well conversations are recognized, which was recorded with a newer message."""
    newest = await reads.page(Query(tape, kinds=(MESSAGE,), limit=PAGE, newest=True))
    known = (recorded_recognition(entry) for entry in reversed(newest))
    found = next((one for one in known if one is not None), None)
    return recognized(found) if found is not None else ""


def joined(found: Sequence[Stretch]) -> list[Stretch]:
    """Join neighbours until there are at most MAX_BINS."""
    step = -(-len(found) // MAX_BINS) or 1
    bins = []
    for start in range(0, len(found), step):
        whole, *rest = found[start : start + step]
        for one in rest:
            whole += one
        bins.append(whole)
    return bins


async def page_around(reads: ConsoleReads, tape: str, where: Json) -> Json:
    """Return a page of rows: `after` or `before` an id, `around` one, at a date, or the newest.

    rows   the rows in order, at most PAGE
    first, last   the ids between which all rows are there, withheld ones apart
    at     the row that was asked for with `around` or `date`, or None
    """
    size, limit = await reads.size(tape), int(where.get("limit", PAGE))
    found: list[Entry]
    at: int | None = None
    if "after" in where:
        found = await reads.page(Query(tape, after=where["after"], limit=limit))
    elif "before" in where:
        found = await reads.page(Query(tape, before=where["before"], limit=limit, newest=True))
    else:
        at = await _place(reads, tape, where, size)
        half = max(limit // 2, 1)
        before = await reads.page(Query(tape, before=at, limit=half, newest=True))
        found = before + await reads.page(Query(tape, after=at - 1, limit=limit - half))
    rows = await rows_of(reads.tape(tape), found)
    first, last = (found[0].id, found[-1].id) if found else (0, 0)
    return {"rows": rows, "first": first, "last": last, "size": size, "at": at}


async def chapter_beside(reads: ConsoleReads, tape: str, at: int, *, back: bool) -> Json:
    """Return the chapter before or after an entry; without one, its `id` is None."""
    query = (
        Query(tape, before=at, kinds=(ANCHOR,), limit=1, newest=True)
        if back
        else Query(tape, after=at, kinds=(ANCHOR,), limit=1)
    )
    found = await reads.page(query)
    return chapter_of(found[0]) if found else {"id": None}


async def lanes_between(reads: ConsoleReads, tape: str, first: int, last: int) -> Json:
    """Return the busiest lanes of the blocks of these ids: lane, entries, first and last id."""
    found = await reads.lanes(tape, first // BLOCK_IDS, last // BLOCK_IDS)
    return {"lanes": [[one.lane, one.entries, one.first, one.last] for one in found[:MAX_LANES]]}


async def hits_of(reads: ConsoleReads, tape: str, text: str) -> Json:
    """Return the newest rows with the words of a text; raises AdminError if it takes too long."""
    try:
        found = await reads.search(tape, text, MAX_HITS)
    except ReadTooSlow as cause:
        raise AdminError(SEARCH_TOO_SLOW) from cause
    return {"rows": await rows_of(reads.tape(tape), found)}


async def _place(reads: ConsoleReads, tape: str, where: Json, size: int) -> int:
    if "around" in where:
        return max(min(int(where["around"]), size), 1)
    if "date" in where:
        return max(min(await _entry_at(reads, tape, where["date"]), size), 1)
    return max(size, 1)


async def _entry_at(reads: ConsoleReads, tape: str, date: str) -> int:
    """Return the id of the first entry after all that are dated before a date."""
    try:
        found = await reads.page(Query(tape, until=date, limit=1, newest=True))
        return found[0].id + 1 if found else 1
    except ReadTooSlow:  # most of the tape is not in the order of its dates
        rolled = await reads.rolled(tape, HOUR, hour_of(date) - 1, 1)
        return rolled.stretches[0].first if rolled.stretches else ID_SPACE


async def _stretches(reads: ConsoleReads, tape: str, grain: str) -> tuple[int, int, list[Stretch]]:
    found: list[Stretch] = []
    while True:
        after = found[-1].slot if found else -1
        rolled = await reads.rolled(tape, grain, after)
        found += rolled.stretches
        if len(rolled.stretches) < PAGE or len(found) >= MAX_STRETCHES:
            return rolled.low, rolled.high, found


def _bin(one: Stretch) -> list[Any]:
    span = [one.first, one.last, one.oldest, one.newest]
    counts = [one.entries, one.said, one.answered, one.failed]
    return [*span, *counts, one.refused, one.changed, one.anchors]
