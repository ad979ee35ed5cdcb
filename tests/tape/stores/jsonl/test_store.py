"""Tapes as files of JSON lines: what stands in them, and what they cost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import anyio
import apsw
import pytest

from tape.entry import NewEntry, anchor, bootstrap, message
from tape.errors import AppendRefused, StoreUnavailable
from tape.query import Query
from tape.stores.jsonl.folder import INDEX
from tape.stores.jsonl.index import open_index
from tape.stores.jsonl.store import FileReader, FileStore
from tape.unit_of_work import Batch
from tests.tape.stores.jsonl.folders import T, entries_of, said, without_index, written

# What stands in the files.


async def test_a_line_has_the_five_keys_and_the_marks_stand_in_meta(folder: Path) -> None:
    path = await written(folder)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert all(list(line) == ["id", "kind", "payload", "meta", "date"] for line in lines)
    assert [line["meta"].get("block") for line in lines[:6]] == [
        *([1, 3], [2, 3], [3, 3]),
        *([1, 3], [2, 3], [3, 3]),
    ]
    assert [line["meta"].get("key") for line in lines[:4]] == [None, None, "first", None]
    assert "你好 0" in path.read_text("utf-8")


async def test_no_mark_is_shown_and_a_meta_with_such_keys_comes_back(store: FileStore) -> None:
    metas: list[dict[str, Any]] = [
        {"key": "own", "block": [9, 9], "sum": "0" * 16},
        {"meta": {"meta": 1}, "lane": "a"},
        {"sum": '"sum":"'},
        {},
    ]
    await store.append(T, [said("a", **meta) for meta in metas], "k")
    found = await store.query(Query(T, kinds=("message",)))
    assert [entry.meta for entry in found] == metas
    assert [entry.id for entry in await store.query(Query(T, lane="a"))] == [4]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../x", "A", "a", "中", "%2f", "a b\n", "\x00"]
)
async def test_every_name_has_a_file_of_its_own_inside_the_folder(folder: Path, name: str) -> None:
    store = FileStore.open(folder)
    await store.append(name, [said("here")])
    await store.append("other", [said("there")])
    await store.close()
    without_index(folder)
    store = FileStore.open(folder)
    assert {info.name: info.size for info in await store.tapes()} == {name: 3, "other": 3}
    await store.close()
    assert {path.parent for path in folder.parent.rglob("*.jsonl")} == {folder}


async def test_a_name_too_long_for_a_file_is_refused(store: FileStore) -> None:
    with pytest.raises(AppendRefused, match="too long"):
        await store.append("a" * 300, [said("a")])


async def test_a_reopened_store_has_everything_also_without_its_index(folder: Path) -> None:
    await written(folder)
    whole = await entries_of(folder)
    for thrown_away in (False, True):
        if thrown_away:
            without_index(folder)
        store = FileStore.open(folder)
        assert await store.query(Query(T)) == whole
        assert await store.query(Query(T, after_anchor="phase:one", limit=1)) == [whole[5]]
        assert await store.append(T, [said("other")], "key 3") == whole[12:14]
        assert await store.size(T) == len(whole)
        await store.close()


@pytest.mark.parametrize("content", [b"", b"no database", b"\x00" * 8192])
async def test_an_index_that_cannot_be_used_is_made_again(folder: Path, content: bytes) -> None:
    await written(folder)
    whole = await entries_of(folder)
    without_index(folder)
    (folder / INDEX).write_bytes(content)
    assert await entries_of(folder) == whole


async def test_an_index_of_other_files_is_not_believed(folder: Path, tmp_path: Path) -> None:
    path = await written(folder)
    other = await written(tmp_path / "other", "else")
    store = FileStore.open(tmp_path / "other")
    await store.append("else", [said("only here")])
    await store.close()
    path.write_bytes(other.read_bytes())
    assert (await entries_of(folder))[-1].text == "only here"
    path.unlink()
    store = FileStore.open(folder)
    assert await store.tapes() == []
    assert [entry.id for entry in await store.append(T, [said("again")])] == [3]
    await store.close()


async def test_a_longer_file_in_which_no_line_ends_where_the_old_one_did_is_read_from_the_start(
    folder: Path, tmp_path: Path
) -> None:
    other = FileStore.open(tmp_path / "other")
    await other.append(T, [said("x" * 5000), said("longer"), said("than before")])
    await other.close()
    await written(folder, "beside")
    store = FileStore.open(folder)
    await store.append(T, [said("a")])
    await store.close()
    (tmp_path / "other" / f"{T}.jsonl").replace(folder / f"{T}.jsonl")
    texts = [entry.text for entry in await entries_of(folder) if entry.kind == "message"]
    assert texts == ["x" * 5000, "longer", "than before"]
    assert len(await entries_of(folder, "beside")) > 40


async def test_an_index_with_rows_beyond_its_checkpoint_is_made_again(folder: Path) -> None:
    await written(folder)
    before = await entries_of(folder)
    index = apsw.Connection(str(folder / INDEX))
    index.execute("UPDATE tape SET bytes = 0, sum = CAST('0000000000000000' AS BLOB)")
    index.close()
    assert await entries_of(folder) == before
    store = FileStore.open(folder)
    assert [entry.text for entry in await store.append(T, [said("again")], "key 3")] == [
        "你好 3",
        "xxx",
    ]
    await store.close()


async def test_another_process_is_kept_out(folder: Path, store: FileStore) -> None:
    with pytest.raises(StoreUnavailable, match="another process uses"):
        FileStore.open(folder)
    await store.close()
    FileStore.open(folder).folder.close()


def test_a_place_where_no_folder_can_be_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "file", tmp_path / "file" / "tapes"):
        with pytest.raises(StoreUnavailable, match="cannot be opened"):
            FileStore.open(path)


async def test_a_closed_store_takes_and_tells_nothing(folder: Path) -> None:
    store = FileStore.open(folder)
    await store.close()
    await store.close()
    for ask in (store.append(T, [said("a")]), store.query(Query(T)), store.tapes(), store.size(T)):
        with pytest.raises(StoreUnavailable):
            await ask


# What it costs.


async def test_many_tapes_keep_no_file_open_and_little_in_memory(
    folder: Path, store: FileStore
) -> None:
    async def write(number: int) -> None:
        await store.append(f"tape {number}", [said("a")])

    async with anyio.create_task_group() as group:
        for number in range(300):
            group.start_soon(write, number)
    for number in range(0, 300, 10):
        await store.query(Query(f"tape {number}", limit=5))
    assert _held() == []
    assert len(await store.tapes()) == 300


def _held() -> list[str]:
    held = [str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    return [one for one in held if one.endswith(".jsonl")]


READS: Final = {
    "newest": Query(T, limit=5, newest=True),
    "from an anchor on": Query(T, after_anchor="phase:5", limit=50),
    "newest of a lane": Query(T, lane="a", limit=5, newest=True),
    "newest that say a text": Query(T, text="WORD", limit=5, newest=True),
}


@pytest.mark.parametrize("query", READS.values(), ids=READS.keys())
async def test_a_read_costs_what_it_returns(query: Query, tmp_path: Path) -> None:
    short = await _read_bytes(query, tmp_path / "short", blocks=10)
    long = await _read_bytes(query, tmp_path / "long", blocks=100)
    assert long < 2 * short + 20_000


async def _read_bytes(query: Query, folder: Path, blocks: int) -> int:
    """Return how many bytes this process reads to answer, on a tape of so many blocks."""
    store = FileStore.open(folder)
    for number in range(blocks):
        block = [said(f"a word {place}", lane="ab"[place % 2]) for place in range(40)]
        await store.append(T, [*block, anchor(f"phase:{number}")])
    await store.close()
    reader = FileReader(open_index(folder / INDEX), store.folder)
    before = _bytes_read()
    assert reader.query(query)
    reader.close()
    return _bytes_read() - before


def _bytes_read() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])


# Other things in the folder.


async def test_other_files_in_the_folder_are_ignored(folder: Path) -> None:
    await written(folder)
    (folder / "a-folder.jsonl").mkdir()
    (folder / "a-link.jsonl").symlink_to("/nowhere")
    (folder / f"{'a' * 245}.jsonl").touch()
    (folder / os.fsdecode(b"\xff.jsonl")).touch()
    store = FileStore.open(folder)
    assert [info.name for info in await store.tapes()] == [T]
    with pytest.raises(StoreUnavailable, match="a-folder"):
        await store.query(Query("a-folder"))
    (said,) = await store.append(T, [message("user", "goes on")])
    assert said.text == "goes on"
    await store.close()


async def test_an_import_that_cannot_be_read_fails_alone(store: FileStore) -> None:
    def unreadable() -> Iterator[NewEntry]:
        yield from bootstrap()
        raise OSError("the file is gone")

    refused: list[AppendRefused] = []

    async def append_batch() -> None:
        with pytest.raises(AppendRefused, match="the file is gone") as caught:
            await store.append_batch("other", Batch(unreadable, 0, 3))
        refused.append(caught.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(append_batch)
        tasks.start_soon(store.append, T, [said("one")])
    assert refused
    assert [entry.text for entry in await store.query(Query(T, kinds=("message",)))] == ["one"]
    assert await store.size("other") == 0
