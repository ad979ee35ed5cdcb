"""A tool that computes, in a module that a worker process imports quickly."""

from __future__ import annotations

import time
from pathlib import Path

from agent.tool import Arguments

LONGEST_SECONDS = 60.0
"""A computation that nobody ends gives up then, so that a failing test ends as well."""


class Burn(Arguments):
    """Which file's appearing ends the computation."""

    until: str


def burn(arguments: Burn) -> str:
    """Compute until the file is there."""
    begun = time.monotonic()
    while not Path(arguments.until).exists():
        if time.monotonic() - begun > LONGEST_SECONDS:
            return "burnt, though nobody ended it"
        sum(range(100_000))
    return "burnt"
