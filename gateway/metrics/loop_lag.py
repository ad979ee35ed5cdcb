"""Measure how late the event loop runs a timer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gateway.metrics.catalog import LAG
from gateway.metrics.meters import Meters

LOOK_SECONDS: Final = 0.5


@contextmanager
def watched_loop(meters: Meters) -> Iterator[None]:
    """Measure the lag of the running loop for the `with` block, by the loop's own clock."""
    loop = asyncio.get_running_loop()

    timer: asyncio.TimerHandle | None = None

    def look(due: float) -> None:
        meters.observe(LAG, max(0.0, loop.time() - due))
        begin()

    def begin() -> None:
        nonlocal timer
        due = loop.time() + LOOK_SECONDS
        timer = loop.call_at(due, look, due)

    begin()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
