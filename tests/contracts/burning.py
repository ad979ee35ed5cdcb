"""A tool that computes, in a module that a worker process imports quickly."""

from __future__ import annotations

import time

from agent.tool import Arguments


class Burn(Arguments):
    """How long to burn a CPU."""

    seconds: float


def burn(arguments: Burn) -> str:
    """Compute for a while."""
    until = time.perf_counter() + arguments.seconds
    while time.perf_counter() < until:
        sum(range(1000))
    return "burnt"
