"""Writes tapes into a folder, and reads them from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tape.entry import Entry, NewEntry, anchor, message
from tape.query import Query
from tape.stores.jsonl.folder import INDEX
from tape.stores.jsonl.store import FileStore

T: Final = "chat"


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
