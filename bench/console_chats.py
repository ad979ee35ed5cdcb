"""What open consoles cost the chats: `python -m bench.console_chats`.

The gateway is the real process, between a Telegram and a model of our own. It answers a number of
questions a second, in turn without a console and with five: the deck and four timelines of chats
in which people ask. Chromium shares the machine, so the rounds alternate, and the medians count.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from statistics import median
from typing import Final

from playwright.async_api import BrowserContext, Page

from bench.crowd import Crowd
from bench.figures import Bar, Figure, percentile, progress, report
from bench.stage import Stage, staged
from tests.browser import connected, running_chromium

CONSOLES: Final = 5
CHATS: Final = 50
RATE: Final = 10
WARM_UP: Final = 100
MORE_BAR: Final = Bar("<", 10)


async def measure(seconds: float, rounds: int) -> list[Figure]:
    """Measure from an update to its answer, without and with consoles."""
    with running_chromium() as address:
        async with connected(address) as browser, staged() as stage:
            crowd = Crowd(stage, CHATS, 0)
            await crowd.ask_fast(WARM_UP, 2)
            await crowd.all_answered()
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            alone: list[float] = []
            watched: list[float] = []
            for number in range(rounds):
                progress(f"round {number + 1} of {rounds}")
                alone.append(await _p95(crowd, seconds))
                pages = await _open(context, stage)
                watched.append(await _p95(crowd, seconds))
                for page in pages:
                    await page.close()
            await context.close()
    more = (median(watched) / median(alone) - 1) * 100
    return [
        Figure(f"p95 without a console, {RATE} questions a second", median(alone) * 1000, "ms"),
        Figure(f"p95 with {CONSOLES} consoles", median(watched) * 1000, "ms"),
        Figure(f"p95 with {CONSOLES} consoles", more, "% more", MORE_BAR),
    ]


async def _p95(crowd: Crowd, seconds: float) -> float:
    asked = await crowd.ask_at(RATE, seconds)
    await crowd.all_answered()
    return percentile(crowd.outcome(asked).to_answer, 95)


async def _open(context: BrowserContext, stage: Stage) -> list[Page]:
    first = await context.new_page()
    await first.goto(f"{stage.url}console#/deck")
    await first.wait_for_selector(".strip a")
    links = await first.locator(".strip h2 a").evaluate_all("all => all.map((one) => one.hash)")
    pages = [first]
    for link in links[: CONSOLES - 1]:
        page = await context.new_page()
        await page.goto(f"{stage.url}console{link}")
        await page.wait_for_selector(".entry[aria-current]")
        pages.append(page)
    return pages


def main() -> None:
    """Measure, print the table, and write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.console_chats", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="of each half of a round (20)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    report(asyncio.run(measure(options.seconds, options.rounds)), options.json)


if __name__ == "__main__":
    main()
