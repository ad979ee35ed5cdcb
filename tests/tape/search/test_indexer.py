"""The index in the background: crashes, and what goes wrong with it; nothing waits for it."""

from __future__ import annotations

import random
import re
import sys
import threading
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import apsw
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tape.database.connection import Database
from tape.entry import anchor, event
from tape.erasing import tombstone
from tape.errors import TapeError
from tape.handle import Tape
from tape.query import Query
from tape.search.index_file import IDS_PER_TAPE, IndexFile
from tape.search.indexer import BATCH, Indexer
from tape.search.scan import Scanned
from tape.service import TapeService
from tape.stores.sqlite import SqliteStore, tape_schema
from tape.unit_of_work import Batch
from tests.kit.waiting import Patience
from tests.kit.ways import WatchedWay
from tests.tape.search.indexes import T, ask, index_path, places, said

ROOT: Final = Path(__file__).parents[3]


async def test_what_is_said_is_indexed_in_the_background(store: SqliteStore, path: Path) -> None:
    await store.append(T, [said("plum"), said("pear")])
    await store.append("other", [said("plum")])
    await store.indexed()
    assert places(path, "plum") == [IDS_PER_TAPE + 3, 2 * IDS_PER_TAPE + 3]
    await store.append(T, [said("plum again")])
    await store.indexed()
    assert places(path, "plum") == [IDS_PER_TAPE + 3, IDS_PER_TAPE + 5, 2 * IDS_PER_TAPE + 3]
    assert store.search_state().ready


async def test_what_is_taken_in_is_indexed(store: SqliteStore, path: Path) -> None:
    await store.append("other", [said("plum")])
    await store.indexed()
    await store.append_batch(T, Batch(lambda: (said(f"pear {n}") for n in range(3)), 0, 3))
    await store.indexed()
    assert places(path, "pear") == [2 * IDS_PER_TAPE + n for n in (1, 2, 3)]


async def test_a_store_that_is_opened_again_indexes_what_it_lacks(path: Path) -> None:
    store = SqliteStore.open(path)
    await store.append(T, [said("plum")])
    await store.indexed()
    await store.append(T, [said("plum")])
    await store.append("other", [said("plum")])
    await store.close()
    assert places(path, "plum") == [IDS_PER_TAPE + 3]
    again = SqliteStore.open(path)
    await again.indexed()
    await again.close()
    assert places(path, "plum") == [IDS_PER_TAPE + 3, IDS_PER_TAPE + 4, 2 * IDS_PER_TAPE + 3]


async def test_a_long_tape_is_indexed_from_new_to_old(path: Path) -> None:
    store = SqliteStore.open(path)
    await store.append(T, [said("quetzal"), *(said(f"plum {n}") for n in range(3 * BATCH))])
    await store.close()
    index_path(path).unlink(missing_ok=True)
    again = SqliteStore.open(path)
    tape = Tape(again, T)
    assert [entry.text for entry in await tape.search("plum", limit=1)] == [f"plum {3 * BATCH - 1}"]
    await again.indexed()
    assert [entry.id for entry in await tape.search("quetzal")] == [3]
    assert len(await tape.search("plum", limit=9999)) == 3 * BATCH
    await again.close()


async def test_the_words_of_a_fork_are_indexed_where_they_are_merged(
    store: SqliteStore, path: Path
) -> None:
    service = TapeService(store, Path("workspace"))
    await store.append(T, [said("plum")])
    async with service.fork_tape(T) as fork:
        await fork.append(said("pear"))
        await store.indexed()
        assert places(path, "pear") == []
        assert [entry.text for entry in await fork.search("pear")] == ["pear"]
    await store.indexed()
    assert places(path, "pear") == [IDS_PER_TAPE + 4]


async def test_an_edit_of_what_is_no_message_leaves_it_in_the_index(store: SqliteStore) -> None:
    await store.append(T, [anchor("plum", {})])
    await store.indexed()
    await store.append(T, [event("message.edit", {"entry": 3, "content": "pear"})])
    await store.indexed()
    assert [entry.id for entry in await Tape(store, T).search("plum")] == [3]


# Crashes. The child indexes what the parent has written, and is killed at a random moment.

INDEXING: Final = """
import sys, anyio
from pathlib import Path
from tape.entry import message
from tape.stores.sqlite import SqliteStore

async def main():
    store = SqliteStore.open(Path(sys.argv[1]))
    print("open", flush=True)
    for number in range(1_000_000):
        await store.append("chat", [message("user", f"plum w{number}")])
        if number % 20 == 0:
            await store.indexed()
        print("said", number, flush=True)

anyio.run(main)
"""


@pytest.mark.parametrize("seed", range(4))
async def test_a_killed_process_has_indexed_every_entry_once(path: Path, seed: int) -> None:
    store = SqliteStore.open(path)
    await store.append(T, [said(f"plum {number}") for number in range(3 * BATCH)])
    await store.close()
    chance = random.Random(seed)
    for _ in range(2):
        await _run_and_kill(path, chance.randrange(1, 60), chance.uniform(0, 0.05))
    again = SqliteStore.open(path)
    await again.indexed()
    everything = await again.query(Query(T, kinds=("message",)))
    assert places(path, "plum") == [IDS_PER_TAPE + entry.id for entry in everything]
    assert [entry.id for entry in await Tape(again, T).search("plum", limit=99)] == [
        entry.id for entry in reversed(everything[-99:])
    ]
    await again.close()


async def _run_and_kill(path: Path, lines: int, later: float) -> None:
    command = [sys.executable, "-c", INDEXING, str(path)]
    async with await anyio.open_process(command, cwd=ROOT) as child:
        assert child.stdout is not None
        stream = BufferedByteReceiveStream(child.stdout)
        for _ in range(lines):
            await stream.receive_until(b"\n", 200)
        await anyio.sleep(later)
        child.kill()


# Rebuilds.


# What goes wrong with the index stops nothing else.


async def test_an_index_that_cannot_be_written_stops_nothing(path: Path) -> None:
    index_path(path).mkdir()
    (index_path(path) / "in the way").touch()
    store = SqliteStore.open(path)
    tape = Tape(store, T)
    await tape.append(said("plum"))
    patience = Patience("the index has its problem")
    while not store.search_state().problem:
        await patience.pause()
    await tape.append(said("plum again"))
    assert [entry.id for entry in await tape.search("plum")] == [4, 3]
    state = store.search_state()
    assert not state.ready
    assert "cannot be written" in state.problem
    await store.close()


async def test_a_store_closes_without_waiting_for_the_rest_of_its_index(path: Path) -> None:
    store = SqliteStore.open(path)
    await store.append(T, [said(f"plum {number}") for number in range(20_000)])
    with anyio.move_on_after(0.05):
        await store.indexed()
    await store.close()
    assert len(places(path, "plum")) < 20_000
    again = SqliteStore.open(path)
    await again.indexed()
    assert len(places(path, "plum")) == 20_000
    await again.close()


async def test_an_answer_that_may_lack_something_old_says_so(
    store: SqliteStore, path: Path
) -> None:
    await store.append(T, [said("quetzal"), *(said(f"plum {n}") for n in range(3 * BATCH))])
    assert ask(path, "quetzal", most=100) == Scanned([], whole=False)
    assert ask(path, "plum", most=100).whole
    await store.indexed()
    assert len(ask(path, "quetzal", most=100).hits) == 1
    assert store.search_state().partial == 0


async def test_the_words_of_an_erased_entry_leave_the_file(store: SqliteStore, path: Path) -> None:
    first, _second = await store.append(T, [said("plum xylophonist"), said("plum")])
    await store.indexed()
    assert b"xylophonist" in _bytes_of(path)
    await store.erase(T, [tombstone(first, "2026-01-31")])
    await store.forget(T, [first.id])
    assert places(path, "xylophonist") == []
    assert places(path, "plum") == [IDS_PER_TAPE + 4]
    with closing(apsw.Connection(str(index_path(path)))) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    assert not any(b"xylophonist" in row[0] for row in _blocks_of(path))


async def test_words_that_cannot_be_taken_out_keep_no_others_there(
    store: SqliteStore, path: Path
) -> None:
    first, _second = await store.append(T, [said("plum"), said("pear")])
    await store.indexed()
    await store.erase(T, [tombstone(first, "2026-01-31")])
    async with anyio.create_task_group() as group:
        group.start_soon(_is_refused, store, 2**70)
        group.start_soon(store.forget, T, [first.id])
    assert places(path, "plum") == []
    assert places(path, "pear") == [IDS_PER_TAPE + 4]


async def _is_refused(store: SqliteStore, number: int) -> None:
    with pytest.raises(TapeError, match="still has words"):
        await store.forget(T, [number])


def test_a_waiting_forget_is_cancelled_when_the_indexer_ends(path: Path) -> None:
    indexer = Indexer(Database.open(path, [tape_schema()]), IndexFile(path))
    indexer.rebuild()
    failing = indexer.forget(T, [2**70])
    waiting = [indexer.forget(T, [number]) for number in range(3)]
    indexer.close()
    assert all(done.done() for done in (failing, *waiting))


def _bytes_of(path: Path) -> bytes:
    file = index_path(path)
    return file.read_bytes() + file.with_name(f"{file.name}-wal").read_bytes()


def _blocks_of(path: Path) -> list[tuple[bytes]]:
    connection = apsw.Connection(str(index_path(path)), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute("SELECT block FROM talk_data"))
    finally:
        connection.close()


async def test_the_index_gives_way_to_what_is_urgent_unless_somebody_waits_for_it(
    path: Path,
) -> None:
    store, way = SqliteStore.open(path), WatchedWay(inf)
    await store.append(T, [said("pear")])
    await store.indexed()
    store.give_way(way)
    await store.append(T, [said(f"plum {number}") for number in range(BATCH)])
    await anyio.to_thread.run_sync(way.asked.wait)
    assert places(path, "plum") == []
    assert not store.search_state().ready
    way.waits = False
    await ready(store)
    assert len(places(path, "plum")) == BATCH
    way.waits = True
    store.reindex()
    await store.indexed()
    await store.close()


async def test_the_index_goes_on_however_much_is_urgent(path: Path) -> None:
    store, way = SqliteStore.open(path), WatchedWay(0.01)
    store.give_way(way)
    await store.append(T, [said(f"plum {number}") for number in range(BATCH)])
    await ready(store)
    assert (way.waits, way.asked.is_set(), len(places(path, "plum"))) == (True, True, BATCH)
    await store.close()


async def ready(store: SqliteStore) -> None:
    """Wait until everything is indexed, without asking for that."""
    patience = Patience("everything is indexed")
    while not store.search_state().ready:
        await patience.pause()


def test_an_indexer_that_is_closed_leaves_no_thread(path: Path) -> None:
    database = Database.open(path, [tape_schema()])
    indexer = Indexer(database, IndexFile(path))
    indexer.close()
    assert "tape-indexer" not in {thread.name for thread in threading.enumerate()}


async def test_the_index_alone_answers_the_longest_searches(path: Path) -> None:
    numbers = " ".join(map(str, range(256)))
    characters = "".join(map(chr, range(0x4E00, 0x4F00)))
    mixed = " ".join(f"{chr(0x4E00 + n)}{chr(0x4E01 + n)}" for n in range(0, 250, 2))
    store = SqliteStore.open(path)
    await store.append(T, [said(text) for text in (numbers, characters, mixed)])
    await store.indexed()
    for text, ids in ((numbers, [3]), (f'"{numbers}"', [3]), (characters, [4]), (mixed, [5, 4])):
        assert [entry.id for entry in ask(path, text).hits] == ids
    await store.close()


def test_the_index_alone_answers_what_was_indexed(path: Path) -> None:
    async def write() -> None:
        store = SqliteStore.open(path)
        await store.append(T, [said(f"plum {number}") for number in range(50)])
        await store.indexed()
        await store.close()

    anyio.run(write)
    found = ask(path, "plum", limit=5)
    assert found.whole
    assert [int(re.findall(r"\d+", entry.text)[0]) for entry in found.hits] == [49, 48, 47, 46, 45]
