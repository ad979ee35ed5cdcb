"""Read a store that has no reader of its own to give, and count what is on its tapes here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeVar

import anyio
import anyio.lowlevel

from tape.entry import Entry
from tape.errors import ReadTooSlow
from tape.query import Query
from tape.rollups import (
    BLOCK,
    HOUR_SECONDS,
    MAX_LANES,
    LaneSpan,
    RolledUp,
    Rollup,
    Spark,
    is_answer,
    is_said,
)
from tape.search.query_text import SearchQuery
from tape.search.search import hits_of
from tape.store import TapeInfo, TapeStore
from tape.unit_of_work import Row

T = TypeVar("T")

PAGE: Final = 500  # entries to count in one read
PAGES: Final = 20  # maximum pages that one answer counts; the next answer goes on
MAX_TAPES: Final = 32  # maximum tapes whose counts are kept
MAX_SPARKED: Final = 2000  # maximum newest entries of a tape that its spark counts


class Selecting(Protocol):
    """What runs the statements of a store's ledger."""

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]: ...


@dataclass(slots=True)
class _Counted:
    low: int = 1
    high: int = 0
    rollup: Rollup = field(default_factory=Rollup)

    def take(self, page: Sequence[Entry]) -> None:
        for entry in page:
            self.rollup.add(entry)
        self.low, self.high = min(self.low, page[0].id), max(self.high, page[-1].id)


class PlainBeside:
    """A `SideReader` of any store: it stops waiting at the limit, and counts what it reads.

    The counts are of this process, and gone with it. New entries are counted first.
    """

    def __init__(self, tapes: TapeStore, ledger: Selecting, seconds: float) -> None:
        self._tapes = tapes
        self._ledger = ledger
        self._seconds = seconds
        self._counted: OrderedDict[str, _Counted] = OrderedDict()
        self._counting = anyio.Lock()

    async def query(self, query: Query) -> list[Entry]:
        return await self._within(self._tapes.query(query))

    async def queries(self, queries: Sequence[Query]) -> list[list[Entry]]:
        async def read() -> list[list[Entry]]:
            return [await self._tapes.query(query) for query in queries]

        return await self._within(read())

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        return await self._within(hits_of(self._tapes, query, wanted))

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        return await self._within(self._ledger.select(statement, values, long=True))

    async def size(self, tape: str) -> int:
        return await self._within(self._tapes.size(tape))

    async def tapes(self) -> list[TapeInfo]:
        return await self._within(self._tapes.tapes())

    async def rolled(self, tape: str, grain: str, after: int, limit: int) -> RolledUp:
        counted = await self._count(tape)
        found = counted.rollup.blocks if grain == BLOCK else counted.rollup.hours
        slots = sorted(slot for slot in found if slot > after)[:limit]
        return RolledUp(counted.low, counted.high, tuple(found[slot] for slot in slots))

    async def lanes(self, tape: str, first: int, last: int) -> list[LaneSpan]:
        counted = await self._count(tape)
        found: dict[str, LaneSpan] = {}
        for (block, lane), one in counted.rollup.lanes.items():
            if first <= block <= last:
                found[lane] = found[lane] + one if lane in found else one
        return sorted(found.values(), key=lambda one: (-one.entries, one.lane))[:MAX_LANES]

    async def sparks(self, tapes: Sequence[str], since: int) -> dict[str, list[Spark]]:
        from_date = _date_of(since)
        found: dict[str, list[Spark]] = {}
        for tape in tapes:
            page = Query(tape, since=from_date, limit=MAX_SPARKED, newest=True)
            counted = Rollup()
            for entry in await self.query(page):
                if is_said(entry) or is_answer(entry):
                    counted.add(entry)
            hours = sorted(counted.hours.items())
            found[tape] = [Spark(hour, one.said, one.answered) for hour, one in hours]
        return found

    async def close(self) -> None:
        self._counted.clear()

    async def _count(self, tape: str) -> _Counted:
        async with self._counting:
            counted = self._counted.setdefault(tape, _Counted())
            self._counted.move_to_end(tape)
            if len(self._counted) > MAX_TAPES:
                self._counted.popitem(last=False)
            for _ in range(PAGES):
                page = await self._next(tape, counted)
                if not page:
                    break
                counted.take(page)
                await anyio.lowlevel.checkpoint()
            return counted

    async def _next(self, tape: str, counted: _Counted) -> list[Entry]:
        if not counted.high:
            newest = await self.query(Query(tape, limit=PAGE, newest=True))
            counted.low = newest[0].id if newest else 1
            return newest
        page = await self.query(Query(tape, after=counted.high, limit=PAGE))
        if page or counted.low == 1:
            return page
        return await self.query(Query(tape, before=counted.low, limit=PAGE, newest=True))

    async def _within(self, read: Awaitable[T]) -> T:
        try:
            with anyio.fail_after(self._seconds):
                return await read
        except TimeoutError as cause:
            raise ReadTooSlow(self._seconds) from cause


def _date_of(hour: int) -> str:
    return datetime.fromtimestamp(hour * HOUR_SECONDS, UTC).isoformat()
