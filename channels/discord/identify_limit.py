"""Spaces out a bot's new sessions: Discord allows one every few seconds, and a thousand a day."""

from __future__ import annotations

from collections import deque
from typing import Final

import anyio

from channels.clock import Clock
from channels.discord.limits import LIMITS, DiscordLimits

SESSION_SECONDS: Final = 90.0
"""Average seconds between further sessions: Discord resets the token after 1000 a day."""


class IdentifyLimit:
    def __init__(self, limits: DiscordLimits = LIMITS) -> None:
        self._limits = limits
        self.started: deque[float] = deque()
        self._lock = anyio.Lock()

    async def wait(self, clock: Clock, shards: int) -> None:
        async with self._lock:
            started, limit = self.started, self._limits.sessions + 2 * shards
            while len(started) > limit:
                started.popleft()
            opens = started[-1] + self._limits.identify_seconds if started else 0.0
            if len(started) == limit:
                opens = max(opens, started[0] + limit * SESSION_SECONDS)
            if opens > clock.monotonic():
                await clock.sleep(opens - clock.monotonic())
            started.append(clock.monotonic())
