"""A plugin that notes each time the gateway's event loop was held, and for how long."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any, Final

from gateway.hooks.specs import hookimpl

NOTES: Final = "BENCH_LOOP_NOTES"
"""The environment variable that names the file of notes."""

EVERY: Final = 0.005
NOTED: Final = 0.025


class Ticker:
    """Wakes up each five milliseconds from the first message on.

    A note is a moment, the gap before it, and the CPU that the process used in it: the rest of a
    gap is what others on the machine took.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @hookimpl
    def resolve_session(self, message: Any) -> None:  # noqa: ARG002 - what the hook is given
        """Begin to tick."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(_ticks(Path(os.environ[NOTES])))


async def _ticks(notes: Path) -> None:
    with notes.open("a", buffering=1) as file:
        moment, cpu = time.monotonic(), time.process_time()
        while True:
            await asyncio.sleep(EVERY)
            now, used = time.monotonic(), time.process_time()
            if now - moment - EVERY > NOTED:
                file.write(f"{now} {now - moment - EVERY} {used - cpu}\n")
            moment, cpu = now, used
