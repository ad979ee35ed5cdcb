"""What Discord allows a bot, and how much is taken from it at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class DiscordLimits:
    """What no setting changes; whoever makes the channel in code, as tests do, may give others."""

    identify_seconds: float = 5.0
    """Minimum seconds from one new session of a bot to the next."""

    sessions: int = 50
    """Maximum sessions in quick succession; each shard adds two."""

    queued: int = 10_000
    """Maximum events waiting for the disk; beyond that, all are dropped and read as history."""


LIMITS: Final = DiscordLimits()
"""Those of the product."""
