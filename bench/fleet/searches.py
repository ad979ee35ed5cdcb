"""What a search takes in PostgreSQL, on one tape of a million entries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import psycopg

from bench.chatter import TWICE, asked, history
from bench.figures import Bar, Figure, progress
from bench.tape_search import search_figures
from tape.entry import NewEntry, dump
from tape.handle import Tape
from tape.stores.postgres.store import PostgresStore
from tests.postgres import Server

TAPE: Final = "chat"
RUNS: Final = 200
BARS: Final = {95: Bar("<", 15)}
DATE: Final = "2026-01-01T00:00:00.000+00:00"
_COPY: Final = """
COPY entry (tape, id, kind, name, author, lane, turn, payload, meta, date) FROM STDIN"""
_SIZE: Final = "SELECT pg_total_relation_size('search_entry') / 1e6"


async def search_part(server: Server, entries: int) -> list[Figure]:
    """Copy a long history into a tape, index it, and ask for what is frequent, rare or nowhere."""
    label = f"PostgreSQL, {entries:,}".replace(",", " ")
    progress(f"{label}: filling")
    url = await asyncio.to_thread(server.new_database)
    store = await asyncio.to_thread(PostgresStore.open, url)
    try:
        await asyncio.to_thread(fill, url, entries)
        progress(f"{label}: making the index")
        begun = time.perf_counter()
        await store.indexed()
        took = time.perf_counter() - begun
        size = await asyncio.to_thread(_settled, url)
        figures = await search_figures(Tape(store, TAPE), label, entries, timed, BARS)
    finally:
        await store.close()
    return [
        Figure(f"{label}: index, made at rest", entries / took, "entries/s"),
        Figure(f"{label}: index, size", size, "MB"),
        *figures,
    ]


def fill(url: str, entries: int) -> None:
    """Copy so many entries of a long history into a tape."""
    with psycopg.connect(url, autocommit=True) as connection:
        made = "INSERT INTO tape (name, size, dated, last) VALUES (%s, %s, %s, 1) RETURNING tape"
        row = connection.execute(made, (TAPE, entries, DATE)).fetchone()
        assert row is not None
        with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
            for number, entry in enumerate(_entries(entries), start=1):
                copy.write_row(_row(row[0], number, entry))


def _entries(count: int) -> Iterator[NewEntry]:
    yield from (asked(0, TWICE), asked(1, TWICE))
    for block in history(3, count - 2):
        yield from block


def _row(tape: int, number: int, entry: NewEntry) -> tuple[Any, ...]:
    place = [entry.meta.get(name) for name in ("author", "lane", "turn")]
    payload, meta = dump(entry.payload), dump(entry.meta)
    return (tape, number, entry.kind, entry.name, *place, payload, meta, DATE)


def _settled(url: str) -> float:
    """Have the server count its rows and write them out, as it does in time; return megabytes."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in ("VACUUM ANALYZE", "CHECKPOINT"):
            connection.execute(statement.encode())
        row = connection.execute(_SIZE).fetchone()
        assert row is not None
        return float(row[0])


async def timed(ask: Callable[[], Awaitable[object]]) -> list[float]:
    """Return the seconds of each of many runs."""
    seconds: list[float] = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        await ask()
        seconds.append(time.perf_counter() - begun)
    return seconds
