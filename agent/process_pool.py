"""Run CPU-bound tools in a worker process, because in a thread they would block the interpreter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import anyio
import anyio.to_process
from anyio.lowlevel import RunVar

from agent.tool import ToolContext

A = TypeVar("A")
R = TypeVar("R")

MAX_WORKERS: Final = 2

_limit: Final = RunVar[anyio.CapacityLimiter]("tapeway_workers")


def in_a_process(
    function: Callable[[A], object],
) -> Callable[[Any, ToolContext], Awaitable[object]]:
    """Turn a CPU-bound function into a tool's `run`.

    The function and the class of its arguments must be at the top level of an importable module.
    The function gets only the checked arguments, and must return a value that can be pickled. Its
    process is killed on a timeout and when the turn is stopped.
    """

    async def run(arguments: A, _context: ToolContext) -> object:
        return await compute(function, arguments)

    return run


async def compute(function: Callable[[A], R], argument: A) -> R:
    """Return what a function of an importable module returns in a worker process."""
    return await anyio.to_process.run_sync(function, argument, cancellable=True, limiter=_limiter())


def _limiter() -> anyio.CapacityLimiter:
    # A limiter works only in the event loop in which it was created.
    try:
        return _limit.get()
    except LookupError:
        _limit.set(anyio.CapacityLimiter(MAX_WORKERS))
        return _limit.get()
