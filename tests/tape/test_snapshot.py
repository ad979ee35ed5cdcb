"""A tape as it was."""

from __future__ import annotations

import pytest

from tape.deletions import deletion
from tape.entry import message
from tape.errors import TapeError
from tape.handle import Tape
from tape.snapshot import TapeSnapshot
from tape.stores.memory import MemoryStore


async def test_a_tape_reads_as_it_did_when_it_had_so_many_entries() -> None:
    tape = Tape(MemoryStore(), "tape")
    await tape.append(message("user", "one"))
    before = await tape.read()
    past = TapeSnapshot(tape, await tape.size())
    await tape.append(message("user", "two"))
    await tape.handoff("task/done")
    assert await past.read() == before
    assert await past.size() == len(before)
    assert await past.recent(1) == before[-1:]
    assert await past.search("two") == []
    last = await past.last_anchor()
    assert last is not None
    assert last.name == "session/start"
    assert await past.find(before=2) == before[:1]


async def test_the_past_is_not_written_to() -> None:
    with pytest.raises(TapeError, match="write to the tape"):
        await TapeSnapshot(Tape(MemoryStore(), "tape"), 0).append(message("user", "late"))


async def test_the_past_is_not_forked() -> None:
    store = MemoryStore()
    tape = Tape(store, "tape")
    await tape.append(message("user", "one"))
    with pytest.raises(TapeError, match="fork the tape"):
        await TapeSnapshot(tape, 3).fork()
    assert [info.name for info in await store.tapes()] == ["tape"]


async def test_the_past_of_a_fork_finds_nothing_that_was_deleted_in_it() -> None:
    tape = Tape(MemoryStore(), "tape")
    await tape.append(message("user", "one"))
    fork = await tape.fork()
    (said,) = await fork.append(message("user", "gone"))
    past = TapeSnapshot(fork, said.id)
    assert await past.shown([said]) == [said]
    await fork.append(deletion(said.id, "1"))
    assert await past.shown([said]) == []
    assert await past.search("gone", rank=True) == []
