"""The memory store beyond the conformance suite: it is as strict as the one on the disk."""

from __future__ import annotations

import pytest

from tape.database.schema import Schema
from tape.entry import NewEntry, message
from tape.errors import StoreUnavailable, TapeError
from tape.handle import MAX_SUMMARIZED, Tape
from tape.query import Query
from tape.stores.memory import MemoryStore
from tape.unit_of_work import Unit

T = "chat"
NOTES = Schema(
    "notes",
    ("CREATE TABLE note (text TEXT NOT NULL) STRICT",),
    {"notes.add": "INSERT INTO note VALUES (:text)", "notes.all": "SELECT text FROM note"},
)


async def test_what_a_caller_does_to_the_result_of_a_key_is_not_the_next_callers() -> None:
    store = MemoryStore()
    for _ in range(3):
        (entry,) = await store.append(T, [message("user", "before")], "k")
        assert entry.payload["content"] == "before"
        entry.payload["content"] = "after"  # type: ignore[index]


async def test_a_unit_that_fails_leaves_tapes_keys_and_tables_as_they_were() -> None:
    store = MemoryStore([NOTES])
    unit = Unit()
    unit.append(T, [message("user", "a")], "k")
    unit.run("notes.add", text="x")
    unit.run("notes.no_such")
    with pytest.raises(TapeError):
        await store.commit(unit)
    assert await store.select("notes.all", {}) == []
    assert await store.tapes() == []
    assert [entry.id for entry in await store.append(T, [message("user", "b")], "k")] == [3]


@pytest.mark.parametrize("value", [object(), 2**70, "\ud800"])
async def test_a_value_that_no_column_holds_is_a_tape_error(value: object) -> None:
    store = MemoryStore([NOTES])
    unit = Unit()
    unit.run("notes.add", text=value)
    with pytest.raises(TapeError):
        await store.commit(unit)


async def test_a_payload_that_is_no_object_is_a_tape_error() -> None:
    store = MemoryStore()
    with pytest.raises(TapeError):
        await store.append(T, [NewEntry("anchor", None)])  # type: ignore[arg-type]
    assert await store.size(T) == 0


async def test_a_closed_store_takes_and_tells_nothing() -> None:
    store = MemoryStore()
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.append(T, [message("user", "a")])
    with pytest.raises(StoreUnavailable):
        await store.query(Query(T))


async def test_a_summary_of_a_long_view_tells_that_it_is_partial() -> None:
    tape = Tape(MemoryStore(), "tape")
    await tape.append(message("user", "x" * 400))
    await tape.append(*[message("user", "y" * 40) for _ in range(MAX_SUMMARIZED)])
    summary = await tape.context_summary()
    assert summary["partial"] is True
    assert summary["entries"] == MAX_SUMMARIZED + 3
    assert summary["since"] == {"message": MAX_SUMMARIZED}
    assert summary["tokens"] == MAX_SUMMARIZED * 16
    await tape.handoff("phase:next")
    assert "partial" not in await tape.context_summary()
