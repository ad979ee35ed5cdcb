"""A tape as it was."""

from __future__ import annotations

import pytest

from tape.entry import message
from tape.errors import TapeError
from tape.handle import Tape
from tape.memory import MemoryStore
from tape.past import PastTape

pytestmark = pytest.mark.anyio


async def test_a_tape_reads_as_it_did_when_it_had_so_many_entries() -> None:
    tape = Tape(MemoryStore(), "tape")
    await tape.append(message("user", "one"))
    before = await tape.read()
    past = PastTape(tape, await tape.size())
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
        await PastTape(Tape(MemoryStore(), "tape"), 0).append(message("user", "late"))
