"""Read tapes and the ledger for the console, beside the chats: no chat ever waits for the console.

Reads run one after another, on connections of their own, and end after a fifth of a second;
searches do so beside them, and may take longer. Pages go by the ids of entries and have at most
PAGE of them. What is asked of tapes in the same moment is one read: a screen of fifty chats costs
the loop some turns, not hundreds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import anyio

from gateway.console.chats import KnownChats
from gateway.errors import GatewayError
from gateway.services import Services
from tape.entry import Entry, NewEntry
from tape.errors import AppendRefused, ReadTooSlow
from tape.handle import Tape
from tape.query import Query
from tape.rollups import LaneSpan, RolledUp, Spark
from tape.search.query_text import SearchQuery
from tape.side import SideReader, SideStore
from tape.store import TapeInfo, UnitStore
from tape.stores.plain_beside import PlainBeside
from tape.unit_of_work import Row

T = TypeVar("T")

PAGE: Final = 500  # maximum entries of a page
MIN_PAGE: Final = 8  # entries of the smallest page that is asked for when larger ones take too long
MAX_WAITING: Final = 64  # maximum reads that wait for their turn
MAX_TOGETHER: Final = 16  # maximum queries of tapes that are one read
SEARCH_TOO_SLOW: Final = (
    "The search took too long and was ended: look for rarer words, or in fewer chats."
)


class ConsoleBusy(GatewayError):
    """Too many reads of the console wait for their turn: the page asks again later."""

    def __init__(self) -> None:
        super().__init__("the console reads too much at once: try again in a moment")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query that waits for its answer; who asked may have gone."""

    query: Query
    answer: asyncio.Future[list[Entry]]

    def succeed(self, entries: list[Entry]) -> None:
        if not self.answer.done():
            self.answer.set_result(entries)

    def fail(self, cause: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(cause)


class ConsoleReads:
    """What the screens of the console read. All methods raise ReadTooSlow and ConsoleBusy."""

    def __init__(self, services: Services) -> None:
        self._services = services
        own, store = services.intervals, services.store
        self.bounds = services.bounds
        self.turns = _Turns(_reader_of(store, own.console_read), own.console_turn)
        self._searches = _Turns(_reader_of(store, own.console_search), own.console_turn)
        self._through = _SideTapes(self)
        self._together: list[_Asked] = []
        self._answering: set[asyncio.Task[None]] = set()
        self.known_chats = KnownChats()

    @property
    def waiting(self) -> int:
        """How many reads wait for their turn."""
        return self.turns.waiting

    def tape(self, name: str) -> Tape:
        """Return a tape as its readers may see it; it can only be read."""
        return self._services.tapes.tape_over(self._through, name)

    async def page(self, query: Query) -> list[Entry]:
        """Return a page as readers see it, at most PAGE entries; fewer where they are long."""
        tape, limit = self.tape(query.tape), min(query.limit or PAGE, PAGE)
        while True:
            try:
                return await tape.run_query(replace(query, limit=limit))
            except ReadTooSlow:
                if limit <= MIN_PAGE:
                    raise
                limit = max(limit // 4, MIN_PAGE)

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named SELECT statement."""
        async with self.turns.turn() as side:
            return await side.select(statement, values)

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query as the store does, withheld entries included; screens use `tape`."""
        if not self._together or len(self._together) >= MAX_TOGETHER:
            self._together = []
            task = asyncio.ensure_future(self._answer(self._together))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        one = _Asked(query, asyncio.get_running_loop().create_future())
        self._together.append(one)
        return await one.answer

    async def size(self, tape: str) -> int:
        """Return the number of entries of a tape."""
        async with self.turns.turn() as side:
            return await side.size(tape)

    async def tapes(self) -> list[TapeInfo]:
        """Return the tapes with entries, forks among them."""
        async with self.turns.turn() as side:
            return await side.tapes()

    async def rolled(self, tape: str, grain: str, after: int = -1, limit: int = PAGE) -> RolledUp:
        """Return the next counts of a tape behind a slot; see `tape.rollups`."""
        async with self.turns.turn() as side:
            return await side.rolled(tape, grain, after, min(limit, PAGE))

    async def lanes(self, tape: str, first: int, last: int) -> list[LaneSpan]:
        """Return the lanes of the blocks from `first` to `last`, the busiest first."""
        async with self.turns.turn() as side:
            return await side.lanes(tape, first, last)

    async def sparks(self, tapes: Sequence[str], since: int) -> dict[str, list[Spark]]:
        """Map tapes to what was said and answered in each hour from `since` on; see `hour_of`."""
        async with self.turns.turn() as side:
            return await side.sparks(tapes, since)

    async def search(
        self, tape: str, text: str, limit: int, *, until: str | None = None
    ) -> list[Entry]:
        """Return the newest entries with the words of a text, as `Tape.search` finds them."""
        return await self.tape(tape).search(text, limit=limit, until=until)

    async def hits(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Search as the store does, withheld entries included; screens use `search`."""
        async with self._searches.turn() as side:
            return await side.search(query, wanted)

    async def close(self) -> None:
        """Close the readers."""
        for task in self._answering:
            task.cancel()
        await self.turns.side.close()
        await self._searches.side.close()

    async def _answer(self, asked: list[_Asked]) -> None:
        """Answer queries in one read; where that takes too long, each in a read of its own."""
        try:
            async with self.turns.turn() as side:
                if asked is self._together:
                    self._together = []
                found = await side.queries([one.query for one in asked])
            for one, entries in zip(asked, found, strict=True):
                one.succeed(entries)
        except ReadTooSlow as slow:
            if len(asked) == 1:
                asked[0].fail(slow)
            else:
                for one in asked:
                    await self._answer([one])
        except Exception as cause:
            for one in asked:
                one.fail(cause)
        finally:
            if asked is self._together:
                self._together = []
            for one in asked:
                one.answer.cancel()  # those that are still open: the console ends


class _Turns:
    """A reader, which those who read have one after another."""

    def __init__(self, side: SideReader, seconds: float) -> None:
        self.side = side
        self._seconds = seconds  # maximum wait for a turn
        self.waiting = 0
        self._turn = anyio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[SideReader]:
        """Have the reader; raises ConsoleBusy if too many wait, or for too long."""
        try:
            self._turn.acquire_nowait()
        except anyio.WouldBlock:
            await self._wait()
        try:
            yield self.side
        finally:
            self._turn.release()

    async def _wait(self) -> None:
        if self.waiting >= MAX_WAITING:
            raise ConsoleBusy
        self.waiting += 1
        try:
            with anyio.move_on_after(self._seconds) as waited:
                await self._turn.acquire()
            if waited.cancelled_caught:
                raise ConsoleBusy
        finally:
            self.waiting -= 1


def _reader_of(store: UnitStore, seconds: float) -> SideReader:
    if isinstance(store, SideStore):
        return store.beside(seconds)
    return PlainBeside(store, store, seconds)


class _SideTapes:
    """The tapes as a store that is only read, one read after another."""

    durable = False

    def __init__(self, reads: ConsoleReads) -> None:
        self._reads = reads

    async def append(
        self,
        tape: str,
        entries: Sequence[NewEntry],  # noqa: ARG002
        key: str | None = None,  # noqa: ARG002
    ) -> list[Entry]:
        raise AppendRefused(f"the console only reads {tape}: append through the gateway's tapes")

    async def query(self, query: Query) -> list[Entry]:
        return await self._reads.query(query)

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        return await self._reads.hits(query, wanted)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:  # noqa: ARG002
        return []

    async def size(self, tape: str) -> int:
        return await self._reads.size(tape)

    async def close(self) -> None:
        """Do nothing: the reads close what they opened."""
