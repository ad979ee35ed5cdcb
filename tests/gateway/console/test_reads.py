"""Reads for the console: pages, time limits, what is withheld, and no more waiting than agreed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from gateway.app import Gateway
from gateway.assembly import Internals
from gateway.console.reads import MAX_TOGETHER, MAX_WAITING, PAGE, ConsoleBusy, ConsoleReads
from gateway.console.timeline.overview import hits_of
from gateway.errors import AdminError
from gateway.settings.intervals import Intervals
from tape.entry import Entry, message
from tape.errors import AppendRefused, ReadTooSlow
from tape.query import Query
from tape.rollups import BLOCK, hour_of
from tape.search.query_text import SearchQuery
from tape.service import tape_name
from tape.side import SideReader
from tape.stores.memory import MemoryStore
from tape.stores.plain_beside import PlainBeside
from tests.gateway.console.long_tape import make_long
from tests.kit.gateways import PATIENT, every, gateway_of, tape_of


@pytest.fixture(params=["sqlite", "memory:", "file"])
async def gateway(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Gateway]:
    urls = {"memory:": "memory:", "file": f"file://{tmp_path}/tapes"}
    url = urls.get(request.param, f"sqlite://{tmp_path}/tapeway.db")
    async with gateway_of(tmp_path, TAPE__URL=url) as running:
        yield running


async def test_a_page_has_no_more_than_was_agreed(gateway: Gateway) -> None:
    reads, tape = ConsoleReads(gateway.services), tape_of(gateway)
    await tape.append(*(message("user", str(n)) for n in range(600)))
    assert len(await reads.page(Query(tape.name))) == PAGE
    assert [one.id for one in await reads.page(Query(tape.name, after=600))] == [601, 602]
    assert len(await reads.page(Query(tape.name, limit=3))) == 3
    assert await reads.size(tape.name) == 602
    assert (await reads.tape(tape.name).last_anchor()) == await tape.last_anchor()


async def test_the_counts_and_sparks_of_a_store_are_read(gateway: Gateway) -> None:
    reads, tape = ConsoleReads(gateway.services), tape_of(gateway)
    (said,) = await tape.append(message("user", "hello", inbox=1, text="hello", lane="said:1"))
    if hasattr(gateway.services.store, "indexed"):
        await gateway.services.store.indexed()
    rolled = await reads.rolled(tape.name, BLOCK)
    assert [(one.entries, one.said) for one in rolled.stretches] == [(3, 1)]
    assert [one.lane for one in await reads.lanes(tape.name, 0, 1)] == ["said:1"]
    spark = (await reads.sparks([tape.name], hour_of(said.date)))[tape.name]
    assert [one.said for one in spark] == [1]
    found = await reads.search(tape.name, "hello", 5)
    assert [one.id for one in found] == [said.id]


async def test_the_tape_can_only_be_read(gateway: Gateway) -> None:
    tape = ConsoleReads(gateway.services).tape(tape_of(gateway).name)
    with pytest.raises(AppendRefused, match="only reads"):
        await tape.append(message("user", "hello"))


async def test_a_withheld_thread_is_not_on_a_page(gateway: Gateway) -> None:
    reads, tape = ConsoleReads(gateway.services), tape_of(gateway)
    await tape.append(message("user", "secret", thread="9"), message("user", "known"))
    gateway.services.tapes.withhold().withheld(tape.name).threads.add("9")
    page = await reads.page(Query(tape.name, kinds=("message",)))
    assert [one.text for one in page] == ["known"]
    assert [one.text for one in await reads.tape(tape.name).find(kinds=("message",))] == ["known"]


class SlowTapes(PlainBeside):
    """A reader for which only short pages are in time; and that can be held."""

    def __init__(self, most: int, gate: anyio.Event | None = None) -> None:
        store = MemoryStore()
        super().__init__(store, store, 1.0)
        self.most, self.gate = most, gate
        self.asked: list[int | None] = []
        self.reads: list[int] = []

    async def query(self, query: Query) -> list[Entry]:
        self.asked.append(query.limit)
        if self.gate is not None:
            await self.gate.wait()
        if query.limit is None or query.limit > self.most:
            raise ReadTooSlow(0.2)
        return []

    async def queries(self, queries: Sequence[Query]) -> list[list[Entry]]:
        self.reads.append(len(queries))
        return [await self.query(query) for query in queries]

    async def size(self, tape: str) -> int:
        if self.gate is not None:
            await self.gate.wait()
        return await super().size(tape)


class SlowStore(MemoryStore):
    def __init__(self, side: SideReader) -> None:
        super().__init__()
        self.side = side

    def beside(self, seconds: float) -> PlainBeside:
        assert isinstance(self.side, PlainBeside)
        return self.side


async def reads_of(
    tmp_path: Path, side: SideReader, internals: Internals = PATIENT
) -> AsyncIterator[ConsoleReads]:
    async with gateway_of(tmp_path, TAPE__URL="memory:", internals=internals) as running:
        yield ConsoleReads(replace(running.services, store=SlowStore(side)))


async def test_a_page_of_long_entries_is_asked_for_in_parts(tmp_path: Path) -> None:
    side = SlowTapes(most=40)
    async for reads in reads_of(tmp_path, side):
        assert await reads.page(Query("room")) == []
        assert side.asked == [500, 125, 31]
        side.most = 0
        with pytest.raises(ReadTooSlow):
            await reads.page(Query("room"))
        assert side.asked[-2:] == [31, 8]


async def test_too_many_reads_at_once_are_refused(tmp_path: Path) -> None:
    gate = anyio.Event()
    side = SlowTapes(most=500, gate=gate)
    async for reads in reads_of(tmp_path, side):
        async with anyio.create_task_group() as group:
            for _ in range(MAX_WAITING + 1):
                group.start_soon(reads.size, "room")
            while reads.waiting < MAX_WAITING:
                await anyio.lowlevel.checkpoint()
            with pytest.raises(ConsoleBusy, match="too much at once"):
                await reads.size("room")
            with pytest.raises(ConsoleBusy, match="too much at once"):
                await reads.page(Query("room"))
            gate.set()
        assert side.asked == []
        assert len(await reads.page(Query("room"))) == 0


async def test_what_is_asked_in_the_same_moment_is_one_read(tmp_path: Path) -> None:
    gate = anyio.Event()
    side = SlowTapes(most=500, gate=gate)
    async for reads in reads_of(tmp_path, side):
        async with anyio.create_task_group() as group:
            for number in range(MAX_TOGETHER + 3):
                group.start_soon(reads.page, Query(f"room{number}", limit=8))
            while not side.reads:
                await anyio.lowlevel.checkpoint()
            group.start_soon(reads.page, Query("room", limit=8))
            gate.set()
        assert side.reads == [MAX_TOGETHER, 4]


async def test_a_slow_query_is_slow_for_nobody_else(tmp_path: Path) -> None:
    side = SlowTapes(most=40)
    slow, quick = Query("room"), Query("room", limit=40)
    async for reads in reads_of(tmp_path, side):
        found = await asyncio.gather(
            *(reads.query(one) for one in (quick, slow, quick)), return_exceptions=True
        )
        assert [type(one) for one in found] == [list, ReadTooSlow, list]
        assert side.reads == [3, 1, 1, 1]


async def test_who_no_longer_waits_takes_nobodys_answer_away(tmp_path: Path) -> None:
    gate = anyio.Event()
    side = SlowTapes(most=500, gate=gate)
    async for reads in reads_of(tmp_path, side):
        async with anyio.create_task_group() as group:
            group.start_soon(reads.page, Query("room"))
            with anyio.CancelScope() as gone:
                async with anyio.create_task_group() as impatient:
                    impatient.start_soon(reads.page, Query("room"))
                    while not side.reads:
                        await anyio.lowlevel.checkpoint()
                    gone.cancel()
            gate.set()
        assert side.reads == [2]
        assert await reads.page(Query("room")) == []


async def test_who_still_waits_at_the_end_waits_no_longer(tmp_path: Path) -> None:
    side = SlowTapes(most=500, gate=anyio.Event())
    async for reads in reads_of(tmp_path, side):
        waiting = asyncio.ensure_future(reads.query(Query("room", limit=8)))
        while not side.reads:
            await anyio.lowlevel.checkpoint()
        await reads.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_read_does_not_wait_for_ever(tmp_path: Path) -> None:
    gate = anyio.Event()
    side = SlowTapes(most=500, gate=gate)
    async for reads in reads_of(tmp_path, side, every(console_turn=0.01)):
        async with anyio.create_task_group() as group:
            group.start_soon(reads.page, Query("room"))
            while not side.asked:
                await anyio.lowlevel.checkpoint()
            with pytest.raises(ConsoleBusy):
                await reads.page(Query("room"))
            gate.set()
        assert await reads.page(Query("room")) == []


class HeldSearches(PlainBeside):
    """A reader whose searches wait until they may end."""

    def __init__(self) -> None:
        store = MemoryStore()
        super().__init__(store, store, 1.0)
        self.gate = anyio.Event()
        self.searches = 0

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        self.searches += 1
        await self.gate.wait()
        return await super().search(query, wanted)


async def test_a_search_holds_up_no_page_no_chat_and_only_the_next_search(tmp_path: Path) -> None:
    side = HeldSearches()
    async with gateway_of(tmp_path, TAPE__URL="memory:") as running:
        reads = ConsoleReads(replace(running.services, store=SlowStore(side)))
        await tape_of(running).append(message("user", "bread"))
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(reads.search, "room", "bread", 5)
            while not side.searches:
                await anyio.lowlevel.checkpoint()
            assert await reads.page(Query("room")) == []
            assert len(await tape_of(running).search("bread")) == 1
            assert side.searches == 1
            side.gate.set()
        assert side.searches == 2


async def test_reads_and_searches_of_a_long_tape_end_at_their_limits(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    name = tape_name(workspace, "web:lobby")
    await make_long(tmp_path / "tapeway.db", name, 100_000, 400)
    async with gateway_of(tmp_path, WORKSPACE=str(workspace)) as running:
        short = replace(running.services, intervals=Intervals())
        with pytest.raises(ReadTooSlow, match=r"longer than 0\.2 s"):
            await ConsoleReads(short).query(Query(name))
        reads = ConsoleReads(running.services)
        assert await reads.page(Query(name))
        word = (await tape_of(running).find(kinds=("message",), limit=1))[0].text.split()[0]
        assert await reads.search(name, word, 5)
        own = replace(running.services, intervals=Intervals(console_search=0.0))
        hasty = ConsoleReads(own)
        with pytest.raises(ReadTooSlow):
            await hasty.search(name, word, 5)
        with pytest.raises(AdminError, match="The search took too long"):
            await hits_of(hasty, name, word)
        assert await tape_of(running).search(word)
