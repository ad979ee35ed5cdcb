"""Tools that compute: in a worker process, so that nobody else waits for them.

In a thread they would hold the interpreter: a turn of 14 ms took 220 beside one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import anyio
import anyio.to_process
from anyio.lowlevel import RunVar

from agent.tool import ToolContext

A = TypeVar("A")

MOST_WORKERS: Final = 2

_limit: Final = RunVar[anyio.CapacityLimiter]("tapeway_workers")


def in_a_process(
    function: Callable[[A], object],
) -> Callable[[Any, ToolContext], Awaitable[object]]:
    """Make a tool's `run` of a function that computes.

    The function and its arguments' class stand at the top level of a module that can be imported;
    it gets the checked arguments alone, and a result that can be pickled comes back. When its time
    is over, or the turn is stopped, its process is killed.
    """

    async def run(arguments: A, _context: ToolContext) -> object:
        return await anyio.to_process.run_sync(
            function, arguments, cancellable=True, limiter=_limiter()
        )

    return run


def _limiter() -> anyio.CapacityLimiter:
    """Return the limiter of the running loop: one made for another cannot be waited for."""
    try:
        return _limit.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(MOST_WORKERS)
        _limit.set(limiter)
        return limiter
