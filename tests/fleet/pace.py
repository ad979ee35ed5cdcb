"""The pace of a run: its time passes only while the fleet keeps up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LOOK_SECONDS: Final = 0.05


@dataclass(slots=True)
class Pace:
    """Gives a slow machine as many questions and troubles as a fast one, only later.

    keeps_up   whether the fleet has little to do and enough processes
    longest    so many seconds a run may wait for that; then nothing more is asked or done
    passed     the run's time in seconds
    held_back  so long it has waited
    """

    keeps_up: Callable[[], bool]
    longest: float
    passed: float = 0.0
    held_back: float = 0.0

    @property
    def given_up(self) -> bool:
        """Whether the run is cut short."""
        return self.held_back > self.longest

    async def run(self) -> None:
        """Count the time that passes until cancelled."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = time.monotonic()
            if self.keeps_up():
                self.passed += min(now - last, 4 * LOOK_SECONDS)
            else:
                self.held_back += now - last
            last = now

    async def until(self, moment: float) -> bool:
        """Wait for a moment of the run; return False if the run is cut short before."""
        while self.passed < moment and not self.given_up:  # noqa: ASYNC110 - time is no event
            await asyncio.sleep(LOOK_SECONDS)
        return not self.given_up
