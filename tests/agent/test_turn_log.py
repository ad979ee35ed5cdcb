"""What a turn writes once a tape."""

from __future__ import annotations

from collections.abc import Sequence

from agent.turn_log import WriteOnce
from tape.entry import Entry, NewEntry, event
from tape.handle import Tape
from tape.stores.memory import MemoryStore


class Appends(MemoryStore):
    """Notes the keys with which something is appended."""

    def __init__(self) -> None:
        super().__init__()
        self.appended: list[str | None] = []

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        self.appended.append(key)
        return await super().append(tape, entries, key)


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
        await once.record(tape, event("seen", {"what": key}), key)
    assert len(await tape.find(name="seen")) == 2


async def test_what_another_process_has_written_is_not_appended_again() -> None:
    store = Appends()
    tape = Tape(store, "one")
    for what in ("a", "a", "b", "a"):
        await WriteOnce().record(tape, event("seen", {"what": what}), what)
    assert store.appended == ["a", "b", "a"]
    assert len(await tape.find(name="seen")) == 2


async def test_a_fork_has_an_entry_of_its_own() -> None:
    tape = Tape(MemoryStore(), "one")
    await WriteOnce().record(tape, event("seen"), "key")
    async with tape.fork() as fork:
        number = await WriteOnce().record(fork, event("seen"), "key")
        assert [entry.id for entry in await fork.find(name="seen")][-1] == number
