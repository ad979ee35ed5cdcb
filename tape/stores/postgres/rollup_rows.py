"""Add counts of entries to a PostgreSQL database, in the transaction that indexes the entries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from anyio import to_thread

from tape.entry import Entry, dump
from tape.query import Query
from tape.rollups import BLOCK_IDS, blocks_of, counts_of
from tape.stores.postgres.reader import PostgresReader

Row = dict[str, Any]
Ask = Callable[[str, Row], Awaitable[object]]
"""Runs a named statement of the index, without waiting for its rows."""


async def add_counts(ask: Ask, counted: Sequence[tuple[int, Sequence[Entry]]]) -> None:
    """Add the counts of entries of tapes, by the tapes' numbers."""
    rows, lanes = await to_thread.run_sync(_rows_of, counted)
    if rows:
        await ask("add_rollups", {"rows": _json(rows)})
    if lanes:
        await ask("add_rollup_lanes", {"rows": _json(lanes)})


async def recount_lanes(
    ask: Ask, reader: PostgresReader, name: str, part: tuple[int, int, int], ids: Sequence[int]
) -> None:
    """Count the lanes of the blocks that have these ids once more, as the tape has them now.

    `part` is the number of the tape, and the lowest and highest id that is counted.
    """
    tape, low, high = part
    for block in blocks_of(number for number in ids if low <= number <= high):
        first, end = max(low, block * BLOCK_IDS), min(high + 1, (block + 1) * BLOCK_IDS)
        left = await reader.query(Query(name, after=first - 1, before=end))
        await ask("recount_lanes", {"tape": tape, "slot": block})
        _rows, lanes = await to_thread.run_sync(_rows_of, [(tape, left)])
        if lanes:
            await ask("add_rollup_lanes", {"rows": _json(lanes)})


def _rows_of(counted: Sequence[tuple[int, Sequence[Entry]]]) -> tuple[list[Row], list[Row]]:
    found = [(tape, counts_of(entries)) for tape, entries in counted if entries]
    rows = [{"tape": tape, **row} for tape, one in found for row in one.rows()]
    lanes = [{"tape": tape, **row} for tape, one in found for row in one.lane_rows()]
    return rows, lanes


def _json(rows: list[Row]) -> str:
    return dump(rows).replace("\\u0000", "\\u2400")  # see `binding.NUL_SHOWN`
