"""Forks beyond the conformance suite: reading, ending, and crashes between two writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tape.deletions import deletion
from tape.entry import Entry, NewEntry, anchor, event, message
from tape.errors import ForkClosed, NotFound, StoreUnavailable, TapeError
from tape.fork import DISCARDED, MERGED, MERGING
from tape.handle import ForkTape, Tape, find_fork
from tape.query import Query
from tape.service import TapeService
from tape.snapshot import TapeSnapshot
from tape.store import TapeInfo, TapeStore
from tape.stores.memory import MemoryStore
from tape.testing.stores import appends_beside_the_end_of_a_fork_are_merged_or_refused

T = "chat"


class LosingStore:
    """A store whose process is gone after so many appends: what was written stays."""

    durable = False

    def __init__(self, store: TapeStore, appends: int) -> None:
        self._store = store
        self._left = appends

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        await checkpoint()
        if self._left == 0:
            raise StoreUnavailable("the process is gone")
        self._left -= 1
        return await self._store.append(tape, entries, key)

    async def query(self, query: Query) -> list[Entry]:
        await checkpoint()
        return await self._store.query(query)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        return await self._store.tapes(prefix)

    async def size(self, tape: str) -> int:
        return await self._store.size(tape)

    async def close(self) -> None:
        await self._store.close()


@pytest.fixture
async def store() -> MemoryStore:
    store = MemoryStore()
    await store.append(T, [message("user", "a")])
    return store


@pytest.fixture
def service(store: MemoryStore) -> TapeService:
    return TapeService(store, Path("workspace"))


def said(entries: Sequence[Entry]) -> list[str]:
    return [entry.text for entry in entries if entry.kind == "message"]


async def test_a_merged_block_says_which_fork_it_came_from_and_keeps_its_dates(
    service: TapeService,
) -> None:
    async with service.fork_tape(T) as fork:
        written = await fork.append(message("user", "b", lane="x"), anchor("task/done"))
    block = (await service.tape(T).read())[-2:]
    assert [entry.meta for entry in block] == [
        {"lane": "x", "fork": fork.name},
        {"fork": fork.name},
    ]
    assert [entry.date for entry in block] == [entry.date for entry in written]


async def test_one_forking_is_one_block_s_at_a_time_and_can_be_entered_again(
    service: TapeService,
) -> None:
    forking = service.fork_tape(T)
    async with forking as first:
        with pytest.raises(TapeError, match="another block"):
            async with forking:
                pass
        await first.append(message("user", "b"))
    async with forking as second:
        await second.append(message("user", "c"))
    assert said(await service.tape(T).read()) == ["a", "b", "c"]
    nowhere = service.fork_tape(T, at="nowhere")
    for _ in range(2):
        with pytest.raises(NotFound):
            async with nowhere:
                pass


async def test_ids_inside_go_on_where_the_parent_was(service: TapeService) -> None:
    async with service.fork_tape(T, merge_back=False) as fork:
        one, two = await fork.append(message("user", "b"), message("user", "c"))
        assert (one.id, two.id) == (4, 5)
        assert await fork.entries([3, 4, 1, 5, 6]) == {
            entry.id: entry for entry in await fork.read() if entry.id in (3, 4, 1, 5)
        }


async def test_a_fork_answers_queries_as_one_tape_would(service: TapeService) -> None:
    async with service.fork_tape(T, merge_back=False) as fork:
        await fork.append(*(message("user", text, author="7") for text in "bcd"))
        whole = await fork.read()
        for limit in (None, 0, 1, 3, 4, 9):
            for newest in (False, True):
                for after, before in ((0, None), (2, 5), (3, 4), (4, None), (0, 3)):
                    query = Query(T, after=after, before=before, limit=limit, newest=newest)
                    assert await fork.run_query(query) == query.pick(whole), query


async def test_a_fork_at_an_anchor_sees_the_anchor_and_nothing_after_it(
    service: TapeService,
) -> None:
    await service.tape(T).append(anchor("phase:one"), message("user", "later"))
    async with service.fork_tape(T, at="phase:one") as fork:
        await fork.append(message("user", "inside"))
        assert said(await fork.read()) == ["a", "inside"]
        assert said(await fork.after("phase:one")) == ["inside"]
    assert said(await service.tape(T).read()) == ["a", "later", "inside"]


async def test_a_fork_of_a_tape_without_entries_has_its_anchor_and_leaves_it_out_at_its_merge(
    service: TapeService,
) -> None:
    names = ["session/start", "handoff", "first"]
    async with (
        service.fork_tape("new") as fork,
        service.fork_tape("new", merge_back=False) as later,
    ):
        for one in (fork, later):
            await one.append(message("user", "first"))
            assert [entry.name or entry.text for entry in await one.read()] == names
            assert (await one.context())[0]["content"].startswith("[Anchor created: session/start]")
        await fork.merge()
        await later.merge()
    entries = await service.tape("new").read()
    assert [entry.name or entry.text for entry in entries] == [*names, "first"]


async def test_an_append_to_a_closed_fork_is_refused_and_writes_nothing(
    service: TapeService,
) -> None:
    async with service.fork_tape(T) as fork:
        await fork.append(message("user", "b"), key="k")
    size = await service.store.size(fork.name)
    with pytest.raises(ForkClosed, match=f"is closed: append to its parent {T}"):
        await fork.append(message("user", "c"))
    assert await service.store.size(fork.name) == size
    assert said(await fork.append(message("user", "again"), key="k")) == ["b"]
    assert said(await fork.read()) == ["a", "b"]


async def test_an_append_that_came_behind_the_end_of_a_fork_is_in_neither_tape(
    store: MemoryStore, service: TapeService
) -> None:
    fork = await service.tape(T).fork()
    # Another process closes the fork between this append's look and its write.
    await store.append(fork.name, [event(DISCARDED, {"why": "elsewhere"})], "fork.close")
    with pytest.raises(ForkClosed):
        await fork.append(message("user", "late"), key="k")
    with pytest.raises(TapeError, match="was discarded"):
        await fork.merge()
    assert said(await fork.read()) == said(await service.tape(T).read()) == ["a"]
    assert await fork.size() == 3


async def test_a_store_with_append_and_query_alone_loses_no_append_beside_a_merge() -> None:
    store = LosingStore(MemoryStore(), appends=100_000)
    await appends_beside_the_end_of_a_fork_are_merged_or_refused(store)


async def test_a_fork_whose_parent_was_closed_first_is_discarded(service: TapeService) -> None:
    outer = await service.tape(T).fork()
    inner = await outer.fork()
    await inner.append(message("user", "b"))
    await outer.merge()
    for _ in range(2):
        with pytest.raises(ForkClosed):
            await inner.merge()
    assert await inner.state() == DISCARDED
    assert said(await service.tape(T).read()) == ["a"]


async def test_an_empty_fork_merges_into_nothing(service: TapeService) -> None:
    async with service.fork_tape(T) as fork:
        pass
    assert await service.tape(T).size() == 3
    assert await fork.state() == MERGED


async def test_an_error_inside_discards_the_fork_and_goes_on(service: TapeService) -> None:
    forks: list[ForkTape] = []

    async def fail() -> None:
        async with service.fork_tape(T) as fork:
            forks.append(fork)
            await fork.append(message("user", "b"))
            raise ZeroDivisionError("inside")

    with pytest.raises(ZeroDivisionError):
        await fail()
    (fork,) = forks
    assert await fork.state() == DISCARDED
    (closing,) = await service.store.query(Query(fork.name, name=DISCARDED))
    assert closing.payload["data"] == {"why": "ZeroDivisionError: inside"}
    assert said(await service.tape(T).read()) == ["a"]


async def test_a_cancelled_fork_is_discarded_all_the_same(store: MemoryStore) -> None:
    service = TapeService(LosingStore(store, appends=9), Path("workspace"))
    forks: list[ForkTape] = []
    with anyio.CancelScope() as scope:
        async with service.fork_tape(T) as fork:
            forks.append(fork)
            scope.cancel()
            await checkpoint()
    assert await forks[0].state() == DISCARDED
    assert await service.open_forks() == []


async def test_a_discarded_fork_is_evidence_and_is_never_merged(service: TapeService) -> None:
    async with service.fork_tape(T, merge_back=False) as fork:
        await fork.append(message("user", "b"))
    with pytest.raises(TapeError, match="was discarded"):
        await fork.merge()
    assert said(await fork.own_entries()) == ["b"]


async def test_a_merged_fork_is_not_discarded_afterwards(service: TapeService) -> None:
    async with service.fork_tape(T) as fork:
        await fork.append(message("user", "b"))
    await fork.discard("too late")
    assert await fork.state() == MERGED


@pytest.mark.parametrize("appends", [2, 3, 4])
async def test_a_crash_around_the_merge_ends_in_one_block(
    store: MemoryStore, service: TapeService, appends: int
) -> None:
    # The appends are the opening, the writing, the decision, and the block on the parent.
    losing = LosingStore(store, appends)
    fork = await Tape(losing, T).fork()
    await fork.append(message("user", "b"), message("user", "c"))
    with pytest.raises(StoreUnavailable):
        await fork.merge()
    assert said(await service.tape(T).read()) == (["a"] if appends < 4 else ["a", "b", "c"])
    (left,) = await service.open_forks(T)
    if appends > 2:
        await left.discard("too late")
        assert await left.state() == MERGING
    first = await left.merge()
    assert await left.merge() == first
    assert said(await service.tape(T).read()) == ["a", "b", "c"]
    assert await service.open_forks(T) == []


async def test_a_fork_that_was_left_is_found_with_its_parents(service: TapeService) -> None:
    outer = await service.tape(T).fork()
    await outer.append(message("user", "b"))
    inner = await outer.fork(merge_back=False)
    await inner.append(message("user", "c"))
    found = await find_fork(service.tape(inner.name))
    assert said(await found.read()) == ["a", "b", "c"]
    assert (found.parent.name, found.at, found.merge_back) == (outer.name, 4, False)
    assert {fork.name for fork in await service.open_forks(T)} == {outer.name, inner.name}


async def test_what_a_model_calls_its_anchors_does_not_end_a_fork(service: TapeService) -> None:
    async with service.fork_tape(T) as fork:
        await fork.append(message("user", "b"), anchor(DISCARDED), anchor(MERGED))
    names = [entry.name for entry in await service.tape(T).anchors()]
    assert names == ["session/start", DISCARDED, MERGED]
    assert said(await service.tape(T).read()) == ["a", "b"]


async def test_a_tape_that_is_no_fork_is_not_taken_for_one(service: TapeService) -> None:
    with pytest.raises(TapeError, match="is not a fork"):
        await find_fork(service.tape(T))


# What is deleted.


async def test_what_is_deleted_after_a_fork_was_opened_is_gone_in_it_too(
    store: MemoryStore,
) -> None:
    tape = Tape(store, T)
    (said,) = await tape.append(message("user", "a secretword"))
    await tape.handoff("phase:one")
    await tape.append(message("user", "filler"))
    early = await tape.fork()
    within = await early.fork()
    await tape.append(message("user", "later"), deletion(said.id, "1"))
    for fork in (early, within, await tape.fork(at="phase:one")):
        assert "secretword" not in str(await fork.full_context())
        built = await fork.context_for("filler")
        assert built.messages
        assert "secretword" not in str(built.messages)
        assert await fork.search("secretword") == []
    assert "secretword" in str(await TapeSnapshot(early, said.id).full_context())


async def test_a_deletion_of_what_the_parent_got_later_touches_nothing_of_the_fork(
    store: MemoryStore,
) -> None:
    tape = Tape(store, T)
    fork = await tape.fork()
    (own,) = await fork.append(message("user", "kept"))
    (other,) = await tape.append(message("user", "other"))
    assert own.id == other.id
    await tape.append(deletion(other.id, "1"))
    assert "kept" in str(await fork.full_context())
    assert [entry.text for entry in await fork.search("kept")] == ["kept"]


async def test_what_a_fork_deletes_is_not_found_in_it(store: MemoryStore) -> None:
    tape = Tape(store, T)
    (said,) = await tape.append(message("user", "word of the chat"))
    fork = await tape.fork()
    (own,) = await fork.append(message("user", "word of the fork"))
    await fork.append(message("user", "word that stays"))
    await fork.append(deletion(own.id, "1"), deletion(said.id, "2"))
    assert [entry.text for entry in await fork.search("word")] == ["word that stays"]
    assert len(await tape.search("word")) == 1
