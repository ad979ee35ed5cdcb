"""An index that is damaged, or of another history of the database, is made again."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest
from anyio.lowlevel import checkpoint

from tape.handle import Tape
from tape.search.index_file import IDS_PER_TAPE
from tape.search.indexer import BATCH
from tape.stores.sqlite import SqliteStore
from tests.tape.search.indexes import T, index_path, places, said


async def test_an_index_is_rebuilt_while_searches_go_on(store: SqliteStore) -> None:
    tape = Tape(store, T)
    await tape.append(*(said(f"plum {number}") for number in range(2 * BATCH)))
    await store.indexed()
    newest = await tape.search("plum")
    store.reindex()
    for _ in range(20):
        assert await tape.search("plum") == newest
        await checkpoint()
    await tape.append(said("plum, and on"))
    assert (await tape.search("plum", limit=1))[0].text == "plum, and on"
    await store.indexed()
    assert len(await tape.search("plum", limit=9999)) == 2 * BATCH + 1
    assert store.search_state().ready


async def test_an_index_that_is_deleted_by_hand_is_rebuilt(store: SqliteStore, path: Path) -> None:
    tape = Tape(store, T)
    await tape.append(said("plum one"))
    await store.indexed()
    index_path(path).unlink()
    assert [entry.text for entry in await tape.search("plum")] == ["plum one"]
    await tape.append(said("plum two"))
    await store.indexed()
    assert places(path, "plum") == [IDS_PER_TAPE + 3, IDS_PER_TAPE + 4]
    assert [entry.text for entry in await tape.search("plum")] == ["plum two", "plum one"]


@pytest.mark.parametrize(
    "spoil",
    [
        b"no database at all. " * 500,
        "UPDATE about SET value = 'of other rules'",
        "DROP TABLE talk",
        "DELETE FROM talk_data WHERE id > 10",
        "UPDATE covered SET mark = '2020'",
        "UPDATE covered SET name = 'another'",
        "UPDATE covered SET high = 99",
    ],
    ids=str,
)
async def test_a_useless_index_is_rebuilt(path: Path, spoil: bytes | str) -> None:
    store = SqliteStore.open(path)
    await store.append(T, [said("plum")])
    await store.indexed()
    await store.close()
    if isinstance(spoil, bytes):
        index_path(path).write_bytes(spoil)
    else:
        connection = apsw.Connection(str(index_path(path)))
        connection.execute(spoil)
        connection.close()
    again = SqliteStore.open(path)
    assert [entry.id for entry in await Tape(again, T).search("plum")] == [3]
    await again.indexed()
    await again.append(T, [said("plum again")])
    await again.indexed()
    assert [entry.id for entry in await Tape(again, T).search("plum")] == [4, 3]
    await again.indexed()
    assert places(path, "plum") == [IDS_PER_TAPE + 3, IDS_PER_TAPE + 4]
    await again.close()


async def test_a_database_that_was_restored_from_a_backup_gets_an_index_of_its_own(
    path: Path, tmp_path: Path
) -> None:
    store = SqliteStore.open(path)
    await store.append(T, [said("plum")])
    await store.close()
    shutil.copy(path, tmp_path / "backup.db")
    store = SqliteStore.open(path)
    await store.append(T, [said("pear"), said("plum and pear")])
    await store.indexed()
    await store.close()
    for ending in ("-wal", "-shm"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup.db", path)
    store = SqliteStore.open(path)
    await store.append(T, [said("apple"), said("apple and pear")])
    await store.indexed()
    assert [entry.id for entry in await Tape(store, T).search("pear")] == [5]
    assert places(path, "pear") == [IDS_PER_TAPE + 5]
    await store.close()
