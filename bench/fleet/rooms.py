"""How often a worker reads a chat's newest messages from the tape, while people chat."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

import httpx2

from bench.crowd import PEOPLE
from bench.figures import Bar, Figure, progress
from bench.fleet.stage import FleetStage, staged_fleet
from bench.stage import LONGEST
from gateway.home import find_running
from gateway.settings.intervals import INTERVALS
from tests.postgres import Server

WORKERS: Final = 2
CHATS: Final = ((20, "a line a second"), (400, "a line in 20 s"))
"""Chats that share the lines: those of the second kind are given back before the next line."""

RATE: Final = 20.0
ONCE_BAR: Final = 1.001
KEEP_SECONDS: Final = 10.0  # the default of TAPEWAY_SHARING__KEEP
_TOKEN: Final = "a-token-of-the-benchmark"
_READS: Final = re.compile(r"^tapeway_room_reads_total (\S+)", re.MULTILINE)
_OPEN: Final = "SELECT count(*) FROM inbox WHERE status = 'accepted'"
_TAKEN: Final = "SELECT count(*) FROM inbox"


async def room_figures(server: Server, lines: int) -> list[Figure]:
    """Return how often rooms were read from their tapes while people wrote in groups."""
    figures: list[Figure] = []
    for chats, which in CHATS:
        progress(f"rooms: {lines} lines in {chats} chats, {RATE:g}/s")
        async with staged_fleet(server, WORKERS, HTTP__TOKEN=_TOKEN) as stage:
            await _chat(stage, lines, chats)
            await asyncio.sleep(INTERVALS.workers * 2)  # until the workers' counts are rows
            reads = await _reads(stage)
        name = f"rooms: {chats} chats, {which}"
        often = chats / RATE < KEEP_SECONDS
        bar = Bar("<", 1000 * chats / lines * ONCE_BAR) if often else None
        figures.append(Figure(f"{name}: read a 1 000 lines", reads / lines * 1000, "", bar))
    return figures


async def _chat(stage: FleetStage, lines: int, chats: int) -> None:
    """Write the lines of the groups in turn."""
    telegram = stage.telegram
    groups = [telegram.group(-1_003_000_000_000 - n, f"Group {n}") for n in range(chats)]
    people = [telegram.user(1000 + number, f"Person {number}") for number in range(PEOPLE)]
    for number in range(lines):
        text = f"the nightly job failed again: number {number}"
        telegram.say(groups[number % chats], people[number % PEOPLE], text)
        await asyncio.sleep(1 / RATE)
    async with asyncio.timeout(LONGEST):
        while stage.rows(_TAKEN)[0][0] < lines or stage.rows(_OPEN)[0][0]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def _reads(stage: FleetStage) -> float:
    """Return the count of all processes, which any of them shows."""
    running = find_running(Path(stage.members[0].environ["TAPEWAY_HOME"]))
    assert running is not None
    headers = {"Authorization": f"Bearer {_TOKEN}"}
    async with httpx2.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"{running.url}metrics", headers=headers)).text
    found = _READS.search(text)
    return float(found[1]) if found else 0.0
