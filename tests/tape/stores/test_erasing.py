"""After erasing, no file of a store has the words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from tape.context import MESSAGE_EDIT
from tape.entry import Entry, event, message
from tape.erasing import erased_on, tombstone
from tape.handle import Tape
from tape.query import Query
from tape.stores.jsonl.store import FileStore
from tape.stores.sqlite import SqliteStore

DAY = "2026-01-31"
SECRET = "Zwölfhundert Xylophone"
FORMS = (
    SECRET.encode(),
    SECRET.encode("ascii", "backslashreplace").replace(b"\\xf6", b"\\u00f6"),
    b"xylophone",  # as the index holds it
    b"zwolfhundert",
    "zwölfhundert".encode(),
)


def holding(folder: Path) -> list[str]:
    """Return the files of a folder that have the secret in any form."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(
        path.name for path in files if any(form in path.read_bytes().lower() for form in LOWER)
    )


LOWER = tuple(form.lower() for form in FORMS)


async def fill(store: SqliteStore | FileStore) -> list[Entry]:
    """Write the secret between many others; return the entries with it."""
    found = []
    for number in range(60):
        batch = [message("user", f"filler {number} {piece} " * 40) for piece in range(10)]
        written = await store.append("t", [message("user", SECRET), *batch], f"key:{number}")
        found.append(written[0])
    return found


async def test_no_byte_of_a_database_its_log_and_its_index_has_it(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "tapeway.db")
    said = await fill(store)
    await store.indexed()
    assert holding(tmp_path)
    await store.erase("t", [tombstone(entry, DAY) for entry in said])
    await store.purge()
    assert holding(tmp_path) == []
    assert len(await store.query(Query("t"))) == 662
    await store.close()
    assert holding(tmp_path) == []


async def test_what_is_left_of_an_entry_is_found_and_nothing_else_of_it(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "tapeway.db")
    said = await store.append("t", [message("user", f"a plum, {SECRET}")])
    edited = await store.append("t", [message("user", "pear"), message("user", "fig")])
    edit = event(MESSAGE_EDIT, {"entry": edited[0].id, "text": SECRET, "content": SECRET})
    said += await store.append("t", [edit])
    await store.indexed()
    plum = {"role": "user", "content": "a plum"}
    change = {
        "name": MESSAGE_EDIT,
        "data": {"entry": edited[0].id, "text": "ripe", "content": "ripe"},
    }
    left = [replace(said[-2], payload=plum), replace(said[-1], payload=change)]
    await store.erase("t", left)
    await store.purge()
    tape = Tape(store, "t")
    for word, wanted in (("plum", said[-2]), ("ripe", edited[0]), ("fig", edited[1])):
        assert [one.id for one in await tape.search(word)] == [wanted.id]
    assert await tape.search("Xylophone") == []
    await store.close()
    assert holding(tmp_path) == []


async def test_what_an_earlier_process_erased_is_purged_from_the_index_too(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "tapeway.db")
    said = await fill(store)
    await store.indexed()
    await store.erase("t", [tombstone(entry, DAY) for entry in said])
    await store.close()
    store = SqliteStore.open(tmp_path / "tapeway.db")
    await store.purge(resumed=True)
    assert holding(tmp_path) == []
    assert len(await store.query(Query("t", text="filler 7 3"))) == 1
    await store.close()


async def test_no_byte_of_a_tape_s_file_has_it_and_its_sums_still_hold(tmp_path: Path) -> None:
    store = FileStore.open(tmp_path)
    said = await fill(store)
    await store.erase("t", [tombstone(entry, DAY) for entry in said])
    assert holding(tmp_path) == []
    before = await store.query(Query("t"))
    assert sum(bool(erased_on(entry)) for entry in before) == 60
    await store.append("t", [message("user", "next")])
    await store.close()
    store = FileStore.open(tmp_path)
    assert (await store.query(Query("t")))[:-1] == before
    assert store.notes() == []
    await store.close()


async def test_an_index_that_did_not_follow_is_made_from_the_erased_file(tmp_path: Path) -> None:
    store = FileStore.open(tmp_path)
    said = await fill(store)
    await store.close()
    old = (tmp_path / "index.db").read_bytes()
    store = FileStore.open(tmp_path)
    await store.erase("t", [tombstone(entry, DAY) for entry in said])
    before = await store.query(Query("t"))
    await store.close()
    (tmp_path / "index.db").write_bytes(old)  # killed between the file and the index
    (tmp_path / "t.jsonl.erasing").write_text(SECRET)
    store = FileStore.open(tmp_path)
    assert await store.query(Query("t")) == before
    assert holding(tmp_path) == []
    await store.close()


async def test_only_what_is_listed_for_erasing_can_be_changed(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "tapeway.db")
    await store.append("t", [message("user", "a"), message("user", "b")])
    await store.close()
    with apsw.Connection(str(tmp_path / "tapeway.db")) as database:
        ((pos, other),) = database.execute("SELECT min(pos), max(pos) FROM entry")
        database.execute("INSERT INTO erasing VALUES (?)", (pos,))
        for change in ("id = 9", "kind = 'event'", "date = ''", "late = 1"):
            with pytest.raises(apsw.ConstraintError, match="append-only"):
                database.execute(f"UPDATE entry SET {change} WHERE pos = {pos}")
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            database.execute(f"UPDATE entry SET payload = '{{}}' WHERE pos = {other}")
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            database.execute(f"DELETE FROM entry WHERE pos = {pos}")
