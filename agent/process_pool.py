"""Run tools that compute in a worker process, since a thread would hold the interpreter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import anyio
import anyio.to_process
from anyio.lowlevel import RunVar

from agent.tool import ToolContext

A = TypeVar("A")

MAX_WORKERS: Final = 2

_limit: Final = RunVar[anyio.CapacityLimiter]("tapeway_workers")


def in_a_process(
    function: Callable[[A], object],
) -> Callable[[Any, ToolContext], Awaitable[object]]:
    """Make a tool's `run` of a function that computes.

    The function and its arguments' class must be at the top level of an importable module. It gets
    only the checked arguments and must return something that can be pickled. Its process is killed
    on a timeout and when the turn is stopped.
    """

    async def run(arguments: A, _context: ToolContext) -> object:
        return await anyio.to_process.run_sync(
            function, arguments, cancellable=True, limiter=_limiter()
        )

    return run


def _limiter() -> anyio.CapacityLimiter:
    # A limiter belongs to the event loop that it was made in.
    try:
        return _limit.get()
    except LookupError:
        _limit.set(anyio.CapacityLimiter(MAX_WORKERS))
        return _limit.get()
