"""What a turn writes once a tape."""

from __future__ import annotations

import pytest

from agent.turn_log import WriteOnce
from tape.entry import event
from tape.handle import Tape
from tape.stores.memory import MemoryStore

pytestmark = pytest.mark.anyio


async def test_an_entry_of_a_key_is_written_once_a_tape_also_after_a_restart() -> None:
    store = MemoryStore()
    once = WriteOnce()
    for name in ("one", "two", "one"):
        await once.record(Tape(store, name), event("seen"), "key")
    await WriteOnce().record(Tape(store, "one"), event("seen"), "key")
    found = [await Tape(store, name).find(name="seen") for name in ("one", "two")]
    assert [len(entries) for entries in found] == [1, 1]


async def test_another_key_is_another_entry() -> None:
    tape, once = Tape(MemoryStore(), "one"), WriteOnce()
    for key in ("a", "b"):
        await once.record(tape, event("seen"), key)
    assert len(await tape.find(name="seen")) == 2
