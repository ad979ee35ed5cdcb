"""Files of tapes that a crash, a disk or somebody else has changed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tape.errors import StoreUnavailable, StoreUnusable
from tape.query import Query
from tape.stores.jsonl.store import FileStore
from tests.tape.stores.jsonl.folders import T, entries_of, said, without_index, written

# Ends that a crash left.


async def test_a_tape_cut_at_any_byte_opens_and_has_every_block_that_is_whole(
    tmp_path: Path,
) -> None:
    path = await written(tmp_path / "whole")
    content = path.read_bytes()
    whole = await entries_of(tmp_path / "whole")
    # Every byte of the last lines, and some of those before, which look the same.
    last = len(content) - 600
    cuts = [*random.Random(0).sample(range(last), 200), *range(last, len(content) + 1)]
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
