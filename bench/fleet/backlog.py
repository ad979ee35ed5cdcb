"""What others wait for beside thousands of messages that a fleet has accepted and not placed.

An ingress alone accepts them, as nobody is there to place them; then workers come.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Final

from bench.figures import Figure, progress
from bench.fleet.stage import FleetStage, staged_fleet
from bench.many.groups import Group, Groups
from bench.many.homes import AT_ONCE
from bench.many.probes import Probes
from bench.many.stage import Platform, answer_newest
from bench.stage import LONGEST
from tests.fleet.members import Role
from tests.postgres import Server

LINES: Final = 30
"""So many lines were said in each group, and placed, before those that wait."""

_WAIT: Final = "SELECT count(*) FROM inbox WHERE status = 'accepted'"
_ALL: Final = "SELECT count(*) FROM inbox"
_PLACED: Final = "SELECT count(*) FROM inbox WHERE status <> 'accepted'"
_POLL: Final = 0.2


async def backlog_figures(
    server: Server, workers: int, groups: int, backlog: int, seconds: float
) -> list[Figure]:
    """Ask for so many seconds beside nothing, and beside so many messages that wait."""
    url = await asyncio.to_thread(server.new_database)
    async with _fleet(server, url, workers) as stage:
        await _fill(stage, groups, LINES, said=0, is_placed=True)
    copy = await asyncio.to_thread(server.new_database, url.rpartition("/")[2])
    async with _fleet(server, copy, workers) as stage:
        figures = await _ask(stage, groups, LINES, seconds, f"quiet, {workers} workers", 1)
    async with _fleet(server, url, 0, alone="ingress") as stage:
        _goes_on(stage, 1)
        await _fill(stage, groups, backlog // groups, said=LINES, is_placed=False)
    async with _fleet(server, url, workers) as stage:
        name, said = f"beside {backlog} of {groups} groups", LINES + backlog // groups
        return figures + await _ask(stage, groups, said, seconds, f"{name}, {workers} workers", 2)


def _fleet(
    server: Server, url: str, workers: int, alone: Role = "all"
) -> AbstractAsyncContextManager[FleetStage]:
    return staged_fleet(
        server, workers, answer_newest, url=url, alone=alone, TELEGRAM__GROUP_PER_MINUTE="0"
    )


def _goes_on(stage: FleetStage, starts: int) -> None:
    Platform(stage.telegram, stage.model).goes_on(starts)


async def _fill(stage: FleetStage, groups: int, lines: int, said: int, is_placed: bool) -> None:
    """Have so many lines more said in each group, and wait until all are accepted, or placed."""
    talking = Groups(stage.telegram, groups, said)
    order = [group for group in talking.each() for _line in range(lines)]
    if not is_placed:
        Random("waiting").shuffle(order)
    before = await _count(stage, _ALL)
    for at, group in enumerate(order, 1):
        group.say()
        if at % AT_ONCE == 0 or at == len(order):
            await _until(stage, _ALL, before + at)
            if is_placed:
                await _until(stage, _PLACED, before + at)
            stage.telegram.updates.all.clear()
            progress(f"{at} of {len(order)} messages are {'placed' if is_placed else 'accepted'}")


async def _until(stage: FleetStage, sql: str, count: int) -> None:
    async with asyncio.timeout(LONGEST):
        while await _count(stage, sql) < count:  # noqa: ASYNC110
            await asyncio.sleep(_POLL)


async def _ask(
    stage: FleetStage, groups: int, said: int, seconds: float, name: str, starts: int
) -> list[Figure]:
    progress(f"{name}, {seconds:g} s")
    _goes_on(stage, starts)
    before, begun = await _count(stage, _WAIT), time.monotonic()
    places = Groups(stage.telegram, groups, said).each()
    found = await Probes(stage.telegram).go_on(seconds, places, _nothing)
    left, took = await _count(stage, _WAIT), time.monotonic() - begun
    if before:
        found += [
            Figure("waited at first", before, ""),
            Figure("waited at last", left, ""),
            Figure("placed", (before - left) / took, "a second"),
        ]
    return [Figure(f"{name}: {one.name}", one.value, one.unit) for one in found]


def _nothing(_group: Group) -> None:
    """Say nothing before somebody asks in a group."""


async def _count(stage: FleetStage, sql: str) -> int:
    return int((await asyncio.to_thread(stage.rows, sql))[0][0])
