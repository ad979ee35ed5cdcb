"""The one clock: wall time in UTC for the tape, monotonic seconds for waiting."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

import anyio


class Clock(Protocol):
    """What is injected wherever time matters."""

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds."""
        await anyio.sleep(seconds)
