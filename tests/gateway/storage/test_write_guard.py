"""What waits for a database that is away goes on as soon as it is known to be back."""

from __future__ import annotations

from pathlib import Path

import anyio

from gateway.background import Work
from gateway.settings.intervals import INTERVALS
from gateway.storage.ballast import Ballast
from gateway.storage.write_guard import MAX_WAIT_SECONDS, WriteGuard
from tape.errors import StoreUnavailable
from tests.kit.clock import ManualClock


async def _run(work: Work) -> None:
    await work()


async def test_a_write_that_waits_is_woken_by_the_first_that_succeeds(tmp_path: Path) -> None:
    clock, away, written = ManualClock(), True, list[float]()

    async def write() -> None:
        if away:
            raise StoreUnavailable("away")

    async def wait() -> None:
        await guard.retrying("a test", write)
        written.append(clock.monotonic())

    async with anyio.create_task_group() as group:

        def spawn(name: str, work: Work) -> None:
            group.start_soon(_run, work, name=name)

        guard = WriteGuard(clock, Ballast(tmp_path, 0), write, spawn, INTERVALS)
        for _ in range(3):
            group.start_soon(wait)
        await clock.advance(120.0)
        assert guard.away_for() == 120.0
        away, back_at = False, clock.monotonic()
        await clock.advance(INTERVALS.probe)
        assert guard.away_for() is None
        assert len(written) == 3
        assert max(written) - back_at <= INTERVALS.probe < MAX_WAIT_SECONDS
