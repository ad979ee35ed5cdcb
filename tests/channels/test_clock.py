"""Waiting on an injected clock."""

from __future__ import annotations

import anyio

from channels.clock import wait_at_most
from tests.kit.clock import ManualClock


async def test_it_returns_once_the_wait_is_over() -> None:
    clock, event = ManualClock(), anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(wait_at_most, clock, 5, event.wait)
        await clock.advance(4)
        event.set()
    assert clock.monotonic() == 4


async def test_it_cancels_a_wait_that_takes_too_long() -> None:
    clock, ended = ManualClock(), anyio.Event()
    async with anyio.create_task_group() as group:

        async def wait() -> None:
            await wait_at_most(clock, 5, anyio.Event().wait)
            ended.set()

        group.start_soon(wait)
        await clock.advance(4)
        assert not ended.is_set()
        await clock.advance(1)
        assert ended.is_set()
