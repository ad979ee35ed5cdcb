"""What one process costs on PostgreSQL, against the same process on SQLite."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Final

from bench.figures import Bar, Figure, progress
from bench.fleet.levels import database_cpu
from bench.fleet.load import GROUPS, PRIVATE, WARM_UP, taking
from bench.fleet.stage import staged_fleet
from tests.postgres import Server

LATENCY_BAR: Final = Bar("<", 100)
CPU_BAR: Final = Bar("<", 1.6)
NONE_BAR: Final = Bar("=", 0)
ROUNDS: Final = 3


@dataclass(slots=True)
class _Seen:
    """What the rounds on one engine showed: seconds to an answer, CPU in ms an answer."""

    to_answer: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    wrong: int = 0


async def engine_figures(server: Server, rate: float, seconds: float) -> list[Figure]:
    """Ask one process at a rate, on each engine in turn, so that both meet the same machine."""
    seen = {"SQLite": _Seen(), "PostgreSQL": _Seen()}
    for number in range(ROUNDS):
        for engine, found in seen.items():
            progress(f"one process on {engine}, {rate:g}/s, {number + 1} of {ROUNDS}")
            await _round(server, engine == "SQLite", rate, seconds, found)
    figures: list[Figure] = []
    for engine, found in seen.items():
        name = f"one process on {engine}, {rate:g}/s"
        p95 = statistics.quantiles(found.to_answer, n=20)[-1]
        figures += [
            Figure(
                f"{name}: update -> answer, p50", 1000 * statistics.median(found.to_answer), "ms"
            ),
            Figure(f"{name}: update -> answer, p95", 1000 * p95, "ms", LATENCY_BAR),
            Figure(f"{name}: not answered, or twice", found.wrong, "", NONE_BAR),
            Figure(f"{name}: CPU an answer", statistics.median(found.own), "ms"),
        ]
    plain, shared = seen.values()
    ratio = statistics.median(shared.own) / statistics.median(plain.own)
    return [
        *figures,
        Figure("CPU of the process, PostgreSQL / SQLite", ratio, "x", CPU_BAR),
        Figure("CPU of the server an answer", statistics.median(shared.server), "ms"),
    ]


async def _round(server: Server, embedded: bool, rate: float, seconds: float, found: _Seen) -> None:
    async with staged_fleet(server, 0, taking(0.0), embedded=embedded) as stage:
        crowd = stage.crowd(PRIVATE, GROUPS)
        await crowd.ask_fast(WARM_UP, 4)
        await crowd.all_answered()
        own, database = stage.cpu(), 0.0 if embedded else database_cpu(server)
        asked = await crowd.ask_at(rate, seconds)
        await crowd.all_answered()
        own = stage.cpu() - own
        database = 0.0 if embedded else database_cpu(server) - database
        outcome = crowd.outcome(asked)
        found.to_answer += outcome.to_answer
        found.own.append(own / len(asked) * 1000)
        found.server.append(database / len(asked) * 1000)
        found.wrong += outcome.missing + outcome.again
