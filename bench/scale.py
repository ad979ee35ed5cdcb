"""What several processes on one PostgreSQL carry: `python -m bench.scale --help`.

The processes and the server are real; Telegram and the model are in this process. All share this
machine, so compare figures of one run only.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from bench.figures import Figure, report
from bench.fleet.backlog import backlog_figures
from bench.fleet.churn import churn_figures
from bench.fleet.claims import claim_figures, wake_figures
from bench.fleet.engines import engine_figures
from bench.fleet.held import held_figures
from bench.fleet.levels import level_figures
from bench.fleet.load import Load, load_figures, trip_figures
from bench.fleet.rooms import room_figures
from bench.fleet.searches import search_part
from bench.fleet.stops import stop_figures
from bench.fleet.units import unit_figures
from tests.postgres import Server, server

DURABLE: Final = (
    "fsync=on",
    "full_page_writes=on",
    "synchronous_commit=on",
    "autovacuum=on",
    "shared_buffers=256MB",
    "max_connections=300",
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    load: Load = field(default_factory=Load)
    turns: int = 2000
    turn_workers: int = 4
    turn_seconds: float = 60.0
    trip_rate: float = 5.0
    trip_seconds: float = 20.0
    engine_rate: float = 10.0
    engine_seconds: float = 20.0
    sessions: tuple[int, ...] = (1_000, 100_000)
    entries: tuple[int, ...] = (1_000_000, 10_000_000)
    waiting: int = 5000
    quiet: int = 1000
    level_messages: int = 600
    level_rate: float = 5.0
    searched: int = 1_000_000
    stops: int = 60
    lines: int = 1000
    churned: int = 200_000
    units: int = 5_000
    groups: int = 2_000
    backlog: int = 100_000
    backlog_workers: int = 2
    backlog_seconds: float = 15.0


QUICK: Final = Size(
    Load((1, 2), (0.0,), seconds=3.0, most=40.0),
    turns=200,
    turn_workers=2,
    turn_seconds=10.0,
    trip_seconds=6.0,
    engine_seconds=5.0,
    sessions=(1_000, 10_000),
    entries=(20_000, 200_000),
    level_messages=100,
    searched=50_000,
    stops=20,
    lines=200,
    churned=10_000,
    units=500,
    groups=50,
    backlog=1_000,
    backlog_seconds=3.0,
)


async def _load(own: Server, size: Size) -> list[Figure]:
    return await load_figures(own, size.load)


async def _trips(own: Server, size: Size) -> list[Figure]:
    return [
        figure
        for workers in size.load.workers
        for figure in await trip_figures(own, workers, size.trip_rate, size.trip_seconds)
    ]


async def _engines(own: Server, size: Size) -> list[Figure]:
    return await engine_figures(own, size.engine_rate, size.engine_seconds)


async def _held(own: Server, size: Size) -> list[Figure]:
    return await held_figures(own, size.turn_workers, size.turns, size.turn_seconds)


async def _claims(own: Server, size: Size) -> list[Figure]:
    figures = await claim_figures(own, size.waiting, size.quiet)
    return [*figures, *await wake_figures(own)]


async def _levels(own: Server, size: Size) -> list[Figure]:
    few = min(size.sessions)
    by_sessions = [(sessions, max(size.sessions)) for sessions in size.sessions]
    by_entries = [(few, entries) for entries in size.entries]
    return [
        figure
        for levels in (by_sessions, by_entries)
        for figure in await level_figures(own, levels, size.level_messages, size.level_rate)
    ]


async def _search(own: Server, size: Size) -> list[Figure]:
    return await search_part(own, size.searched)


async def _stops(own: Server, size: Size) -> list[Figure]:
    return await stop_figures(own, size.turn_workers, size.stops)


async def _rooms(own: Server, size: Size) -> list[Figure]:
    return await room_figures(own, size.lines)


async def _churn(own: Server, size: Size) -> list[Figure]:
    return await churn_figures(own, size.churned)


async def _units(own: Server, size: Size) -> list[Figure]:
    return await unit_figures(own, size.units)


async def _backlog(own: Server, size: Size) -> list[Figure]:
    more = (size.groups, size.backlog, size.backlog_seconds)
    return await backlog_figures(own, size.backlog_workers, *more)


Part = Callable[[Server, Size], Coroutine[Any, Any, list[Figure]]]
PARTS: Final[Mapping[str, Part]] = MappingProxyType(
    {
        "load": _load,
        "trips": _trips,
        "engines": _engines,
        "claims": _claims,
        "held": _held,
        "levels": _levels,
        "search": _search,
        "stops": _stops,
        "rooms": _rooms,
        "churn": _churn,
        "units": _units,
        "backlog": _backlog,
    }
)


def main() -> None:
    """Measure what the command line asks for; print the table, and write the JSON."""
    options = _options()
    size = QUICK if options.quick else Size()
    load = replace(
        size.load,
        workers=tuple(options.workers) if options.workers else size.load.workers,
        models=tuple(options.models) if options.models else size.load.models,
        seconds=options.seconds or size.load.seconds,
    )
    size = replace(
        size, load=load, turns=options.turns or size.turns, churned=options.messages or size.churned
    )
    figures: list[Figure] = []
    with server(DURABLE) as own:
        for name in options.only or PARTS:
            figures += asyncio.run(PARTS[name](own, size))
    figures.append(Figure("load of the machine at the end", os.getloadavg()[0], ""))
    report(figures, options.json)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="measure less, within some minutes")
    add("--workers", type=int, nargs="+", metavar="N", help="fleets (1 2 4); 0 is one process")
    add("--models", type=float, nargs="+", metavar="SECONDS", help="what an answer takes (0 2)")
    add("--seconds", type=float, metavar="N", help="so long at each rate")
    add("--turns", type=int, metavar="N", help="so many turns at once")
    add("--messages", type=int, metavar="N", help="so many messages for churn (200000)")
    add("--json", type=Path, metavar="FILE", help="write the figures there too")
    add("--only", nargs="+", choices=PARTS, metavar="NAME", help=f"of: {', '.join(PARTS)}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
