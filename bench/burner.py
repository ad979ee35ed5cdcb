"""A plugin with a tool that computes, and feels meanwhile how late the event loop is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import MappingProxyType
from typing import Final, Literal

import anyio.to_thread

from agent.process_pool import in_a_process
from agent.tool import Arguments, Role, Tool, ToolContext
from gateway.hooks.specs import hookimpl

EVERY: Final = 0.01
"""The loop is asked for a wake-up so often, seconds."""

Where = Literal["nowhere", "thread", "process"]


class Burn(Arguments):
    """How long, and where; `nowhere` only waits."""

    seconds: float
    where: Where


def burn(seconds: float) -> int:
    """Compute for so many seconds; returns how many rounds it took."""
    until = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < until:
        rounds += sum(range(100)) % 7
    return rounds


async def _in_thread(seconds: float, _context: ToolContext) -> None:
    await anyio.to_thread.run_sync(burn, seconds)


async def _nowhere(seconds: float, _context: ToolContext) -> None:
    await asyncio.sleep(seconds)


WAYS: Final = MappingProxyType[Where, Callable[[float, ToolContext], Awaitable[object]]](
    {"nowhere": _nowhere, "thread": _in_thread, "process": in_a_process(burn)}
)


class _Probe:
    """Notes by how much each wake-up came too late.

    The next one is due EVERY after the last was due, so that one long stall is not one sample.
    """

    def __init__(self) -> None:
        self.late: list[float] = []
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time() + EVERY
        self._timer = self._loop.call_at(self._due, self._wake)

    def _wake(self) -> None:
        now = self._loop.time()
        while self._due <= now:
            self.late.append(now - self._due)
            self._due += EVERY
        self._timer = self._loop.call_at(self._due, self._wake)

    def end(self) -> None:
        """Ask for no more wake-ups."""
        self._timer.cancel()


async def _run(arguments: Burn, context: ToolContext) -> str:
    """Compute; returns the delays in microseconds."""
    probe = _Probe()
    try:
        await WAYS[arguments.where](arguments.seconds, context)
    finally:
        probe.end()
    return " ".join(f"{seconds * 1e6:.0f}" for seconds in probe.late)


class Burner:
    """Brings the tool `burn`."""

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        """Return the tool."""
        return [
            Tool(
                "burn",
                "Compute for some seconds.",
                Burn,
                _run,
                role=Role.STRANGER,
                timeout=60.0,
                first=True,
            )
        ]
