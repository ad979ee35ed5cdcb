"""What a message that asks nothing costs, by the number of groups that talk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.figures import Figure, progress
from bench.many.groups import Group, Groups
from bench.many.homes import Past, copied, filled, keeping
from bench.many.placing import Placing
from bench.many.stage import platform, running

AHEAD: Final = 200
"""Never are more messages than these said and not yet placed."""

FULL: Final = 200
_POLL: Final = 0.02


@dataclass(frozen=True, slots=True)
class Case:
    """So many groups with so many lines each."""

    groups: int
    lines: int = FULL

    @classmethod
    def read(cls, text: str) -> Case:
        """Read `2000`, full rooms, or `10000x30`, rooms of 30 messages."""
        groups, _, lines = text.partition("x")
        return cls(int(groups), int(lines) if lines else FULL)


def read_cases(text: str) -> tuple[Case, ...]:
    """Read cases with commas between them."""
    return tuple(Case.read(one) for one in text.split(","))


async def talk_figures(cases: Sequence[Case], count: int, kept: Path | None) -> list[Figure]:
    """Measure so many messages at random in the groups of each case, after one in each group."""
    figures: list[Figure] = []
    with keeping(kept) as folder:
        for case in cases:
            most = max(one.groups for one in cases if one.lines == case.lines)
            source, past = await filled(folder, most, case.lines)
            progress(f"{count} messages in {case.groups} groups of {case.lines}")
            with copied(source) as home:
                figures += await _measured(home, past, case, count)
    return figures


async def _measured(home: Path, past: Past, case: Case, count: int) -> list[Figure]:
    async with platform(past.starts) as at, running(at, home, past.workspace) as gateway:
        groups, placing = Groups(at.telegram, case.groups, past.said), Placing(home)
        tapes = placing.tapes()
        await _said(groups.each(), placing)
        if placing.tapes() != tapes:
            raise RuntimeError("the groups talk on tapes without a past")
        at.telegram.updates.all.clear()
        placing.begin()
        cpu, begun = gateway.cpu_seconds(), time.perf_counter()
        await _said((groups.any() for _message in range(count)), placing)
        took, cpu = time.perf_counter() - begun, gateway.cpu_seconds() - cpu
        used = gateway.process.memory_full_info()
    name = f"{case.groups} groups of {case.lines}"
    return [
        Figure(f"{name}: CPU a message that asks nothing", cpu / count * 1000, "ms"),
        Figure(f"{name}: taken in, on one core", count / cpu, "a second"),
        Figure(f"{name}: taken in, on this machine", count / took, "a second"),
        Figure(f"{name}: memory, RSS", used.rss / 1e6, "MB"),
        Figure(f"{name}: memory, USS", used.uss / 1e6, "MB"),
        Figure(f"{name}: until ready", gateway.ready, "s"),
    ]


async def _said(groups: Iterable[Group], placing: Placing) -> None:
    """Send a message in each of the groups, and wait until all of them are placed."""
    said = placed = 0
    for group in groups:
        while said - placed >= AHEAD:
            placed = placing.placed()
            if said - placed >= AHEAD:
                await asyncio.sleep(_POLL)
        group.say()
        said += 1
    await placing.all_placed(said, every=_POLL)
