"""What a read costs in SQLite does not grow with the tape."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tape.database import Reader
from tape.entry import handoff, message
from tape.query import Query
from tape.sqlite import SqliteStore, tape_schema

pytestmark = pytest.mark.anyio

READS = {
    "newest": Query("t", limit=5, newest=True),
    "oldest": Query("t", limit=5),
    "from an id on": Query("t", after=300, before=310, kinds=("message",)),
    "newest that say a text": Query("t", kinds=("message",), text="WORD", limit=5, newest=True),
    "newest of a lane and of none": Query("t", lane="a", unlaned=True, limit=5, newest=True),
    "newest of a lane": Query("t", lane="a", limit=5, newest=True),
    "newest anchor": Query("t", kinds=("anchor",), limit=1, newest=True),
    "anchor by name": Query("t", kinds=("anchor",), name="phase:0", limit=1, newest=True),
    "by ids": Query("t", ids=(7, 11)),
}


@pytest.mark.parametrize("query", READS.values(), ids=READS.keys())
async def test_a_read_costs_what_it_returns(query: Query, tmp_path: Path) -> None:
    short = await _steps(query, tmp_path / "short.db", blocks=10)
    long = await _steps(query, tmp_path / "long.db", blocks=100)
    assert long < 2 * short


async def _steps(query: Query, path: Path, blocks: int) -> int:
    """Return how many steps SQLite's machine takes to answer, on a tape of so many blocks."""
    store = SqliteStore.open(path)
    for number in range(blocks):
        said = [message("user", f"a word {place}", lane="ab"[place % 2]) for place in range(40)]
        await store.append("t", [*said, *handoff(f"phase:{number}")])
    await store.close()
    taken = 0

    def count() -> bool:
        nonlocal taken
        taken += 1
        return False

    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_progress_handler(count, 1)
    reader = Reader(connection, tape_schema().statements)
    assert reader.query(query)
    reader.close()
    return taken
