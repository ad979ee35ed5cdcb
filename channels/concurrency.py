"""Waiting on an injected clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from channels.clock import Clock


async def wait_at_most(clock: Clock, seconds: float, wait: Callable[[], Awaitable[object]]) -> None:
    """Run `wait`, and cancel it after `seconds` on the clock."""
    async with anyio.create_task_group() as group:

        async def time_out() -> None:
            await clock.sleep(seconds)
            group.cancel_scope.cancel()

        group.start_soon(time_out)
        await wait()
        group.cancel_scope.cancel()
