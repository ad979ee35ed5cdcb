"""What open consoles cost the chats: `python -m bench.console_chats`.

The gateway is the real process, between a Telegram and a model of our own. In groups it answers a
number of questions a second, in turn without a console and with five: the deck, and the timelines
of four of these groups, as `bench.console_watchers` asks for them. In every other round the
consoles come first, and the medians count: give it an even number of rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.console_watchers import asking_again, watchers
from bench.crowd import Crowd
from bench.figures import Bar, Figure, percentile, progress, report
from bench.stage import Stage, staged

CONSOLES: Final = 5
CHATS: Final = 50
RATE: Final = 10
WARM_UP: Final = 100
MORE_BAR: Final = Bar("<", 10)


async def measure(seconds: float, rounds: int) -> list[Figure]:
    """Measure from an update to its answer, without and with consoles."""
    alone: list[_Half] = []
    watched: list[_Half] = []
    async with staged() as stage:
        crowd = Crowd(stage, 0, CHATS)
        await crowd.ask_fast(WARM_UP, 2)
        await crowd.all_answered()
        async with watchers(stage.url, CONSOLES) as heard:
            progress(f"p95 beside a browser: {(await _half(crowd, stage, seconds)).p95:.3f} s")
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds}")
            # The chats grow, and so does the cost of an answer: neither is always the later one.
            for is_watched in (number % 2 == 1, number % 2 == 0):
                if not is_watched:
                    alone.append(await _half(crowd, stage, seconds))
                    continue
                async with asking_again(stage.url, heard, CONSOLES):
                    watched.append(await _half(crowd, stage, seconds))
    p95 = [median(half.p95 for half in halves) * 1000 for halves in (alone, watched)]
    cpu = [median(half.cpu for half in halves) * 1000 for halves in (alone, watched)]
    return [
        Figure("what the consoles ask for", len(heard.asked) / seconds, "/s"),
        Figure("answers of 'ask again in a moment'", heard.later, ""),
        Figure(f"p95 without a console, {RATE} questions a second", p95[0], "ms"),
        Figure(f"p95 with {CONSOLES} consoles", p95[1], "ms"),
        Figure(f"p95 with {CONSOLES} consoles", (p95[1] / p95[0] - 1) * 100, "% more", MORE_BAR),
        Figure("the gateway's CPU an answer without a console", cpu[0], "ms"),
        Figure(f"the gateway's CPU an answer with {CONSOLES} consoles", cpu[1], "ms"),
    ]


@dataclass(frozen=True, slots=True)
class _Half:
    """One half of a round: seconds from a question to its answer, and seconds of CPU an answer."""

    p95: float
    cpu: float


async def _half(crowd: Crowd, stage: Stage, seconds: float) -> _Half:
    cpu = stage.cpu_seconds()
    asked = await crowd.ask_at(RATE, seconds)
    await crowd.all_answered()
    cpu = stage.cpu_seconds() - cpu
    return _Half(percentile(crowd.outcome(asked).to_answer, 95), cpu / len(asked))


def main() -> None:
    """Measure, print the table, write the JSON, and fail where the bar is broken."""
    parser = argparse.ArgumentParser(prog="python -m bench.console_chats", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="of each half of a round (20)")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    figures = asyncio.run(measure(options.seconds, options.rounds))
    report(figures, options.json)
    sys.exit(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    main()
