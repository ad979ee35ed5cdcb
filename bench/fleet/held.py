"""Thousands of turns at once, held by a model that takes its time."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from bench.figures import Bar, Figure, progress
from bench.fleet.load import taking
from bench.fleet.stage import staged_fleet
from bench.stage import LONGEST
from tests.postgres import Server

WARM_UP: Final = 20
"""So many answers of each worker, until it has loaded and made all that it needs once."""

NONE_BAR: Final = Bar("=", 0)
MEMORY_BAR: Final = Bar("<", 100)
_OPEN: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE application_name = 'tapeway' AND datname = current_database()
  AND xact_start < now() - interval '1 second' AND state <> 'idle'
"""


async def held_figures(server: Server, workers: int, turns: int, seconds: float) -> list[Figure]:
    """Ask so many questions at once; look at the database and the memory while all are answered."""
    progress(f"{turns} turns at once on {workers} workers, a model of {seconds:g} s")
    async with staged_fleet(server, workers, taking(0.0)) as stage:
        crowd = stage.crowd(turns, 0)
        await crowd.ask_fast(WARM_UP * workers, WARM_UP)
        await crowd.all_answered()
        earlier = crowd.answered()
        stage.model.default = taking(seconds)
        own = stage.workers()
        before = sum(process.memory_info().rss for process in own)
        for _ in range(turns):
            crowd.ask()
        begun = time.monotonic()
        until = begun + seconds * 0.9 + LONGEST
        while time.monotonic() < until and len(stage.model.requests) < earlier + turns:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        reached, taken = len(stage.model.requests) - earlier, time.monotonic() - begun
        most, open_now = 0, 0
        while time.monotonic() < begun + seconds * 0.9:
            memory = sum(process.memory_info().rss for process in own)
            most = max(most, memory)
            open_now = max(open_now, int(stage.rows(_OPEN)[0][0]))
            await asyncio.sleep(0.5)
        await crowd.all_answered()
        answered = crowd.answered() - earlier
        calls = stage.telegram.calls_of("sendMessage")[earlier:]
    name = f"{turns} turns at once"
    return [
        Figure(f"{name}: reached the model", reached, ""),
        Figure(f"{name}: all at the model after", taken, "s"),
        Figure(f"{name}: transactions open meanwhile", open_now, "", NONE_BAR),
        Figure(f"{name}: memory a turn", (most - before) / turns / 1000, "KB", MEMORY_BAR),
        Figure(f"{name}: not answered", turns - answered, "", NONE_BAR),
        Figure(f"{name}: answered twice", len(calls) - answered, "", NONE_BAR),
    ]
