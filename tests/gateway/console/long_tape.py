"""A long tape in a moment: SQLite repeats a short one on later days, each time in other lanes.

What repeats has the ids of whole blocks, so that the index's counts repeat as well. Its words do
not: a search finds the first part alone, and what is appended afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import apsw

from tape.entry import Entry, parse_date, utc_iso
from tape.handle import Tape
from tape.query import Query
from tape.rollups import BLOCK, BLOCK_IDS, Rollup, counts_of
from tape.search.index_file import SUFFIX, index_schema
from tape.stores.sqlite import SqliteStore
from tests.gateway.console.filled_tape import fill

BLOCKS: Final = 5  # blocks of ids that repeat, from the block 1 on
PERIOD: Final = BLOCKS * BLOCK_IDS
DAYS: Final = 3  # days after which they do

REPEAT: Final = """
INSERT INTO entry (pos, tape, id, kind, name, author, lane, turn, payload, meta, date)
SELECT pos + :shift, tape, id + :shift, kind, name, author,
    replace(lane, 'lobby:', 'lobby:' || :time || '.'), replace(turn, 'turn-', :turns),
    replace(CASE name
        WHEN 'turn.start' THEN
            json_set(payload, '$.data.takes[0]', (payload ->> '$.data.takes[0]') + :shift)
        WHEN 'message.edit' THEN
            json_set(payload, '$.data.entry', (payload ->> '$.data.entry') + :shift)
        WHEN 'message.delete' THEN
            json_set(payload, '$.data.entry', (payload ->> '$.data.entry') + :shift)
        ELSE payload
    END, 'turn-', :turns),
    replace(replace(meta, 'lobby:', 'lobby:' || :time || '.'), 'turn-', :turns),
    date(substr(date, 1, 10), :days || ' days') || substr(date, 11)
FROM entry WHERE tape = :tape AND id >= :first AND id < :first + :period ORDER BY pos
"""


async def make_long(database: Path, name: str, count: int, lanes: int) -> None:
    """Make a database with one tape, of at least `count` entries in about `lanes` lanes."""
    times = -(-count // PERIOD) - 1
    store = SqliteStore.open(database)
    try:
        await fill(Tape(store, name), BLOCK_IDS + PERIOD - 3, lanes // (times + 1))
        await store.indexed()
        repeated = await store.query(Query(name, after=BLOCK_IDS - 1))
    finally:
        await store.close()
    with closing(apsw.Connection(str(database))) as tapes, tapes:
        for time in range(1, times + 1):
            tapes.execute(REPEAT, {"tape": 1, "first": BLOCK_IDS, "period": PERIOD, **_how(time)})
    with closing(apsw.Connection(str(database.with_name(f"{database.name}{SUFFIX}")))) as index:
        with index:
            _count(index, repeated, times)


def _how(time: int) -> dict[str, Any]:
    return {"time": time, "turns": f"turn-{time}-", "shift": time * PERIOD, "days": time * DAYS}


def _count(index: apsw.Connection, repeated: list[Entry], times: int) -> None:
    """Put what repeats into the index as often, as the indexer would count it."""
    sql = index_schema().statements
    counted, last = counts_of(repeated), repeated[-1]
    for time in range(1, times + 1):
        for row in _shifted(counted, time):
            index.execute(sql["search.add_rollup"], {"tape": 1, **row})
        for row in counted.lane_rows():
            lane = row["lane"].replace("lobby:", f"lobby:{time}.")
            moved = {"slot": row["slot"] + time * BLOCKS, "lane": lane, **_ids(row, time)}
            index.execute(sql["search.add_rollup_lane"], {"tape": 1, **row, **moved})
    high, mark = last.id + times * PERIOD, _later(last.date, times)
    index.execute(sql["search.cover_newer"], {"tape": 1, "high": high, "mark": mark})


def _shifted(counted: Rollup, time: int) -> Iterator[dict[str, Any]]:
    for row in counted.rows():
        slots = BLOCKS if row["grain"] == BLOCK else 24 * DAYS
        dates = {one: _later(row[one], time) for one in ("oldest", "newest")}
        yield {**row, "slot": row["slot"] + time * slots, **_ids(row, time), **dates}


def _ids(row: dict[str, Any], time: int) -> dict[str, int]:
    return {one: row[one] + time * PERIOD for one in ("first", "last")}


def _later(date: str, time: int) -> str:
    return utc_iso(parse_date(date) + timedelta(days=time * DAYS))
