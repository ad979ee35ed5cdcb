"""How much a fleet carries, how quickly, and what an answered message costs the database."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench.crowd import Crowd, Outcome
from bench.figures import Bar, Figure, latencies, progress
from bench.fleet.stage import FleetStage, staged_fleet
from bench.stage import number_of
from tests.fakes.openai.script import Reply, Request, Text
from tests.postgres import Server

PRIVATE: Final = 300
GROUPS: Final = 100
WARM_UP: Final = 400
"""So many answers until every connection has prepared its statements."""
BUSY: Final = ((20, "chats that go on"), (PRIVATE + GROUPS, "chats that come back"))
"""In how many chats: of those that come back, a session is claimed for each question."""

IDLE_SECONDS: Final = 10.0
INDEXED_SECONDS: Final = 3.0  # until the search index has what was said
LATE_SECONDS: Final = 1.0
"""A rate is steady as long as nineteen of twenty answers come within this of the model's time."""

PIECES: Final = 8
TRIPS_BAR: Final = Bar("<", 8.001)
NONE_BAR: Final = Bar("=", 0)


@dataclass(frozen=True, slots=True)
class Load:
    """What is tried: fleets, models by the seconds of an answer, rates upwards, seconds of each."""

    workers: tuple[int, ...] = (1, 2, 4)
    models: tuple[float, ...] = (0.0, 2.0)
    first_rate: float = 10.0
    step: float = 1.5
    most: float = 400.0
    seconds: float = 10.0


def taking(seconds: float) -> Callable[[Request], Reply]:
    """Return answers that take so long, in pieces."""
    return partial(_answer, seconds)


def _answer(seconds: float, request: Request) -> Reply:
    first = f"To question {number_of(request.last_user_text)}: "
    pieces = (first, *["a piece of the answer, "] * (PIECES - 1))
    return Text(pieces, delay=seconds / (PIECES - 1))


async def load_figures(server: Server, load: Load) -> list[Figure]:
    """Measure every fleet with every model."""
    figures: list[Figure] = []
    for seconds in load.models:
        steady: dict[int, float] = {}
        for workers in load.workers:
            name = f"{_fleet(workers)}, model {seconds:g} s"
            async with staged_fleet(server, workers, taking(seconds)) as stage:
                found, rate = await _climb(stage, load, seconds, name)
            figures += found
            steady[workers] = rate
        figures += [
            Figure(
                f"model {seconds:g} s: steady rate, {n} / {load.workers[0]}", steady[n] / first, "x"
            )
            for n in load.workers[1:]
            if (first := steady[load.workers[0]])
        ]
    return figures


def _fleet(workers: int) -> str:
    return f"{workers} worker{'s' if workers > 1 else ''}" if workers else "one process"


async def _climb(
    stage: FleetStage, load: Load, seconds: float, name: str
) -> tuple[list[Figure], float]:
    """Raise the rate until it is not steady; return the figures of the last steady one."""
    crowd = stage.crowd(PRIVATE, GROUPS)
    await crowd.ask_fast(WARM_UP, 4)
    await crowd.all_answered()
    figures: list[Figure] = []
    rate, steady = load.first_rate, 0.0
    while rate <= load.most:
        outcome, took, wal, cpu = await _at(stage, crowd, rate, load.seconds)
        late = statistics.quantiles(outcome.to_answer or [60.0] * 2, n=20)[-1]
        progress(f"{name}: {rate:.0f}/s, p95 {late * 1000:.0f} ms, drained in {took:.1f} s")
        if late > seconds + LATE_SECONDS or outcome.missing or took > seconds + LATE_SECONDS:
            break
        answered = len(outcome.to_answer)
        steady = rate
        figures = [
            Figure(f"{name}: largest steady rate", rate, "a second"),
            *latencies(f"{name}: update -> answer", outcome.to_answer, (50, 95)),
            Figure(
                f"{name}: not answered, or twice", outcome.missing + outcome.again, "", NONE_BAR
            ),
            Figure(f"{name}: CPU an answer, all processes", cpu / answered * 1000, "ms"),
            Figure(f"{name}: WAL an answer", wal / answered / 1000, "KB"),
        ]
        rate *= load.step
    return figures or [Figure(f"{name}: largest steady rate", 0, "a second")], steady


async def _at(
    stage: FleetStage, crowd: Crowd, rate: float, seconds: float
) -> tuple[Outcome, float, int, float]:
    """Ask at a rate; return what came of it, how long the last took, and the WAL and CPU used."""
    wal, cpu = stage.wal(), stage.cpu()
    asked = await crowd.ask_at(rate, seconds)
    begun = time.perf_counter()
    await crowd.all_answered()
    took = time.perf_counter() - begun
    return crowd.outcome(asked), took, stage.wal() - wal, stage.cpu() - cpu


async def trip_figures(server: Server, workers: int, rate: float, seconds: float) -> list[Figure]:
    """Count at proxies how often an answered message waits for the database."""
    progress(f"round trips: {_fleet(workers)}, {rate:g}/s")
    name = f"{_fleet(workers)}, {rate:g}/s: round trips"
    async with staged_fleet(server, workers, taking(0.0), proxied=True) as stage:
        crowd = stage.crowd(PRIVATE, GROUPS)
        await crowd.ask_fast(WARM_UP, 4)
        await crowd.all_answered()
        await asyncio.sleep(IDLE_SECONDS)
        before = stage.trips()
        await asyncio.sleep(IDLE_SECONDS)
        idle = (stage.trips() - before) / IDLE_SECONDS
        figures = [Figure(f"{name} a second without work", idle, "")]
        for chats, which in BUSY:
            crowd.go_on_in(chats)
            await crowd.ask_fast(chats, 4)
            await crowd.all_answered()
            trips = await _trips(stage, crowd, rate, seconds, idle)
            figures.append(Figure(f"{name} an answer in {which}", trips, "", TRIPS_BAR))
    return figures


async def _trips(
    stage: FleetStage, crowd: Crowd, rate: float, seconds: float, idle: float
) -> float:
    before, begun = stage.trips(), time.perf_counter()
    asked = await crowd.ask_at(rate, seconds)
    await crowd.all_answered()
    await asyncio.sleep(INDEXED_SECONDS)
    took = time.perf_counter() - begun
    return (stage.trips() - before - idle * took) / len(asked)
