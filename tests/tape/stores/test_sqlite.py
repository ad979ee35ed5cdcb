"""The SQLite store: what is on the disk cannot be rewritten, lost, or mistaken."""

from __future__ import annotations

import struct
from pathlib import Path
from threading import Timer
from typing import Final

import anyio
import apsw
import pytest

from tape.database.connection import Database, migrate
from tape.database.schema import Schema
from tape.entry import NewEntry, anchor, message
from tape.errors import StoreTooNew, StoreUnavailable, StoreUnusable
from tape.query import Query
from tape.stores.sqlite import SqliteStore, tape_schema

T: Final = "chat"
ROOT: Final = Path(__file__).parents[3]


def said(text: str) -> NewEntry:
    return message("user", text)


async def texts(store: SqliteStore) -> list[str]:
    return [entry.text for entry in await store.query(Query(T, kinds=("message",)))]


def dump_of(path: Path) -> list[tuple[object, ...]]:
    """Return every row of every table of the tapes, read by a connection of our own."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [
            (table, *row)
            for table in ("tape", "entry", "append_key")
            for row in connection.execute(f"SELECT * FROM {table}")
        ]
    finally:
        connection.close()


ENTRY: Final = "(pos, tape, id, kind, name, author, lane, turn, payload, meta, date)"
VALUES: Final = "'message', NULL, NULL, NULL, NULL, '{}', '{}', 'x'"
THIRD: Final = f"SELECT pos, tape, id, {VALUES} FROM entry WHERE id = 3"
REWRITES: Final = [
    "UPDATE entry SET payload = '{}'",
    "UPDATE entry SET meta = '{}' WHERE id = 3",
    "UPDATE OR IGNORE entry SET id = id",
    "UPDATE OR REPLACE entry SET id = id",
    "DELETE FROM entry",
    "DELETE FROM entry WHERE id = (SELECT max(id) FROM entry)",
    "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE id = 4",
    f"REPLACE INTO entry {ENTRY} SELECT pos, tape, id, {VALUES} FROM entry WHERE id = 1",
    f"INSERT INTO entry {ENTRY} {THIRD} ON CONFLICT DO UPDATE SET payload = '{{}}'",
    f"INSERT INTO entry {ENTRY} {THIRD} ON CONFLICT DO NOTHING",
    f"INSERT INTO entry {ENTRY} VALUES (4294967296 + 6, 1, 6, {VALUES})",
    f"INSERT INTO entry {ENTRY} VALUES (4294967296 + 4294967295, 1, 4294967295, {VALUES})",
    f"INSERT INTO entry {ENTRY} VALUES (4294967296 + 0, 1, 0, {VALUES})",
    f"INSERT INTO entry {ENTRY} VALUES (4294967296 + 4, 1, 5, {VALUES})",
    f"INSERT OR IGNORE INTO entry {ENTRY} VALUES (4294967296 + 9, 1, 9, {VALUES})",
    "UPDATE tape SET name = 'another'",
    "DELETE FROM tape",
    "INSERT OR REPLACE INTO tape (tape, name) VALUES (1, 'another')",
    "INSERT OR REPLACE INTO tape (tape, name) VALUES (7, 'chat')",
    "UPDATE append_key SET first = 1",
    "DELETE FROM append_key",
    "INSERT OR REPLACE INTO append_key (tape, key, first, count) VALUES (1, 'k', 1, 1)",
]


@pytest.mark.parametrize("sql", REWRITES)
async def test_whoever_holds_a_connection_cannot_rewrite_history(
    store: SqliteStore, path: Path, sql: str
) -> None:
    await store.append(T, [said("a"), said("b")], "k")
    before = dump_of(path)
    hostile = apsw.Connection(str(path))
    try:
        with pytest.raises(apsw.ConstraintError):
            hostile.execute(sql)
    finally:
        hostile.close()
    assert dump_of(path) == before
    assert [entry.id for entry in await store.append(T, [said("c")])] == [5]


async def test_a_reopened_store_has_everything(path: Path) -> None:
    store = SqliteStore.open(path)
    first = await store.append(T, [said("中"), anchor("phase:one", {"b": 1, "a": [2]})], "k")
    everything = await store.query(Query(T))
    listed = await store.tapes()
    await store.close()
    again = SqliteStore.open(path)
    assert await again.query(Query(T)) == everything
    assert await again.tapes() == listed
    assert await again.append(T, [said("other")], "k") == first
    assert [entry.id for entry in await again.append(T, [said("b")])] == [5]
    await again.close()


async def test_a_closed_store_takes_and_tells_nothing(path: Path) -> None:
    store = SqliteStore.open(path)
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.append(T, [said("a")])
    with pytest.raises(StoreUnavailable):
        await store.query(Query(T))
    with pytest.raises(StoreUnavailable):
        await store.tapes()


def test_a_file_that_somebody_holds_for_a_moment_is_waited_for(path: Path) -> None:
    """After a kill, the first to look at the file recovers its log, and holds it meanwhile."""
    Database.open(path, [tape_schema()])
    holder = apsw.Connection(str(path))
    holder.pragma("locking_mode", "exclusive")
    holder.execute("BEGIN IMMEDIATE")
    later = Timer(0.2, holder.close, [True])
    later.start()
    Database.open(path, [tape_schema()])
    later.join()


def test_what_is_committed_is_synced_to_the_disk(path: Path) -> None:
    connection = Database.open(path, [tape_schema()]).writer()
    assert connection.pragma("synchronous") == 2  # FULL
    assert connection.pragma("journal_mode") == "wal"
    connection.close()


async def test_closing_finishes_what_was_submitted(path: Path) -> None:
    store = SqliteStore.open(path)
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(store.append, T, [said(str(number))])
        await anyio.lowlevel.checkpoint()
        await store.close()
    again = SqliteStore.open(path)
    assert sorted(map(int, await texts(again))) == list(range(20))
    await again.close()


async def test_a_caller_that_is_cancelled_leaves_a_whole_batch_or_none(store: SqliteStore) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.append(T, [said("a"), said("b")])
    await store.append(T, [said("c")])
    assert await texts(store) in (["a", "b", "c"], ["c"])


async def test_a_query_never_reaches_another_tape_whatever_numbers_it_has(
    store: SqliteStore,
) -> None:
    for name in ("before", T, "behind"):
        await store.append(name, [said(f"of {name}")])
    room = 2**32
    for numbers in ((room + 3, 3 - room), (2**63, -(2**63), 2**70), (3,)):
        found = await store.query(Query(T, ids=numbers, newest=True))
        assert [entry.text for entry in found] == (["of chat"] if 3 in numbers else [])
    for far in (room, 2 * room, 2**62, 2**63 - 1, 2**70):
        for query in (Query(T, after=-far, before=far), Query(T, before=far, limit=9)):
            assert [entry.text for entry in await store.query(query)][2:] == ["of chat"]
        assert await store.query(Query(T, after=far)) == []


# Databases that are not ours to touch.


def make_database(path: Path, *schemas: Schema, sql: str = "") -> bytes:
    """Make a store's database, change it by hand, and return its bytes."""

    async def make() -> None:
        store = SqliteStore.open(path, schemas)
        await store.append(T, [said("a")])
        await store.close()

    anyio.run(make)
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()
    return path.read_bytes()


def test_a_database_of_a_newer_version_is_refused_untouched(path: Path) -> None:
    known = tape_schema().version
    sql = "INSERT INTO migration (name, version) VALUES ('tape', 99)"
    before = make_database(path, sql=sql)
    with pytest.raises(StoreTooNew, match=f"tape schema 99, this version knows {known}") as caught:
        SqliteStore.open(path)
    assert caught.value.path == path
    assert path.read_bytes() == before


def test_a_newer_version_is_named_by_what_it_wrote(path: Path) -> None:
    sql = "INSERT INTO migration (name, version, written_by) VALUES ('tape', 99, '7.8.9')"
    make_database(path, sql=sql)
    with pytest.raises(StoreTooNew, match=r"install Tapeway 7\.8\.9 or a newer one"):
        SqliteStore.open(path)


def test_a_newer_schema_beside_the_tapes_is_refused_untouched(path: Path) -> None:
    tables = ("CREATE TABLE own (a)", "CREATE TABLE more (a)")
    before = make_database(path, Schema("beside", tables, {}))
    with pytest.raises(StoreTooNew, match="beside schema 2, this version knows 1"):
        SqliteStore.open(path, [Schema("beside", tables[:1], {})])
    assert path.read_bytes() == before


async def test_a_database_of_before_dates_were_indexed_is_brought_up_to_date(path: Path) -> None:
    own = tape_schema()
    connection = apsw.Connection(str(path))
    migrate(connection, [Schema(own.name, own.migrations[:2], {})])
    connection.execute("INSERT INTO tape (name) VALUES ('chat')")
    for number, day in enumerate((1, 5, 3, 5, 4, 9), start=1):
        place = f"4294967296 + {number}, 1, {number}"
        values = VALUES.replace("'x'", f"'2026-01-0{day}T00:00:00.000000+00:00'")
        connection.execute(f"INSERT INTO entry {ENTRY} VALUES ({place}, {values})")
    connection.close()
    store = SqliteStore.open(path)
    for since, until, ids in ((3, 5, [3, 5]), (5, 6, [2, 4]), (6, 9, []), (4, 5, [5])):
        query = Query(T, since=f"2026-01-0{since}", until=f"2026-01-0{until}")
        assert [entry.id for entry in await store.query(query)] == ids
    await store.close()


async def test_a_database_that_was_killed_while_it_was_made_is_an_empty_one(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.close()
    store = SqliteStore.open(path)
    assert await store.tapes() == []
    await store.close()


def test_a_database_of_another_program_is_refused_untouched(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE entry (a); INSERT INTO entry VALUES (1)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match="another program"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"hello", b"no database at all. " * 500, b"\x00" * 8192])
def test_a_file_that_is_no_database_is_refused_untouched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreUnusable):
        SqliteStore.open(path)
    assert path.read_bytes() == content


def test_a_place_where_no_file_can_be_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path, tmp_path / "file" / "tapeway.db"):
        with pytest.raises(StoreUnavailable, match="cannot be opened"):
            SqliteStore.open(path)


# Group commit.


def commits_in_log(path: Path) -> int:
    """Count the transactions in the write-ahead log: the frames that carry a commit mark."""
    log = path.with_name(f"{path.name}-wal").read_bytes()
    page, salts = struct.unpack_from(">I", log, 8)[0], log[16:24]
    offsets = range(32, len(log), 24 + page)
    frames = ((log[at + 4 : at + 8], log[at + 8 : at + 16]) for at in offsets)
    return sum(mark != b"\0\0\0\0" and salt == salts for mark, salt in frames)


async def test_a_lone_append_is_a_transaction_of_its_own(store: SqliteStore, path: Path) -> None:
    await store.append(T, [])
    before = commits_in_log(path)
    for number in range(10):
        await store.append(T, [said(str(number))])
    assert commits_in_log(path) - before == 10


async def test_many_appends_at_once_share_few_transactions(store: SqliteStore, path: Path) -> None:
    await store.append(T, [])
    before = commits_in_log(path)
    async with anyio.create_task_group() as group:
        for number in range(300):
            group.start_soon(store.append, T, [said(str(number))])
    assert commits_in_log(path) - before < 30
    assert len(await texts(store)) == 300


async def test_a_file_that_is_damaged_inside_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "tapes.db"
    store = SqliteStore.open(path)
    for number in range(300):
        await store.append("t", [message("user", f"{number} " * 100)])
    await store.close()
    raw = bytearray(path.read_bytes())
    raw[4096 * 3 : 4096 * 6] = b"\xa5" * 4096 * 3
    path.write_bytes(raw)
    with pytest.raises(StoreUnusable, match=r"tapes\.db is not an intact tape database"):
        SqliteStore.open(path)
    assert path.read_bytes() == bytes(raw)
