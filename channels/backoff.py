"""Exponential backoff: how long to wait before the next try."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    """Waits that double from `first` to `longest`, in seconds.

    `jitter` is the share of each wait that is random: with 0.5 a wait of 8 becomes 4 to 8 seconds.
    """

    first: float
    longest: float
    jitter: float = 0.0
    tries: int = field(default=0, init=False)

    def next(self) -> float:
        """Return the next wait, and count the try."""
        # A power of two that large is the longest wait anyway, and a float cannot hold any power.
        wait = min(self.first * 2.0 ** min(self.tries, 60), self.longest)
        self.tries += 1
        return wait * random.uniform(1 - self.jitter, 1)  # noqa: S311 - jitter, not a secret

    def reset(self) -> None:
        """Start over with the first wait."""
        self.tries = 0
