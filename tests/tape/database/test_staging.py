"""An import through a staging tape: seen as a whole, beside other writers, on every store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import anyio
import apsw
import pytest
from anyio.lowlevel import checkpoint

from tape.entry import NewEntry, bootstrap, message
from tape.errors import AppendRefused, StoreUnavailable, TapeError, TapeMismatch
from tape.handle import Tape
from tape.query import Query
from tape.store import BatchStore, TapeStore
from tape.stores.jsonl.folder import INDEX
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore
from tape.stores.sqlite import SqliteStore
from tape.unit_of_work import Append, AppendBatch, Batch, Copy, Publish, Unit

OPENERS: dict[str, Callable[[Path], TapeStore]] = {
    "file": lambda folder: FileStore.open(folder / "tapes"),
    "memory": lambda _folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore.open(folder / "t.db"),
}
COUNT = 3000
STAGED = "import.staging.x"


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


class Gate:
    """A clock that stops the writer, so that what is submitted meanwhile shares one batch."""

    def __init__(self) -> None:
        self._reached, self._opened = Event(), Event()
        self._opened.set()

    def now(self) -> datetime:
        self._reached.set()
        assert self._opened.wait(30)
        return datetime(2026, 1, 1, tzinfo=UTC)

    async def in_one_batch(self, store: FileStore, *units: Unit) -> list[TapeError | None]:
        """Commit units in one batch, and return the error of each."""
        errors: list[TapeError | None] = [None] * len(units)

        async def commit(number: int, unit: Unit) -> None:
            try:
                await store.commit(unit)
            except TapeError as error:
                errors[number] = error

        self._reached.clear()
        self._opened.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.append, "busy", [message("user", "a")])
            await anyio.to_thread.run_sync(self._reached.wait, 30)
            for number, unit in enumerate(units):
                tasks.start_soon(commit, number, unit)
            await anyio.wait_all_tasks_blocked()
            self._opened.set()
        return errors


def appending(tape: str, *entries: NewEntry) -> Unit:
    return Unit([Append(tape, entries)])


async def stage(store: FileStore, tape: str, added: int) -> Unit:
    """Make a staging tape with more entries than a tape; return the unit that publishes it."""
    size = await store.size(tape)
    await store.begin_copy(tape, STAGED, size)
    await store.commit(Unit([Copy(tape, STAGED, 0, size)]))
    await store.commit(Unit([AppendBatch(STAGED, tuple(map(said, range(added))), size)]))
    return Unit([Publish(tape, STAGED, size)])


async def test_an_append_beside_a_publish_is_on_the_published_tape(tmp_path: Path) -> None:
    gate = Gate()
    store = FileStore.open(tmp_path / "tapes", gate.now)
    await store.append("t", [said(number) for number in range(100)])
    publish = await stage(store, "t", 300)
    later = appending("t", message("user", "later"))
    assert await gate.in_one_batch(store, appending("t"), publish, later) == [None] * 3
    entries = await store.query(Query("t"))
    assert [entry.id for entry in entries] == list(range(1, 404))
    assert entries[-1].text == "later"
    await store.close()
    again = FileStore.open(tmp_path / "tapes")
    assert await again.query(Query("t")) == entries
    assert again.notes() == []
    await again.close()


async def test_a_publish_that_fails_with_another_tapes_write_leaves_the_tape_as_it_was(
    tmp_path: Path,
) -> None:
    gate = Gate()
    store = FileStore.open(tmp_path / "tapes", gate.now)
    for number in range(40):
        await store.append("t", [said(number)])
    await store.append("other", [said(1)])
    before, file = await store.query(Query("t")), tmp_path / "tapes" / "t.jsonl"
    content = file.read_bytes()
    publish = await stage(store, "t", 300)
    with (tmp_path / "tapes" / "other.jsonl").open("ab") as other:
        other.write(b"{")  # its next write is refused
    errors = await gate.in_one_batch(store, publish, appending("other", said(2)))
    assert [type(error) for error in errors] == [StoreUnavailable] * 2
    assert file.read_bytes() == content
    assert await store.query(Query("t")) == before
    await import_into(store, "t", Batch(whole, 42, COUNT - 42))
    assert await store.size("t") == COUNT
    assert await store.staged() == []
    assert list((tmp_path / "tapes").glob("import*")) == []
    await store.close()


async def test_a_tape_is_readable_while_an_import_continues_it(store: TapeStore) -> None:
    await store.append("t", [said(number) for number in range(100)])
    first = await store.query(Query("t", limit=50))
    done = False

    async def read() -> None:
        while not done:
            assert await store.query(Query("t", limit=50)) == first
            newest = await store.query(Query("t", newest=True, limit=1))
            assert newest[0].id >= 102
            await checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        for size in range(102, 102 + 4 * 501, 501):
            await import_into(store, "t", Batch(whole, size, 501))
        done = True


async def test_a_continued_file_keeps_its_lines_and_their_keys(tmp_path: Path) -> None:
    store = FileStore.open(tmp_path / "tapes")
    (keyed,) = await store.append("t", [said(1)], "k")
    file = tmp_path / "tapes" / "t.jsonl"
    lines = file.read_bytes()
    await import_into(store, "t", Batch(whole, 3, COUNT - 3))
    await store.close()
    assert file.read_bytes().startswith(lines)
    assert file.stat().st_mode & 0o777 == 0o600
    for index in (tmp_path / "tapes").glob(f"{INDEX}*"):
        index.unlink()
    store = FileStore.open(tmp_path / "tapes")
    assert await store.append("t", [said(2)], "k") == [keyed]
    assert await store.size("t") == COUNT
    await store.close()


async def test_an_import_continues_a_tape_with_an_entry_that_is_refused_today(
    tmp_path: Path,
) -> None:
    store = SqliteStore.open(tmp_path / "t.db")
    await store.append("t", [said(1), said(2)])
    await store.close()
    database = apsw.Connection(str(tmp_path / "t.db"))
    database.execute("DROP TRIGGER entry_never_updated")
    database.execute("""UPDATE entry SET kind = 'tool_result', payload = '{}' WHERE id = 3""")
    database.close()
    store = SqliteStore.open(tmp_path / "t.db")
    before = await store.query(Query("t"))
    await import_into(store, "t", Batch(whole, 4, COUNT - 4))
    assert (await store.query(Query("t")))[:4] == before
    assert await store.size("t") == COUNT
    await store.close()


async def test_an_import_continues_a_tape_whose_dates_are_out_of_order(store: TapeStore) -> None:
    def dated(number: int, date: str) -> NewEntry:
        return NewEntry("message", said(number).payload, {}, date)

    await store.append("t", [dated(3, "2030-01-01T00:00:00.000Z")])
    await store.append("t", [dated(4, "2020-01-01T00:00:00.000Z")])
    await import_into(store, "t", Batch(whole, 4, COUNT - 4))
    found = await store.query(Query("t", until="2021-01-01T00:00:00.000Z"))
    assert [entry.text for entry in found] == ["plum 4"]
    later = await store.query(Query("t", since="2021-01-01T00:00:00.000Z"))
    assert len(later) == COUNT - 1


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
