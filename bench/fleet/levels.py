"""What a message costs while the database grows: thousands of sessions, millions of entries."""

from __future__ import annotations

import asyncio
from typing import Final

import psutil
import psycopg

from bench.figures import Bar, Figure, progress
from bench.fleet.load import GROUPS, PRIVATE, taking
from bench.fleet.stage import FleetStage, staged_fleet
from tests.postgres import Server
from tests.scenarios.filled_database import fill

LEVEL_BAR: Final = Bar("<", 1.2)
WARM_UP: Final = 200


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


def _drop(server: Server, url: str) -> None:
    name = url.rpartition("/")[2]
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
