"""The file store: lines that anybody can read, of which nothing acknowledged is lost or changed."""

from __future__ import annotations

import json
import os
import random
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, Final

import anyio
import apsw
import pytest

from tape.entry import Entry, NewEntry, anchor, bootstrap, message
from tape.errors import AppendRefused, StoreUnavailable, StoreUnusable
from tape.query import Query
from tape.stores.jsonl.folder import INDEX
from tape.stores.jsonl.index import open_index
from tape.stores.jsonl.store import FileReader, FileStore
from tape.unit_of_work import Batch

pytestmark = pytest.mark.anyio

T: Final = "chat"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tapes"


@pytest.fixture
async def store(folder: Path) -> AsyncIterator[FileStore]:
    store = FileStore.open(folder)
    yield store
    await store.close()


def said(text: str, **meta: Any) -> NewEntry:
    return message("user", text, **meta)


async def entries_of(folder: Path, tape: str = T) -> list[Entry]:
    store = FileStore.open(folder)
    try:
        return await store.query(Query(tape))
    finally:
        await store.close()


async def written(folder: Path, tape: str = T) -> Path:
    """Write a tape of every kind of append, and return its file."""
    store = FileStore.open(folder)
    await store.append(tape, [said("one", lane="a")], "first")
    await store.append(tape, [said("two"), anchor("phase:one"), said("three")])
    for number in range(20):
        await store.append(tape, [said(f"你好 {number}"), said("x" * number)], f"key {number}")
    await store.append(tape, [said("end")])
    await store.close()
    return folder / f"{tape}.jsonl"


def without_index(folder: Path) -> None:
    for path in folder.glob(f"{INDEX}*"):
        path.unlink()


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


# Ends that a crash left.


async def test_a_tape_cut_at_any_byte_opens_and_has_every_block_that_is_whole(
    tmp_path: Path,
) -> None:
    path = await written(tmp_path / "whole")
    content = path.read_bytes()
    whole = await entries_of(tmp_path / "whole")
    cuts = range(max(0, len(content) - 4096), len(content) + 1)
    folder = tmp_path / "cut"
    folder.mkdir()
    for cut in cuts:
        (folder / f"{cut}.jsonl").write_bytes(content[:cut])
    store = FileStore.open(folder)
    for cut in cuts:
        entries = await store.query(Query(str(cut)))
        assert entries == whole[: len(entries)]
        assert len(entries) == _whole_blocks(content[:cut])
    for cut in random.Random(1).sample(cuts, 20):
        kept = await store.size(str(cut))
        (entry,) = await store.append(str(cut), [said("on")])
        assert entry.id == kept + 1
        assert await store.query(Query(str(cut), after=kept)) == [entry]
    await store.close()


def _whole_blocks(content: bytes) -> int:
    """Count the entries of whole blocks, as anybody would who reads the file."""
    lines = content.split(b"\n")[:-1]
    places = [json.loads(line)["meta"].get("block", [1, 1]) for line in lines]
    return max((n for n, (place, size) in enumerate(places, start=1) if place == size), default=0)


async def test_a_torn_end_that_was_cut_off_is_noted(folder: Path) -> None:
    path = await written(folder)
    content = path.read_bytes()
    path.write_bytes(content + b'{"id":')
    store = FileStore.open(folder)
    assert len(store.notes()) == 1
    assert store.notes()[0].startswith(f"{path.name} ended in an unfinished write")
    assert "its last 6 bytes" in store.notes()[0]
    await store.close()
    assert path.read_bytes() == content
    again = FileStore.open(folder)
    assert again.notes() == []
    await again.close()


async def test_a_cut_is_found_also_where_an_index_tells_of_more(folder: Path) -> None:
    path = await written(folder)
    content = path.read_bytes()
    whole = await entries_of(folder)
    for cut in random.Random(2).sample(range(len(content)), 15):
        path.write_bytes(content[:cut])
        assert await entries_of(folder) == whole[: _whole_blocks(content[:cut])]
        path.write_bytes(content)
        assert await entries_of(folder) == whole


GARBAGE: Final = {
    "zeros": lambda _content: b"\x00" * 5000,
    "bytes": lambda _content: random.Random(3).randbytes(5000),
    "lines of bytes": lambda _content: b"".join(
        random.Random(seed).randbytes(40) + b"\n" for seed in range(50)
    ),
    "other JSON": lambda _content: b'{"id": 5}\n[]\n"text"\n{"id":',
    "half of the last line": lambda content: content.splitlines()[-1][:-20],
    "an end": lambda _content: b"\n",
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
@pytest.mark.parametrize("index", [True, False])
async def test_garbage_behind_a_tape_is_cut(
    folder: Path, garbage: Callable[[bytes], bytes], index: bool
) -> None:
    path = await written(folder)
    content = path.read_bytes()
    whole = await entries_of(folder)
    if not index:
        without_index(folder)
    path.write_bytes(content + garbage(content))
    assert await entries_of(folder) == whole
    assert path.read_bytes() == content


async def test_whole_entries_behind_what_cannot_be_read_are_kept_beside_the_file(
    folder: Path,
) -> None:
    path = await written(folder)
    content = path.read_bytes()
    whole = await entries_of(folder)
    end = b"\x00\x00\n" + content.splitlines(keepends=True)[-1]
    for number in (1, 2):
        path.write_bytes(content + end)
        assert await entries_of(folder) == whole
        assert path.read_bytes() == content
        assert path.with_name(f"{path.name}.cut-{number}").read_bytes() == end


# Damage: reported, and left as it is.


def _swapped(lines: list[bytes]) -> list[bytes]:
    return [*lines[:8], lines[9], lines[8], *lines[10:]]


DAMAGE: Final[dict[str, tuple[Callable[[list[bytes]], list[bytes]], int]]] = {
    "a changed text": (lambda ls: [*ls[:2], ls[2].replace(b"one", b"won"), *ls[3:]], 3),
    "a changed date": (lambda ls: [*ls[:2], ls[2].replace(b'"date":"2', b'"date":"1'), *ls[3:]], 3),
    "a changed last line": (lambda ls: [*ls[:-1], ls[-1].replace(b"end", b"dne")], 47),
    "a line that is missing": (lambda ls: [*ls[:10], *ls[11:]], 11),
    "the first that is missing": (lambda ls: ls[1:], 1),
    "lines that changed places": (_swapped, 9),
    "a line twice": (lambda ls: [*ls[:6], ls[5], *ls[6:]], 7),
    "a line of another program": (
        lambda ls: [*ls, b'{"id":48,"kind":"error","payload":{},"meta":{},"date":""}\n'],
        48,
    ),
    "a line that cannot be read": (lambda ls: [*ls[:6], b"\x00\n", *ls[7:]], 7),
    "an empty line": (lambda ls: [*ls[:6], b"\n", *ls[6:]], 7),
}


@pytest.mark.parametrize(("damage", "line"), DAMAGE.values(), ids=DAMAGE.keys())
@pytest.mark.parametrize("index", [True, False])
async def test_damage_is_told_with_its_file_and_line_and_nothing_is_changed(
    folder: Path, damage: Callable[[list[bytes]], list[bytes]], line: int, index: bool
) -> None:
    path = await written(folder)
    await written(folder, "sound")
    content = b"".join(damage(path.read_bytes().splitlines(keepends=True)))
    path.write_bytes(content)
    if not index:
        without_index(folder)
    store = FileStore.open(folder)
    for ask in (store.query(Query(T)), store.append(T, [said("on")]), store.size(T)):
        with pytest.raises(StoreUnusable, match=rf"chat\.jsonl, line {line}: "):
            await ask
    assert len(await store.query(Query("sound"))) == 47
    await store.append("sound", [said("on")])
    await store.close()
    assert path.read_bytes() == content


# A disk, or somebody else, that gets in the way.


async def test_what_the_disk_refuses_is_not_on_the_tape_and_is_taken_later(
    folder: Path, store: FileStore
) -> None:
    await store.append(T, [said("a")])
    path, aside = folder / f"{T}.jsonl", folder / "aside"
    path.rename(aside)
    path.mkdir()
    with pytest.raises(StoreUnavailable):
        await store.append(T, [said("b")], "k")
    path.rmdir()
    aside.rename(path)
    (entry,) = await store.append(T, [said("b")], "k")
    assert entry.id == 4
    assert [entry.text for entry in await store.query(Query(T, kinds=("message",)))] == ["a", "b"]


async def test_what_somebody_else_wrote_behind_a_tape_is_noticed(
    folder: Path, store: FileStore
) -> None:
    await store.append(T, [said("a")])
    with (folder / f"{T}.jsonl").open("ab") as file:
        file.write(b"scribble\n")
    with pytest.raises(StoreUnavailable, match="another program"):
        await store.append(T, [said("b")])
    assert [entry.id for entry in await store.append(T, [said("b")])] == [4]
    assert len((folder / f"{T}.jsonl").read_bytes().splitlines()) == 4


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
