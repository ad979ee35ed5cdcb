"""What `/metrics` costs: `python -m bench.scrape`.

The gateway is the real process with one channel. Its CPU without a scraper is subtracted from its
CPU with one scrape a second.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from statistics import median
from typing import Final

import httpx2

from bench.crowd import Crowd
from bench.figures import Bar, Figure, progress, report
from bench.stage import Stage, staged

TOKEN: Final = "a-token-of-the-benchmark"
TURNS: Final = 50
CORE_BAR: Final = Bar("<", 1)


async def measure(seconds: int) -> list[Figure]:
    """Measure a gateway that has answered some questions, without and with a scraper."""
    async with staged(HTTP__TOKEN=TOKEN) as stage:
        crowd = Crowd(stage, 10, 10)
        await crowd.ask_fast(TURNS, 2)
        await crowd.all_answered()
        await asyncio.sleep(2)
        progress(f"{seconds} s without a scraper")
        idle = await _cpu(stage, seconds)
        progress(f"{seconds} s with one scrape a second")
        took: list[float] = []
        used = await _cpu(stage, seconds, took)
    return [
        Figure("CPU without a scraper", idle * 100, "% of a core"),
        Figure("one scrape a second: CPU", (used - idle) * 100, "% of a core", CORE_BAR),
        Figure("one scrape a second: median time", median(took) * 1000, "ms"),
    ]


async def _cpu(stage: Stage, seconds: int, took: list[float] | None = None) -> float:
    """Return the share of a core that the gateway uses; `took` gets the time of each scrape."""
    begun, cpu = time.monotonic(), stage.cpu_seconds()
    async with httpx2.AsyncClient(trust_env=False) as client:
        for second in range(seconds):
            if took is not None:
                asked = time.monotonic()
                headers = {"Authorization": f"Bearer {TOKEN}"}
                (await client.get(f"{stage.url}metrics", headers=headers)).raise_for_status()
                took.append(time.monotonic() - asked)
            await asyncio.sleep(max(0.0, begun + (second + 1) * 1.01 - time.monotonic()))
    return (stage.cpu_seconds() - cpu) / (time.monotonic() - begun)


def main() -> None:
    """Measure, print the table, and write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.scrape", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="of each part (60)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    report(asyncio.run(measure(options.seconds)), options.json)


if __name__ == "__main__":
    main()
