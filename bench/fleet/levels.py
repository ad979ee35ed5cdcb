"""What a message costs while the database grows: thousands of sessions, millions of entries."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Final

import psutil
import psycopg

from bench.figures import Bar, Figure, progress
from bench.fleet.load import GROUPS, PRIVATE, taking
from bench.fleet.stage import FleetStage, staged_fleet
from tape.stores.postgres.search_lookup import RULES
from tests.postgres import Server

LEVEL_BAR: Final = Bar("<", 1.2)
WARM_UP: Final = 200
_TAPES: Final = """
INSERT INTO tape (name, size, dated, last)
SELECT 'filled-' || n, %(each)s, '2026-01-01T00:00:00.000+00:00', %(each)s
FROM generate_series(1, %(sessions)s) AS n;
INSERT INTO session (session_id, tape)
SELECT 'telegram:' || (9000000 + n), 'filled-' || n FROM generate_series(1, %(sessions)s) AS n
"""
_ENTRIES: Final = """
INSERT INTO entry (tape, id, kind, author, lane, turn, payload, meta, date)
SELECT tape.tape, id, 'message', '7', 'l:' || id / 40, CASE WHEN id %% 5 = 0 THEN 't-' || id END,
       '{"role":"user","content":"[12:00 #1 Alice] a message of a usual length, ' || id || '"}',
       '{"author":"7","name":"Alice","text":"a message of a usual length","chat":"-1001"}',
       '2026-01-01T00:00:00.000+00:00'
FROM tape CROSS JOIN generate_series(1, %(each)s) AS id WHERE tape.name LIKE 'filled-%%'
"""
_INBOX: Final = """
INSERT INTO inbox (account_id, ext_id, chat_id, message_id, session_id, entry_id, lane, payload,
                   status, received_at)
SELECT 'telegram', (9000000 + n) || '/' || id, (9000000 + n)::text, id::text,
       'telegram:' || (9000000 + n), id, 'l:1',
       '{"text":"a message of a usual length","sender":{"id":"7","name":"Alice"}}', 'taped',
       '2026-01-01T00:00:00.000'
FROM generate_series(1, %(sessions)s) AS n CROSS JOIN generate_series(1, %(each)s, 2) AS id
"""
_COVERED: Final = """
INSERT INTO search_covered (tape, low, high, rules)
SELECT tape, 1, size, %(rules)s FROM tape WHERE name LIKE 'filled-%%'
"""


async def level_figures(
    server: Server, levels: list[tuple[int, int]], messages: int, rate: float
) -> list[Figure]:
    """Measure the CPU of a message at each level of sessions and entries, against the first."""
    figures: list[Figure] = []
    costs: list[float] = []
    for sessions, entries in levels:
        name = f"{sessions} sessions, {entries} entries"
        progress(f"a message beside {name}")
        url = await asyncio.to_thread(server.new_database)
        async with staged_fleet(server, 1, url=url):
            pass  # it makes the tables
        await asyncio.to_thread(fill, url, sessions, max(1, entries // sessions))
        async with staged_fleet(server, 1, taking(0.0), url=url) as stage:
            own, database = await _cost(stage, messages, rate)
        costs.append(own + database)
        figures += [
            Figure(f"{name}: CPU a message, processes", own, "ms"),
            Figure(f"{name}: CPU a message, database", database, "ms"),
        ]
        if len(costs) > 1:
            figures.append(Figure(f"{name}: cost / first", costs[-1] / costs[0], "x", LEVEL_BAR))
        await asyncio.to_thread(_drop, server, url)
    return figures


async def _cost(stage: FleetStage, messages: int, rate: float) -> tuple[float, float]:
    """Return the CPU of an answered message in ms, of the processes and of the database."""
    crowd = stage.crowd(PRIVATE, GROUPS)
    await crowd.ask_fast(WARM_UP, 4)
    await crowd.all_answered()
    own, database = stage.cpu(), database_cpu(stage.server)
    asked = await crowd.ask_at(rate, messages / rate)
    await crowd.all_answered()
    own, database = stage.cpu() - own, database_cpu(stage.server) - database
    return own / len(asked) * 1000, database / len(asked) * 1000


def database_cpu(server: Server) -> float:
    """Return the CPU of the processes that serve connections, while none of these ends."""
    total = 0.0
    for process in psutil.Process(server.pid()).children():
        times = process.cpu_times()
        total += times.user + times.system
    return total


def fill(url: str, sessions: int, each: int) -> None:
    """Fill a database with sessions of so many entries each, indexed, and half as many messages."""
    with psycopg.connect(url, autocommit=True) as connection:
        run = partial(_run, connection, {"sessions": sessions, "each": each, "rules": RULES})
        for sql in (*_TAPES.split(";"), _ENTRIES, _INBOX, _COVERED):
            run(sql)
        connection.execute("ANALYZE")
        connection.execute("CHECKPOINT")


def _run(connection: psycopg.Connection[Any], values: dict[str, Any], sql: str) -> None:
    connection.execute(sql.encode(), values)


def _drop(server: Server, url: str) -> None:
    name = url.rpartition("/")[2]
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
