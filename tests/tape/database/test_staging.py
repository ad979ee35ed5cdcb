"""An import through a staging tape: seen as a whole, beside other writers, on every store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import anyio
import apsw
import pytest

from tape.entry import NewEntry, bootstrap, message
from tape.errors import AppendRefused, TapeMismatch
from tape.handle import Tape
from tape.query import Query
from tape.store import BatchStore, TapeStore
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore
from tape.stores.sqlite import SqliteStore
from tape.unit_of_work import Batch, Publish, Unit

pytestmark = pytest.mark.anyio

OPENERS: dict[str, Callable[[Path], TapeStore]] = {
    "file": lambda folder: FileStore.open(folder / "tapes"),
    "memory": lambda _folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore.open(folder / "t.db"),
}
COUNT = 3000


@pytest.fixture(params=sorted(OPENERS))
def opener(request: pytest.FixtureRequest) -> Callable[[Path], TapeStore]:
    return OPENERS[request.param]


@pytest.fixture
async def store(opener: Callable[[Path], TapeStore], tmp_path: Path) -> AsyncIterator[TapeStore]:
    store = opener(tmp_path)
    yield store
    await store.close()


def said(number: int) -> NewEntry:
    return message("user", f"plum {number}", lane="a" if number % 2 else "b")


def whole() -> Iterator[NewEntry]:
    yield from bootstrap()
    for number in range(3, COUNT + 1):
        yield said(number)


async def import_into(store: TapeStore, tape: str, batch: Batch) -> None:
    assert isinstance(store, BatchStore)
    await store.append_batch(tape, batch)


async def test_an_import_is_seen_as_a_whole_and_others_write_beside_it(store: TapeStore) -> None:
    read, written = Event(), Event()

    def slowly() -> Iterator[NewEntry]:
        for number, new in enumerate(whole()):
            if number == 2000:
                read.set()
                assert written.wait(30)
            yield new

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(import_into, store, "t", Batch(slowly, 0, COUNT))
        await anyio.to_thread.run_sync(read.wait, 30)
        await store.append("other", [message("user", "meanwhile")])
        assert await store.query(Query("t")) == []
        assert [info.name for info in await store.tapes()] == ["other"]
        written.set()
    entries = await store.query(Query("t"))
    assert [entry.id for entry in entries] == list(range(1, COUNT + 1))
    assert [info.name for info in await store.tapes()] == ["other", "t"]


async def test_what_an_append_beside_it_wrote_stops_the_import(store: TapeStore) -> None:
    read, written = Event(), Event()

    def slowly() -> Iterator[NewEntry]:
        yield from bootstrap()
        read.set()
        assert written.wait(30)
        yield from map(said, range(3, COUNT + 1))

    async def quicker() -> None:
        await anyio.to_thread.run_sync(read.wait, 30)
        await store.append("t", [message("user", "quicker")])
        written.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(quicker)
        with pytest.raises(TapeMismatch):
            await import_into(store, "t", Batch(slowly, 0, COUNT))
    assert [entry.text for entry in await store.query(Query("t", kinds=("message",)))] == [
        "quicker"
    ]


async def test_a_failed_import_leaves_nothing_and_the_next_one_succeeds(store: TapeStore) -> None:
    def broken() -> Iterator[NewEntry]:
        yield from map(said, range(2000))
        raise OSError("the disk is gone")

    with pytest.raises(AppendRefused, match="the disk is gone"):
        await import_into(store, "t", Batch(broken, 0, COUNT))
    assert await store.tapes() == []
    await import_into(store, "t", Batch(whole, 0, COUNT))
    assert await store.size("t") == COUNT


async def test_an_import_continues_a_tape_which_keeps_its_keys(store: TapeStore) -> None:
    tape = Tape(store, "t")
    await import_into(store, "t", Batch(whole, 0, 1200))
    (keyed,) = await tape.append(said(1201), key="k")
    before = await tape.read()

    def longer() -> Iterator[NewEntry]:
        yield from whole()

    await import_into(store, "t", Batch(longer, 1201, COUNT - 1201))
    assert (await tape.read())[:1201] == before
    assert await tape.size() == COUNT
    assert await tape.append(message("user", "again"), key="k") == [keyed]
    assert [entry.id for entry in await tape.append(message("user", "on"))] == [COUNT + 1]
    assert [info.name for info in await store.tapes()] == ["t"]
    found = [entry.id for entry in await tape.search("plum", limit=3)]
    assert found == [COUNT, COUNT - 1, COUNT - 2]


@pytest.mark.parametrize("durable", ["file", "sqlite"])
async def test_an_import_is_there_after_a_restart(durable: str, tmp_path: Path) -> None:
    opener = OPENERS[durable]
    store = opener(tmp_path)
    await import_into(store, "t", Batch(whole, 0, 1200))
    await import_into(store, "t", Batch(whole, 1200, COUNT - 1200))
    entries = await store.query(Query("t"))
    await store.close()
    again = opener(tmp_path)
    assert await again.query(Query("t")) == entries
    assert [info.name for info in await again.tapes()] == ["t"]
    await again.close()


async def test_the_index_of_words_follows_a_tape_that_an_import_replaces(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "t.db")
    tape = Tape(store, "t")
    await import_into(store, "t", Batch(whole, 0, 1200))
    await store.indexed()
    await import_into(store, "t", Batch(whole, 1200, COUNT - 1200))
    found = [entry.id for entry in await tape.search("plum", limit=COUNT)]
    assert found == list(range(COUNT, 2, -1))
    await store.indexed()
    assert [entry.id for entry in await tape.search("plum", limit=COUNT)] == found
    assert store.search_state().problem == ""
    await store.close()
    index = apsw.Connection(str(tmp_path / "t.db-search"), flags=apsw.SQLITE_OPEN_READONLY)
    assert index.execute("SELECT name, low, high FROM covered").get == ("t", 1, COUNT)
    assert index.execute("SELECT count(*) FROM talk").get == COUNT - 1
    index.close()


async def test_what_a_killed_import_left_is_dropped(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "t.db")
    await import_into(store, "import.staging.left", Batch(whole, 0, COUNT))
    assert await store.tapes() == []
    await import_into(store, "t", Batch(whole, 0, COUNT))
    await store.close()
    database = apsw.Connection(str(tmp_path / "t.db"), flags=apsw.SQLITE_OPEN_READONLY)
    assert database.execute("SELECT count(*) FROM entry").get == COUNT
    assert database.execute("SELECT name FROM tape").get == "t"
    database.close()
    files = FileStore.open(tmp_path / "tapes")
    await files.append("import.staging.left", [message("user", "a")])
    await files.close()
    await FileStore.open(tmp_path / "tapes").close()
    assert list((tmp_path / "tapes").glob("*.jsonl")) == []


async def test_an_append_beside_a_publish_is_on_the_published_tape(tmp_path: Path) -> None:
    busy, queued = Event(), Event()

    def now() -> datetime:
        busy.set()
        assert queued.wait(30)
        return datetime(2026, 1, 1, tzinfo=UTC)

    queued.set()
    store = FileStore.open(tmp_path / "tapes", now)
    await store.append("t", [said(number) for number in range(100)])
    await import_into(store, "import.staging.x", Batch(whole, 0, 400))  # in one piece
    busy.clear()
    queued.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.append, "other", [message("user", "a")])
        await anyio.to_thread.run_sync(busy.wait, 30)
        tasks.start_soon(store.append, "t", [])
        tasks.start_soon(store.commit, Unit([Publish("t", "import.staging.x", 102)]))
        tasks.start_soon(store.append, "t", [message("user", "later")])
        await anyio.wait_all_tasks_blocked()
        queued.set()
    entries = await store.query(Query("t"))
    assert [entry.id for entry in entries] == list(range(1, 402))
    assert entries[-1].text == "later"
    await store.close()
    again = FileStore.open(tmp_path / "tapes")
    assert await again.query(Query("t")) == entries
    assert again.notes() == []
    await again.close()


async def test_a_tape_that_is_no_staging_tape_is_still_never_renamed_or_removed(
    tmp_path: Path,
) -> None:
    store = SqliteStore.open(tmp_path / "t.db")
    await store.append("t", [message("user", "a")], "k")
    await store.close()
    database = apsw.Connection(str(tmp_path / "t.db"))
    for statement in (
        "UPDATE tape SET name = 'u'",
        "UPDATE tape SET tape = 9",
        "DELETE FROM tape",
        "DELETE FROM entry",
        "DELETE FROM append_key",
        "UPDATE entry SET kind = 'error'",
    ):
        with pytest.raises(apsw.ConstraintError, match=r"append-only|never"):
            database.execute(statement)
    database.close()
