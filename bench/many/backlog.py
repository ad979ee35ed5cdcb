"""What others wait for beside messages that wait to be placed, and beside talk in many groups.

Each case runs on a copy of a home that a gateway filled. `quiet` is the same without either.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.figures import Figure, progress
from bench.many.groups import Group, Groups
from bench.many.homes import Past, copied, filled, keeping, left_over
from bench.many.placing import Placing
from bench.many.probes import Probes
from bench.many.stage import Running, platform, running
from bench.many.talk import Case

RATE: Final = 100
"""So many messages a second are said at random in the groups of the case with talk."""

OWN: Final = 50
"""So many messages of its own are before a question in a group, where none wait from before."""

_EVERY: Final = 0.5
_BEFORE_KILL: Final = 1.0


async def wait_figures(case: Case, backlog: int, seconds: float, kept: Path | None) -> list[Figure]:
    """Measure for so many seconds beside each; the backlog is also killed and started again."""
    with keeping(kept) as folder:
        each = max(1, backlog // case.groups)
        source, past = await filled(folder, case.groups, case.lines)
        figures = await _quiet(source, past, case, seconds, 0)
        figures += await _quiet(source, past, case, seconds, RATE)
        source, past = await left_over(folder, case.groups, case.lines, each)
        return figures + await _beside_backlog(source, past, seconds)


async def _quiet(source: Path, past: Past, case: Case, seconds: float, rate: int) -> list[Figure]:
    name = f"beside {rate}/s in {case.groups} groups" if rate else "quiet"
    progress(f"{name}, {seconds:g} s")
    with copied(source) as home:
        async with platform(past.starts) as at, running(at, home, past.workspace) as gateway:
            groups, probes = Groups(at.telegram, case.groups, past.said), Probes(at.telegram)
            async with _talking(groups, rate), _watched(gateway) as watch:
                found = await probes.go_on(seconds, groups.each(), _say_first)
            return _named(name, [*found, *watch.figures()])


async def _beside_backlog(source: Path, past: Past, seconds: float) -> list[Figure]:
    figures: list[Figure] = []
    for killed in (False, True):
        name = f"beside {past.groups * past.waiting} of {past.groups} groups"
        name += ", after kill -9" if killed else ""
        progress(f"{name}, {seconds:g} s")
        with copied(source) as home:
            async with platform(past.starts) as at:
                if killed:
                    async with running(at, home, past.workspace) as gateway:
                        await asyncio.sleep(_BEFORE_KILL)
                        await gateway.kill()
                async with running(at, home, past.workspace) as gateway:
                    async with _watched(gateway) as watch:
                        groups = Groups(at.telegram, past.groups, past.said)
                        probes = Probes(at.telegram)
                        found = await probes.go_on(seconds, groups.each(), lambda _group: None)
                        found += [*watch.placing(), *watch.figures()]
                    await gateway.kill()
        figures += _named(name, found)
    return figures


def _say_first(group: Group) -> None:
    for _line in range(OWN):
        group.say()


def _named(name: str, figures: list[Figure]) -> list[Figure]:
    return [Figure(f"{name}: {one.name}", one.value, one.unit) for one in figures]


@asynccontextmanager
async def _talking(groups: Groups, rate: int) -> AsyncIterator[None]:
    """Have people talk in the groups meanwhile, so many messages a second."""

    async def talk() -> None:
        begun, said = time.monotonic(), 0
        while True:
            while said < (time.monotonic() - begun) * rate:
                groups.any().say()
                said += 1
            await asyncio.sleep(0.01)

    task = asyncio.create_task(talk())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@dataclass(slots=True)
class _Watch:
    """What waited in a gateway, at which moments, and the most memory that it had."""

    gateway: Running
    waited: list[tuple[float, int]] = field(default_factory=list)
    megabytes: float = 0.0

    def look(self) -> None:
        self.waited.append((time.monotonic(), Placing(self.gateway.home, before=0).waiting()))
        self.megabytes = max(self.megabytes, self.gateway.megabytes())

    def figures(self) -> list[Figure]:
        self.look()
        return [
            Figure("memory, at most", self.megabytes, "MB"),
            Figure("until ready", self.gateway.ready, "s"),
        ]

    def placing(self) -> list[Figure]:
        """Return the rate of placing until no more than a hundredth of what waited is left."""
        self.look()
        begun, first = self.waited[0]
        few = [(at, left) for at, left in self.waited if left <= first // 100] or self.waited[-1:]
        ended, left = few[0]
        rate = (first - left) / (ended - begun) if ended > begun else 0.0
        return [
            Figure("placed", rate, "a second"),
            Figure("waited at first", first, ""),
            Figure("waited at last", left, ""),
        ]


@asynccontextmanager
async def _watched(gateway: Running) -> AsyncIterator[_Watch]:
    """Look now and then at what waits in a gateway, and at its memory."""
    watch = _Watch(gateway)

    async def look() -> None:
        while True:
            watch.look()
            await asyncio.sleep(_EVERY)

    task = asyncio.create_task(look())
    try:
        yield watch
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
