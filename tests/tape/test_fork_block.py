"""What the merge of a fork writes: references that follow their entries, and only what is sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from tape.context import view_entries
from tape.deletions import DELETED_TEXT, deletion
from tape.entry import NewEntry, event, message
from tape.fork import INFIX, MERGED
from tape.handle import Tape
from tape.payloads import left_out
from tape.rewind import out_of_view
from tape.store import TapeStore
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore
from tape.stores.sqlite import SqliteStore
from tests.tape.old_store import OldStore, PartlyOldStore

STORES = ("memory", "sqlite", "file")


def open_store(kind: str, folder: Path) -> TapeStore:
    if kind == "sqlite":
        return SqliteStore.open(folder / "tapeway.db")
    return FileStore.open(folder / "tapes") if kind == "file" else MemoryStore()


@pytest.mark.parametrize("kind", STORES)
async def test_references_in_a_fork_follow_its_entries_past_what_the_parent_wrote_since(
    kind: str, tmp_path: Path
) -> None:
    store = open_store(kind, tmp_path)
    tape = Tape(store, "chat")
    (old,) = await tape.append(message("user", "old"))
    async with tape.fork() as fork:
        draft, wrong, asked = await fork.append(
            *(message("user", text, inbox=1) for text in ("draft", "wrong", "asked"))
        )
        await tape.append(*(message("user", f"of the parent {n}") for n in range(3)))
        await fork.append(
            event("message.edit", {"entry": draft.id, "content": "corrected"}),
            deletion(wrong.id, "m"),
            message("user", "framed", prompt_of=asked.id),
            event("turn.start", {"takes": [old.id, wrong.id, asked.id, 99], "turn": "t"}, turn="t"),
            event("of a plugin", {"entry": draft.id, "takes": 7}, rewind="no id"),
        )
    assert [entry.text for entry in await tape.search("corrected")] == ["corrected"]
    assert len(await tape.search("parent")) == 3
    shown = [entry.text for entry in await view_entries(tape, turn="t") if entry.kind == "message"]
    assert shown[-3:] == ["old", DELETED_TEXT, "framed"]
    (untouched,) = await tape.find(name="of a plugin")
    assert untouched.payload["data"] == {"entry": draft.id, "takes": 7}
    assert untouched.meta["rewind"] == "no id"
    await store.close()


async def test_what_a_turn_in_a_fork_showed_in_doubt_follows_its_entries() -> None:
    tape = Tape(MemoryStore(), "chat")
    async with tape.fork() as fork:
        (said,) = await fork.append(message("user", "in doubt", inbox=1))
        await tape.append(message("user", "of the parent"))
        data = {"turn": "t", "include": [said.id], "takes": [], "doubted": [said.id]}
        await fork.append(event("turn.start", data, turn="t"))
    (start,) = await tape.find(name="turn.start")
    (moved,) = [entry.id for entry in await tape.read() if entry.text == "in doubt"]
    assert moved != said.id
    assert start.payload["data"]["doubted"] == start.payload["data"]["include"] == [moved]


async def test_a_rewind_in_a_fork_of_a_fork_hides_the_same_after_both_merges() -> None:
    tape = Tape(MemoryStore(), "chat")
    await tape.append(message("user", "old"))
    async with tape.fork() as outer:
        await outer.append(message("user", "of the outer fork"))
        async with outer.fork() as inner:
            await inner.handoff("phase:one", {"goal": "tea"})
            await inner.append(message("user", "hidden"))
            await outer.append(message("user", "meanwhile in the outer fork"))
            await inner.rewind("phase:one")
        (there,) = await out_of_view(outer)
        assert [entry.text for entry in await outer.read() if entry.id in there][1:] == ["hidden"]
        await tape.append(message("user", "meanwhile"), message("user", "on the tape"))
    (hidden,) = await out_of_view(tape)
    assert [entry.text for entry in await tape.read() if entry.id in hidden][1:] == ["hidden"]


async def test_a_merge_leaves_out_and_reports_what_no_view_can_show() -> None:
    left_out.entries.clear()
    tape = Tape(PartlyOldStore(OldStore(), INFIX), "chat")
    await tape.append(message("user", "old"))
    fork = await tape.fork()
    bad, mine = await fork.append(NewEntry("tool_result", {}), message("user", "mine"))
    await fork.append(event("message.edit", {"entry": mine.id, "content": "corrected"}))
    merged = await fork.merge()
    assert [entry.kind for entry in merged] == ["message", "event"]
    assert merged[1].payload["data"]["entry"] == merged[0].id
    assert (await fork.state(), left_out.entries) == (MERGED, {(fork.name, bad.id)})
    left_out.entries.clear()
