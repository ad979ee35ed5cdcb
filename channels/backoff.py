"""Exponential backoff."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    """Retry delays that double from `first` to `longest` seconds; `jitter`: their random share."""

    first: float
    longest: float
    jitter: float = 0.0
    tries: int = field(default=0, init=False)

    def next(self) -> float:
        """Return the next wait, and count the try."""
        # A float cannot hold every power of two, and one this large is the longest wait anyway.
        wait = min(self.first * 2.0 ** min(self.tries, 60), self.longest)
        self.tries += 1
        return wait * random.uniform(1 - self.jitter, 1)  # noqa: S311 - jitter, not a secret

    def reset(self) -> None:
        self.tries = 0
