"""Searches cost what they find, and leave the event loop its turns."""

from __future__ import annotations

import threading
from collections.abc import Awaitable
from pathlib import Path
from typing import ClassVar, Final

import anyio

from tape.deletions import deletion
from tape.entry import Entry, NewEntry, message
from tape.handle import Tape
from tape.query import Query
from tape.search.bm25 import fused, scores, stretched
from tape.search.query_text import MAX_RANKED_CHARACTERS, SearchQuery
from tape.search.scan import MAX_PAGE, MAX_SCANNED
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore

T: Final = "chat"


class Reading(MemoryStore):
    """Counts the entries that it gave."""

    given = 0

    async def query(self, query: Query) -> list[Entry]:
        found = await super().query(query)
        self.given += len(found)
        return found


def said(text: str) -> NewEntry:
    return message("user", text)


async def turns_during(work: Awaitable[object]) -> int:
    """Return how often another task had its turn during some work."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(count)
        await work
        group.cancel_scope.cancel()
    return turns


async def test_a_search_reads_no_deletions_but_of_its_hits() -> None:
    store = Reading()
    tape = Tape(store, T)
    await tape.append(said("plum"), said("plum tart"))
    await tape.append(*(deletion(number, "x") for number in range(100, 600)), deletion(3, "3"))
    assert [entry.id for entry in await tape.search("plum")] == [4]
    assert store.given < 10


async def test_long_texts_are_ranked_in_turns() -> None:
    store = MemoryStore()
    hits = await store.append(T, [said("plum " + "слово " * 2000)] * 40)
    assert await turns_during(scores(hits, SearchQuery.read("plum"))) >= 10


async def test_a_hit_is_ranked_by_its_beginning() -> None:
    store = MemoryStore()
    late = said("x " * MAX_RANKED_CHARACTERS + "plum " * 50)
    tape = Tape(store, T)
    await tape.append(said("plum"), late)
    assert [entry.id for entry in await tape.search("plum", rank=True)] == [3, 4]


class Watched(SearchQuery):
    """Notes in which threads entries are looked at."""

    threads: ClassVar[set[str]] = set()

    def matches(self, entry: Entry) -> bool:
        self.threads.add(threading.current_thread().name)
        return super().matches(entry)


async def test_the_file_store_looks_through_its_newest_entries_in_a_thread(tmp_path: Path) -> None:
    store = FileStore.open(tmp_path / "tapes")
    await store.append(T, [said("plum")])
    await store.append(T, [said("pear")] * (MAX_SCANNED + MAX_PAGE))
    wanted = Watched.read("plum")
    assert await store.search(Query(T, limit=1), wanted) == []
    found = await store.search(Query(T, before=MAX_SCANNED, limit=1), wanted)
    assert [entry.id for entry in found] == [3]
    await store.close()
    assert all(name.startswith("tape-reader") for name in Watched.threads)


async def test_a_store_without_an_index_is_looked_through_in_turns() -> None:
    store = MemoryStore()
    await store.append(T, [said("pear")] * 3000)
    assert await turns_during(Tape(store, T).search("plum")) >= 4


def test_scores_are_stretched_from_the_worst_to_the_best() -> None:
    assert stretched({1: 2.0, 2: 4.0, 3: 3.0}) == {1: 0.0, 2: 1.0, 3: 0.5}
    assert stretched({1: 7.0}) == {1: 1.0}
    assert stretched({}) == {}


def test_each_kind_counts_half_and_of_equals_the_newest_comes_first() -> None:
    assert fused({1: 10.0, 2: 5.0, 3: 0.0}, {2: 0.9, 3: 0.1, 4: 0.8}) == [2, 1, 4, 3]
    assert fused({1: 1.0, 2: 1.0}, {}) == [2, 1]
    assert fused({}, {5: 0.2}) == [5]
