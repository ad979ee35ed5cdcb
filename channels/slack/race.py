"""Waiting for the first of two things."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio


async def either(one: Callable[[], Awaitable[Any]], other: Callable[[], Awaitable[Any]]) -> None:
    """Wait for the first of two; the other is cancelled."""
    async with anyio.create_task_group() as group:

        async def run(work: Callable[[], Awaitable[Any]]) -> None:
            await work()
            group.cancel_scope.cancel()

        group.start_soon(run, one)
        group.start_soon(run, other)
