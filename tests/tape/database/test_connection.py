"""Reads that end because they are late: what they leave behind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tape.database.connection import Database, Reader, end_late
from tape.entry import message
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.stores.sqlite import SqliteStore, tape_schema

READS: dict[str, Callable[[Reader], object]] = {
    "query": lambda reader: reader.query(Query("room")),
    "tapes": lambda reader: reader.tapes(""),
    "select": lambda reader: reader.select("tape.newest_ids", {}),
}


class Watch:
    """A clock that says whether it is late, at the look after the next."""

    def __init__(self) -> None:
        self.looks = 0

    def is_late(self) -> bool:
        self.looks -= 1
        return self.looks == 0


@pytest.mark.parametrize("name", READS)
async def test_who_keeps_the_error_of_a_late_read_does_not_keep_its_moment(
    name: str, tmp_path: Path
) -> None:
    path, watch = tmp_path / "tapeway.db", Watch()
    store = SqliteStore.open(path)
    for tape in ("room", "hall"):
        await store.append(tape, [message("user", "bread")] * 5)
    database = Database.open(path, [tape_schema()])
    with closing(
        Reader(end_late(database.read_connection(), watch.is_late), database.statements)
    ) as reader:
        before = reader.size("room")
        watch.looks = 2
        with pytest.raises(StoreUnavailable) as kept:
            READS[name](reader)
        await store.append("room", [message("user", "a plum")])
        assert reader.size("room") == before + 1
    assert "late" in str(kept.value)
    await store.close()
