"""Homes that a gateway fills with groups and their past, session by session; runs use copies."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import anyio
import orjson

from bench.figures import progress
from bench.many.groups import Group, Groups
from bench.many.placing import Placing
from bench.many.stage import platform, running
from gateway.hooks.specs import hookimpl

AT_ONCE: Final = 1_000
"""So many messages of some groups are said, and placed, before the next."""

_FACTS: Final = "filled.json"
_HOLDER: Final = "bench.many.homes:Holder"


@dataclass(frozen=True, slots=True)
class Past:
    """What a home has: groups with so many lines each, and `waiting` more that are not placed.

    workspace  the folder whose tapes the home has
    starts     how often a gateway was started in the home
    """

    groups: int
    lines: int
    workspace: str
    waiting: int = 0
    starts: int = 0

    @property
    def said(self) -> int:
        """Return how many lines were said in each group."""
        return self.lines + self.waiting


class Holder:
    """A plugin with which nothing that is accepted is placed."""

    @hookimpl
    async def admit_message(self) -> str:
        """Wait for ever."""
        await anyio.sleep_forever()
        return "drop"


@contextmanager
def keeping(folder: Path | None) -> Iterator[Path]:
    """Give the folder in which homes are kept; without one, they are gone afterwards."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder.resolve()  # the gateway runs in a folder of its own
        return
    with TemporaryDirectory(prefix="tapeway-homes-") as temporary:
        yield Path(temporary)


@contextmanager
def copied(folder: Path) -> Iterator[Path]:
    """Give a copy of the home in a folder, which is gone afterwards."""
    with TemporaryDirectory(prefix="tapeway-bench-", dir=folder.parent) as temporary:
        home = Path(temporary) / "home"
        shutil.copytree(folder / "home", home)
        yield home


async def filled(kept: Path, groups: int, lines: int) -> tuple[Path, Past]:
    """Return a folder with a home that has so many groups or more; what is missing is filled."""
    folder = kept / f"groups-with-{lines}"
    past = _read(folder) or Past(0, lines, str(folder / "home" / "workspace"))
    if past.groups < groups:
        async with _filling(folder, past) as home:
            past = await _fill(home, past, groups)
            _write(folder, past)
    return folder, past


async def left_over(kept: Path, groups: int, lines: int, waiting: int) -> tuple[Path, Past]:
    """Return a folder with a home in which so many messages of each group wait to be placed.

    The gateway accepted them, one of any group after the other and held by a plugin, and was ended
    with `kill -9`.
    """
    folder = kept / f"{groups}-groups-with-{lines}-and-{waiting}-waiting"
    found = _read(folder)
    if found is not None:
        return folder, found
    source, before = await filled(kept, groups, lines)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source / "home", folder / "home")
    past = replace(before, groups=groups, waiting=waiting, starts=before.starts + 1)
    home, workspace = folder / "home", before.workspace
    async with platform(before.starts) as at, running(at, home, workspace, _HOLDER) as gateway:
        placing, said, talking = Placing(home), 0, Groups(at.telegram, groups, lines)
        order = [group for group in talking.each() for _message in range(waiting)]
        Random("waiting").shuffle(order)
        for group in order:
            group.say()
            said += 1
            if said % AT_ONCE == 0 or said == len(order):
                await placing.all_accepted(said)
                at.telegram.updates.all.clear()
                progress(f"{said} of {len(order)} messages wait")
        if placing.waiting() < said:
            raise RuntimeError(f"only {placing.waiting()} of {said} messages wait")
        await gateway.kill()
    _write(folder, past)
    return folder, past


@asynccontextmanager
async def _filling(folder: Path, past: Past) -> AsyncIterator[Path]:
    """Give the home of a folder; what was left half filled is thrown away."""
    facts = folder / _FACTS
    if not past.groups:
        shutil.rmtree(folder, ignore_errors=True)
    (folder / "home").mkdir(parents=True, exist_ok=True)
    facts.unlink(missing_ok=True)
    yield folder / "home"


async def _fill(home: Path, past: Past, groups: int) -> Past:
    async with platform(past.starts) as at, running(at, home, past.workspace):
        placing, said = Placing(home), 0
        for number in range(past.groups, groups):
            said += _say(Group(at.telegram, number), past.lines)
            if said >= AT_ONCE or number == groups - 1:
                await placing.all_placed(said, every=0.05)
                placing.begin()
                at.telegram.updates.all.clear()
                progress(f"{number + 1} of {groups} groups have {past.lines} lines each")
                said = 0
    return replace(past, groups=groups, starts=past.starts + 1)


def _say(group: Group, lines: int) -> int:
    for _line in range(lines):
        group.say()
    group.forget()
    return lines


def _read(folder: Path) -> Past | None:
    facts = folder / _FACTS
    return Past(**orjson.loads(facts.read_bytes())) if facts.exists() else None


def _write(folder: Path, past: Past) -> None:
    (folder / _FACTS).write_bytes(orjson.dumps(asdict(past)))
