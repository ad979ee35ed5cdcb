"""Seconds for which processes were ready to run and the machine ran others.

A figure that is a time is judged without them, and where it breaks its bar, it is measured again:
what counts is the best of a few attempts, as in `timeit`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from bench.figures import Bar

ATTEMPTS: Final = 4
OTHERS: Final = ("node", "sh")
"""Children of a bench that nothing measured waits for: the driver of the browser, and a shell."""


@dataclass(frozen=True, slots=True)
class Given:
    """Seconds for which the main thread of a process had a core, and waited for one."""

    ran: float
    waited: float


def given() -> dict[int, Given]:
    """Return what the machine gave to this process and to its children, by their ids.

    Empty where the system does not count it.
    """
    found: dict[int, Given] = {}
    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        with suppress(OSError, psutil.NoSuchProcess):
            if process.pid == os.getpid() or process.name() not in OTHERS:
                ran, waited = Path(f"/proc/{process.pid}/schedstat").read_text().split()[:2]
                found[process.pid] = Given(int(ran) / 1e9, int(waited) / 1e9)
    return found


@dataclass(frozen=True, slots=True)
class Took:
    """What something took, in milliseconds: on the clock, and without waiting for a core."""

    wall: float
    served: float


def took(wall: float, before: Mapping[int, Given], after: Mapping[int, Given]) -> Took:
    """Judge milliseconds on the clock by what was given before and after them.

    Processes also wait side by side: no time is less than the CPU that one of them used in it.
    """
    nothing = Given(0.0, 0.0)
    since = [(now, before.get(pid, nothing)) for pid, now in after.items()]
    waited = sum(now.waited - then.waited for now, then in since) * 1000
    ran = max((now.ran - then.ran for now, then in since), default=0.0) * 1000
    return Took(wall, max(wall - waited, min(wall, ran)))


async def best(
    bar: Bar,
    measure: Callable[[], Awaitable[float]],
    go_back: Callable[[], Awaitable[object]] | None = None,
) -> Took:
    """Measure milliseconds until they meet the bar, at most `ATTEMPTS` times; return the best.

    `go_back` is what is done before another attempt, and not measured.
    """
    found: list[Took] = []
    while len(found) < ATTEMPTS:
        if found and go_back is not None:
            await go_back()
        before = given()
        wall = await measure()
        found.append(took(wall, before, given()))
        if bar.met(found[-1].served):
            break
    return min(found, key=lambda one: one.served)
