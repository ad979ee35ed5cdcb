"""Processes that are killed while they write, on every store that is durable."""

from __future__ import annotations

import random
import re
import signal
import sys
from itertools import groupby
from pathlib import Path
from typing import Final

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tape.entry import Entry, message
from tape.handle import find_fork
from tape.query import Query
from tape.service import TapeService
from tape.store import TapeStore
from tests.tape.durable import opened

T: Final = "chat"
ROOT: Final = Path(__file__).parents[2]


@pytest.fixture(params=["sqlite", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"{request.param}://{tmp_path / 'tapes'}"


# The child says what was acknowledged; the parent kills it at some line.

APPENDING: Final = """
import sys, anyio
from tape.entry import message
from tests.tape.durable import opened

async def main():
    store = opened(sys.argv[1])
    async def append(worker):
        for number in range(1_000_000):
            text = f"{worker}.{number}"
            block = [message("user", text), message("user", f"{text}+")]
            entries = await store.append("chat", block, text if number % 2 else None)
            print(entries[-1].id, entries[-1].text, flush=True)
    async with anyio.create_task_group() as group:
        for worker in range(4):
            group.start_soon(append, worker)

anyio.run(main)
"""

MERGING: Final = """
import sys, anyio
from pathlib import Path
from tape.entry import message
from tape.service import TapeService
from tests.tape.durable import opened

async def main():
    service = TapeService(opened(sys.argv[1]), Path("workspace"))
    while True:
        async with service.fork_tape("chat") as fork:
            for text in "abc":
                await fork.append(message("user", text))
            print("merging", fork.name, flush=True)
        print("merged", fork.name, flush=True)

anyio.run(main)
"""


ENDING: Final = """
import sys, anyio
from tape.entry import message
from tape.errors import ForkClosed, TapeError
from tape.handle import Tape, find_fork
from tests.tape.durable import opened

async def main():
    store = opened(sys.argv[1])
    tape = Tape(store, "chat")
    await tape.append()

    async def write(name, worker):
        fork = await find_fork(Tape(store, name))
        for number in range(6):
            text = f"{worker}.{number}"
            try:
                await fork.append(message("user", text))
            except ForkClosed:
                print("refused", name, text, flush=True)
            else:
                print("took", name, text, flush=True)

    async def end(name, merged):
        fork = await find_fork(Tape(store, name))
        await fork.append(message("user", "end"), key="end")
        try:
            await (fork.merge() if merged else fork.discard("not wanted"))
        except TapeError:
            assert await fork.state() == "fork.discarded"

    while True:
        fork = await tape.fork()
        async with anyio.create_task_group() as group:
            for worker in range(3):
                group.start_soon(write, fork.name, worker)
            for merged in (True, True, False):
                group.start_soon(end, fork.name, merged)

anyio.run(main)
"""


IMPORTING: Final = """
import sys, anyio
from tape.entry import bootstrap, message
from tape.unit_of_work import Batch
from tests.tape.durable import opened

def entries():
    yield from bootstrap()
    for number in range(20_000):
        if not number % 2_000:
            print("at", number, flush=True)
        yield message("user", str(number))

async def main():
    store = opened(sys.argv[1])
    await store.append("other", [message("user", "a")])
    await store.append_batch("chat", Batch(entries, 0, 20_002))
    print("taken", "in", flush=True)

anyio.run(main)
"""


CONTINUING: Final = """
import os, sys, signal, threading, anyio
from tape.entry import message
from tape.unit_of_work import Batch
from tests.tape.durable import opened

url, line, keyed = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "keyed"
after = None

def count(frame, event, _arg):
    # Kills the process at the given line of the writer after the publish has begun.
    global after
    if not frame.f_code.co_filename.endswith(("group_commit.py", "writer.py")):
        return None
    if event == "call" and frame.f_code.co_name == "_publish":
        after = 0
    if event == "line" and after is not None:
        after += 1
        if after == line:
            os.kill(os.getpid(), signal.SIGKILL)
    return count

def entries():
    for number in range(600):
        yield message("user", f"new {number}")

async def main():
    threading.settrace(count)
    store = opened(url)
    for number in range(40):
        block = [message("user", str(number) * 9)]
        await store.append("chat", block, str(number) if keyed else None)
    await store.append("other", [message("user", "a")])
    await store.append_batch("chat", Batch(lambda: iter([None] * 42 + list(entries())), 42, 600))
    print("taken in", flush=True)

anyio.run(main)
"""


async def kill_after(lines: int, program: str, url: str) -> list[list[str]]:
    """Run a program until it has said so many lines, kill it, and return what it said."""
    async with await anyio.open_process([sys.executable, "-c", program, url], cwd=ROOT) as child:
        assert child.stdout is not None
        stream = BufferedByteReceiveStream(child.stdout)
        said = [await stream.receive_until(b"\n", 200) for _ in range(lines)]
        return [line.decode().split() for line in [*said, *await _killed(child, stream)]]


async def _killed(child: Process, stream: BufferedByteReceiveStream) -> list[bytes]:
    child.kill()
    rest = b""
    try:
        while True:
            rest += await stream.receive()
    except anyio.EndOfStream:
        await child.wait()
    return re.findall(rb"[^\n]+(?=\n)", rest)


def contiguous(entries: list[Entry]) -> bool:
    return [entry.id for entry in entries] == list(range(1, len(entries) + 1))


@pytest.mark.parametrize("seed", range(4))
async def test_a_process_killed_at_any_moment_loses_nothing_acknowledged(
    url: str, seed: int
) -> None:
    lines = random.Random(seed).choice([1, 20, 150, 400])
    acknowledged = await kill_after(lines, APPENDING, url)
    store = opened(url)
    entries = await store.query(Query(T))
    assert contiguous(entries)
    by_id = {entry.id: entry.text for entry in entries}
    assert len(acknowledged) >= lines
    assert all(by_id[int(number)] == text for number, text in acknowledged)
    # Blocks are whole, and a key that was acknowledged is known.
    texts = [entry.text for entry in entries if entry.kind == "message"]
    assert all(two == f"{one}+" for one, two in zip(texts[::2], texts[1::2], strict=True))
    key = next((text[:-1] for _id, text in acknowledged if int(text[:-1].split(".")[1]) % 2), None)
    if key is not None:
        again = await store.append(T, [message("user", "again")], key)
        assert [entry.text for entry in again] == [key, f"{key}+"]
    assert [e.id for e in await store.append(T, [message("user", "on")])] == [len(entries) + 1]
    await store.close()


@pytest.mark.parametrize("seed", range(3))
async def test_a_crash_inside_a_merge_leaves_none_or_one_whole_block(url: str, seed: int) -> None:
    # An odd line is "merging": the child is killed between that and the next "merged".
    lines = await kill_after(random.Random(seed).randrange(21, 81, 2), MERGING, url)
    store = opened(url)
    service = TapeService(store, Path("workspace"))
    names = [name for word, name in lines if word == "merging"]
    merged = {name for word, name in lines if word == "merged"}
    blocks = await _blocks(store)
    assert all(runs == ["abc"] for runs in blocks.values())
    assert merged <= set(blocks) <= set(names)
    for fork in await service.open_forks(T):
        if len(await fork.own_entries()) == 3:
            await fork.merge()
            await fork.merge()
            names.append(fork.name)  # it may have been killed just before it said "merging"
    assert await _blocks(store) == {name: ["abc"] for name in names}
    assert contiguous(await store.query(Query(T)))
    await store.close()


@pytest.mark.parametrize("lines", [1, 6, 10, 11])
async def test_an_import_that_is_killed_is_whole_or_not_there(url: str, lines: int) -> None:
    output = await kill_after(lines, IMPORTING, url)
    store = opened(url)
    size = await store.size(T)
    assert size in ((20_002,) if ["taken", "in"] in output else (0, 20_002))
    assert await store.size("other") == 3
    (entry,) = await store.append(T, [message("user", "on")])
    assert entry.id == (size or 2) + 1
    await store.close()


@pytest.mark.parametrize("line", [1, 8, 12, 15, 19, 24, 30])
@pytest.mark.parametrize("keyed", ["keyed", "single"])
async def test_a_tape_that_an_import_continues_is_old_or_new_after_a_kill_while_it_is_published(
    url: str, keyed: str, line: int
) -> None:
    command = [sys.executable, "-c", CONTINUING, url, str(line), keyed]
    child = await anyio.run_process(command, cwd=ROOT, check=False)
    assert (child.returncode == -signal.SIGKILL) == (b"taken in" not in child.stdout)
    for _opening in range(2):
        store = opened(url)
        entries = await store.query(Query(T))
        assert len(entries) in ((42, 642) if child.returncode else (642,))
        assert contiguous(entries)
        texts = [entry.text for entry in entries if entry.kind == "message"]
        assert texts[:40] == [str(number) * 9 for number in range(40)]
        assert texts[40:] in ([], [f"new {number}" for number in range(600)])
        assert await store.size("other") == 3
        if keyed == "keyed":
            (again,) = await store.append(T, [message("user", "again")], "7")
            assert again.text == "7" * 9
        assert [info.name for info in await store.tapes()] == [T, "other"]
        await store.close()
    store = opened(url)
    (entry,) = await store.append(T, [message("user", "on")])
    assert entry.id == len(entries) + 1
    await store.close()


async def _blocks(store: TapeStore) -> dict[str, list[str]]:
    """Return the runs of entries that each fork left on the tape, in tape order."""
    entries = await store.query(Query(T, kinds=("message",)))
    runs: dict[str, list[str]] = {}
    for name, run in groupby(entries, lambda entry: str(entry.meta["fork"])):
        runs.setdefault(name, []).append("".join(entry.text for entry in run))
    return runs


@pytest.mark.parametrize("lines", [5, 60, 200])
async def test_a_fork_whose_writers_and_ends_were_killed_is_in_one_world(
    url: str, lines: int
) -> None:
    told = await kill_after(lines, ENDING, url)
    store = opened(url)
    service = TapeService(store, Path("workspace"))
    for left in await service.open_forks(T):
        await left.merge()
    assert await service.open_forks(T) == []
    entries = await store.query(Query(T, kinds=("message",)))
    merged: dict[str, list[str]] = {}
    for entry in entries:
        merged.setdefault(entry.meta["fork"], []).append(entry.text)
    forks = {name for _what, name, _text in told}
    states = {name: await (await find_fork(service.tape(name))).state() for name in forks}
    assert set(states.values()) <= {"fork.merged", "fork.discarded"}
    assert all((state == "fork.merged") == (name in merged) for name, state in states.items())
    assert all(len(texts) == len(set(texts)) for texts in merged.values())
    for what, name, text in told:
        if states[name] == "fork.merged":
            assert (text in merged[name]) == (what == "took"), (name, text)
    await store.close()
