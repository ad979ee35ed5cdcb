"""Readers beside a store: the same answers, the same counts, and no read without an end."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from tape.entry import Entry, NewEntry, anchor, event, message
from tape.erasing import tombstone
from tape.errors import ReadTooSlow, StoreUnavailable
from tape.query import Query
from tape.rollups import BLOCK, HOUR, Stretch, counts_of, hour_of
from tape.search.query_text import SearchQuery
from tape.search.search import hits_of
from tape.side import SideReader
from tape.store import TapeStore
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore
from tape.stores.plain_beside import PlainBeside
from tape.stores.postgres.store import PostgresStore
from tape.stores.sqlite import SqliteStore
from tests.postgres import fresh_database

T = "room"
LONG = 60.0  # seconds that no read of these tests takes
KINDS = ["sqlite", "memory", "file", pytest.param("postgres", marks=pytest.mark.postgresql)]


@asynccontextmanager
async def opened(kind: str, folder: Path) -> AsyncIterator[tuple[Any, SideReader]]:
    """Open a store of a kind, and a reader beside it."""
    if kind == "postgres":
        with fresh_database() as url:
            there = PostgresStore.open(url)
            try:
                yield there, there.beside(LONG)
            finally:
                await there.close()
        return
    if kind == "sqlite":
        here = SqliteStore.open(folder / "tapeway.db")
        try:
            yield here, here.beside(LONG)
        finally:
            await here.close()
        return
    store: TapeStore = MemoryStore() if kind == "memory" else FileStore.open(folder / "tapes")
    try:
        yield store, PlainBeside(store, MemoryStore(), LONG)
    finally:
        await store.close()


@pytest.fixture(params=KINDS)
async def pair(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    async with opened(request.param, tmp_path) as found:
        yield found


async def settled(store: Any) -> None:
    if hasattr(store, "indexed"):
        await store.indexed()


def talk(count: int, seed: int = 1, day: int = 1) -> list[NewEntry]:
    """Make entries of every sort that is counted, over some hours, in some lanes."""
    random = Random(seed)
    made = []
    for number in range(count):
        meta = {"lane": f"said:{random.randrange(7)}", "inbox": number, "author": "1", "text": "x"}
        one = random.choice(
            [
                message("user", "hello", **meta),
                message("assistant", "hi", final=True, turn="t", lane="said:1"),
                event("turn.end", {"turn": "t", "status": random.choice(["done", "failed"])}),
                event("access.refused", {"author": "1", "why": "", "inbox": number}),
                event("message.edit", {"entry": 1, "content": "other"}),
                anchor(f"chapter {number}"),
            ]
        )
        hour, minute = divmod(number * 7 % 1440, 60)
        date = f"2026-01-{day:02}T{hour:02}:{minute:02}:00.000000+00:00"
        made.append(NewEntry(one.kind, one.payload, one.meta, date))
    return made


async def counted(reader: SideReader, grain: str) -> list[Stretch]:
    found: list[Stretch] = []
    while True:
        rolled = await reader.rolled(T, grain, found[-1].slot if found else -1, 3)
        found += rolled.stretches
        if not rolled.stretches:
            return found


async def test_the_counts_are_those_of_the_entries(pair: tuple[Any, SideReader]) -> None:
    store, reader = pair
    for day in range(1, 8):
        await store.append(T, talk(450, seed=day, day=day))
        await settled(store)
    entries = await store.query(Query(T))
    wanted = counts_of(entries)
    assert (await reader.rolled(T, BLOCK, -1, 1)).high == len(entries)
    assert await counted(reader, BLOCK) == [wanted.blocks[slot] for slot in sorted(wanted.blocks)]
    assert await counted(reader, HOUR) == [wanted.hours[slot] for slot in sorted(wanted.hours)]
    assert sum(one.said for one in wanted.blocks.values()) > 300
    assert sum(one.failed for one in wanted.blocks.values()) > 100
    lanes = {one.lane: one for one in await reader.lanes(T, 0, 10**6)}
    assert set(lanes) == {f"said:{number}" for number in range(7)}
    ids = [entry.id for entry in entries if entry.meta.get("lane") == "said:3"]
    assert lanes["said:3"].entries == len(ids)
    assert (lanes["said:3"].first, lanes["said:3"].last) == (ids[0], ids[-1])


async def test_what_is_old_is_counted_after_what_is_new_and_each_entry_once(
    pair: tuple[Any, SideReader],
) -> None:
    store, reader = pair
    for seed in range(5):
        await store.append(T, talk(2500, seed=seed))
    for _ in range(2):
        await settled(store)
        await reader.rolled(T, BLOCK, -1, 1)
    blocks = await counted(reader, BLOCK)
    assert sum(one.entries for one in blocks) == await store.size(T) == 12_502
    assert (await reader.rolled(T, BLOCK, -1, 1)).low == 1


async def test_a_spark_has_what_was_said_and_answered_by_the_hour(
    pair: tuple[Any, SideReader],
) -> None:
    store, reader = pair
    await store.append(T, talk(600))
    await store.append("other", talk(30, seed=9))
    await settled(store)
    since = hour_of("2026-01-01T12:00:00+00:00")
    found = await reader.sparks([T, "other", "nowhere"], since)
    wanted = counts_of(await store.query(Query(T))).hours
    of_room = {one.hour: (one.said, one.answered) for one in found[T]}
    hours = {
        hour: (one.said, one.answered)
        for hour, one in wanted.items()
        if hour >= since and one.said + one.answered
    }
    assert {hour: counts for hour, counts in of_room.items() if any(counts)} == hours
    assert hours
    assert found["nowhere"] == []


async def test_a_reader_answers_queries_as_its_store_does(pair: tuple[Any, SideReader]) -> None:
    store, reader = pair
    await store.append(T, talk(40))
    query = Query(T, after=5, kinds=("message",), limit=7)
    assert await reader.query(query) == await store.query(query)
    assert await reader.size(T) == await store.size(T) == 42
    assert await reader.tapes() == await store.tapes()
    assert [(one.name, one.size) for one in await reader.tapes()] == [(T, 42)]
    assert await reader.query(Query("nowhere")) == []


async def test_several_queries_are_answered_in_their_order(pair: tuple[Any, SideReader]) -> None:
    store, reader = pair
    await store.append(T, talk(40))
    asked = [Query(T, limit=3), Query("nowhere"), Query(T, limit=2, newest=True)]
    assert await reader.queries(asked) == [await store.query(query) for query in asked]
    assert await reader.queries([]) == []
    await store.append(T, talk(1))
    assert len((await reader.queries([Query(T)]))[0]) == await store.size(T)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgresql)])
async def test_the_lanes_of_erased_entries_are_gone(kind: str, tmp_path: Path) -> None:
    async with opened(kind, tmp_path) as (store, reader):
        await store.append(T, talk(1500))
        await settled(store)
        of_lane: list[Entry] = await store.query(Query(T, lane="said:2"))
        assert "said:2" in {one.lane for one in await reader.lanes(T, 0, 9)}
        await store.erase(T, [tombstone(entry, "2026-01-31") for entry in of_lane])
        await store.purge()
        lanes = {one.lane: one.entries for one in await reader.lanes(T, 0, 9)}
        assert "said:2" not in lanes
        left = await store.query(Query(T, lane="said:3"))
        assert lanes["said:3"] == len(left)
        blocks = await counted(reader, BLOCK)
        assert sum(one.entries for one in blocks) == 1502


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgresql)])
async def test_an_index_that_is_made_once_more_counts_as_before(kind: str, tmp_path: Path) -> None:
    async with opened(kind, tmp_path) as (store, reader):
        await store.append(T, talk(1500))
        await settled(store)
        before = await counted(reader, BLOCK)
        store.reindex()
        await store.indexed()
        assert await counted(reader, BLOCK) == before


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgresql)])
async def test_a_read_ends_at_its_limit_and_the_next_one_answers(kind: str, tmp_path: Path) -> None:
    async with opened(kind, tmp_path) as (store, _reader):
        for seed in range(4):
            await store.append(T, talk(2500, seed=seed))
        reader = store.beside(0.001)
        with pytest.raises(ReadTooSlow, match=r"longer than 0\.001 s"):
            await reader.query(Query(T))
        with pytest.raises(ReadTooSlow, match=r"longer than 0\.001 s"):
            await reader.queries([Query(T)] * 3)
        at_once = [Query("nowhere")] * 2000
        with pytest.raises(ReadTooSlow, match=r"longer than 0\.001 s"):
            await reader.queries(at_once)
        again = store.beside(LONG)
        assert len(await again.query(Query(T, limit=3))) == 3


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgresql)])
async def test_a_search_ends_at_its_limit_and_no_other_does(kind: str, tmp_path: Path) -> None:
    async with opened(kind, tmp_path) as (store, _reader):
        await store.append(T, [message("user", "bread"), *talk(500)])
        query, wanted = Query(T, limit=5), SearchQuery.read("bread")
        for _ in range(2):
            with pytest.raises(ReadTooSlow):
                await store.beside(0.0).search(query, wanted)
            assert [one.text for one in await store.search(query, wanted)] == ["bread"]
            await store.indexed()


async def test_a_reader_finds_what_its_store_finds(pair: Any) -> None:
    store, reader = pair
    await store.append(T, [message("user", f"loaf {n}") for n in range(30)])
    await store.append(T, [event("message.edit", {"entry": 5, "content": "a plum"})])
    for text, count in (("loaf", 20), ("plum", 1), ("pear", 0)):
        query, wanted = Query(T, kinds=("message",), limit=20), SearchQuery.read(text)
        found = await reader.search(query, wanted)
        assert found == await hits_of(store, query, wanted)
        assert len(found) == count


@dataclass(frozen=True, slots=True)
class HeldQuery(SearchQuery):
    """A search that waits in its thread for an edited message."""

    gate: threading.Event = field(default_factory=threading.Event, compare=False)

    def matches(self, entry: Entry) -> bool:
        self.gate.wait()
        return SearchQuery.matches(self, entry)


async def test_a_search_beside_others_is_not_in_the_thread_of_the_others(tmp_path: Path) -> None:
    async with opened("sqlite", tmp_path) as (store, reader):
        await store.append(T, [message("user", f"loaf {n}") for n in range(3)])
        await store.append(T, [event("message.edit", {"entry": 3, "content": "a loaf"})])
        await store.indexed()
        query, held = Query(T, limit=5), HeldQuery.read("loaf")
        async with anyio.create_task_group() as group:
            group.start_soon(reader.search, query, held)
            assert await store.search(query, SearchQuery.read("loaf"))
            held.gate.set()  # type: ignore[attr-defined]


async def test_a_store_that_closes_closes_its_readers(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "tapeway.db")
    await store.append(T, talk(3))
    reader = store.beside(LONG)
    assert await reader.size(T) == 5
    await store.close()
    assert not (tmp_path / "tapeway.db-wal").exists()
    with pytest.raises(StoreUnavailable, match="closed"):
        await reader.size(T)


async def test_nothing_is_counted_before_there_is_an_index(tmp_path: Path) -> None:
    async with opened("sqlite", tmp_path) as (_store, reader):
        assert (await reader.rolled("nowhere", BLOCK, -1, 5)).stretches == ()
        assert await reader.lanes("nowhere", 0, 5) == []
