"""Long texts, and how long the loop is held."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.kit.clock import ManualClock

SENTENCES = ("This is the first sentence.", *(f" This is number {n}." for n in range(2, 13)))


WHOLE = "".join(SENTENCES)


@contextmanager
def loop_time(clock: ManualClock) -> Iterator[None]:
    """Move the event loop's time, by which sockets are given up, with the clock as well."""
    loop = asyncio.get_running_loop()
    before = clock.monotonic()
    vars(loop)["time"] = lambda: time.monotonic() + clock.monotonic() - before
    try:
        yield
    finally:
        # It never goes back: a timer that was set meanwhile would be a minute late.
        passed = clock.monotonic() - before
        vars(loop)["time"] = lambda: time.monotonic() + passed
