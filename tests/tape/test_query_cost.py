"""What a read costs in SQLite does not grow with the tape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from tape.database.connection import Reader
from tape.entry import error, event, handoff, message, utc_iso
from tape.query import Query
from tape.stores.sqlite import SqliteStore, tape_schema

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
FAR = datetime(9999, 1, 1, tzinfo=UTC)
READS = {
    "newest": Query("t", limit=5, newest=True),
    "oldest": Query("t", limit=5),
    "from an id on": Query("t", after=300, before=310, kinds=("message",)),
    "newest that say a text": Query("t", kinds=("message",), text="WORD", limit=5, newest=True),
    "newest of a lane and of none": Query("t", lane="a", unlaned=True, limit=5, newest=True),
    "newest of a lane": Query("t", lane="a", limit=5, newest=True),
    "newest anchor of a lane and of none": Query(
        "t", kinds=("anchor",), lane="a", unlaned=True, limit=1, newest=True
    ),
    "newest anchor": Query("t", kinds=("anchor",), limit=1, newest=True),
    "anchor by name": Query("t", kinds=("anchor",), name="phase:0", limit=1, newest=True),
    "any of an anchor's or event's names": Query("t", names=("phase:0", "phase:1"), limit=2),
    "by ids": Query("t", ids=(7, 11)),
    "what became of some": Query("t", about=(10, 14)),
    "from an anchor on": Query("t", after_anchor="phase:1", limit=50),
    "before an anchor": Query("t", before_anchor="phase:2", limit=50, newest=True),
    "between two": Query("t", after_anchor="phase:1", before_anchor="phase:2"),
    "a rare event": Query("t", kinds=("event",), name="rare", limit=1),
    "a rare author": Query("t", author="rare", limit=9, newest=True),
    "rare authors": Query("t", authors=("rare", "2", "nobody"), limit=9),
    "rare kinds": Query("t", kinds=("error", "system"), limit=9, newest=True),
    "since a date": Query("t", since="2026-01-01T03", limit=9),
    "until a date": Query("t", until="2026-01-01T03", limit=9, newest=True),
    "a day of a lane": Query("t", lane="a", since="2026-01-01T03", until="2026-01-01T04"),
}
NOTHING = {
    "no such author": Query("t", author="nobody"),
    "no such name": Query("t", name="nothing"),
    "a day before all": Query("t", until="2020", newest=True, limit=3),
    "a day to come": Query("t", since="2999"),
    "none of none": Query("t", kinds=(), text="word"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the databases of this module, which are written once and only read then."""
    return tmp_path_factory.mktemp("databases")


@pytest.mark.parametrize("query", READS.values(), ids=READS.keys())
async def test_a_read_costs_what_it_returns(query: Query, folder: Path) -> None:
    short = await _steps(query, folder, blocks=10)
    long = await _steps(query, folder, blocks=100)
    assert long < 2 * short


@pytest.mark.parametrize("query", NOTHING.values(), ids=NOTHING.keys())
async def test_what_is_not_there_is_not_looked_for(query: Query, folder: Path) -> None:
    assert await _steps(query, folder, blocks=100, hits=False) < 800


async def test_one_date_of_the_future_makes_nothing_dear(tmp_path: Path) -> None:
    """All entries behind it are late; appends and dates do not walk over them."""
    short = await _behind_the_future(tmp_path / "short.db", 1000)
    long = await _behind_the_future(tmp_path / "long.db", 16_000)
    assert long < 2 * short


async def _behind_the_future(path: Path, count: int) -> int:
    store = SqliteStore.open(path, now=lambda: MOMENT)
    await store.append("t", [replace(message("user", ""), date=utc_iso(FAR))])
    for number in range(0, count, 1000):
        date = utc_iso(MOMENT + timedelta(hours=number))
        await store.append("t", [replace(message("user", ""), date=date)] * 1000)
    await store.close()
    dated = Query("t", since="2025", until="2099", limit=1, newest=True)

    def read(reader: Reader) -> None:
        (newest,) = reader.select("tape.newest", {"tape": 1})
        assert newest["date"] == utc_iso(FAR)
        assert [entry.id for entry in reader.query(dated)] == [count + 3]

    return _counted(path, read)


async def _steps(query: Query, folder: Path, blocks: int, *, hits: bool = True) -> int:
    """Return how many steps SQLite's machine takes to answer, on a tape of so many blocks."""
    path = folder / f"{blocks}.db"
    if not path.exists():
        await _write(path, blocks)

    def read(reader: Reader) -> None:
        assert bool(reader.query(query)) is hits

    return _counted(path, read)


async def _write(path: Path, blocks: int) -> None:
    store = SqliteStore.open(path, now=lambda: MOMENT)
    await store.append("t", [event("rare"), error("rare"), message("user", "", author="rare")])
    for number in range(blocks):
        date = utc_iso(MOMENT + timedelta(hours=number))
        said = [message("user", f"a word {place}", lane="ab"[place % 2]) for place in range(40)]
        edit = event("message.edit", {"entry": number * 43 + 10, "content": ""})
        block = [*said, edit, *handoff(f"phase:{number}", lane="b")]
        await store.append("t", [replace(new, date=date) for new in block])
    await store.close()


def _counted(path: Path, read: Callable[[Reader], None]) -> int:
    """Return how many steps SQLite's machine takes for a read."""
    taken = 0

    def count() -> bool:
        nonlocal taken
        taken += 1
        return False

    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_progress_handler(count, 1)
    reader = Reader(connection, tape_schema().statements)
    read(reader)
    reader.close()
    return taken
