"""People who watch: opens consoles on a gateway, and keeps them open until standard input ends.

A process of its own, which with its Chromium only takes the CPU that nobody else wants: watchers
sit at machines of their own, and what is measured is the gateway.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from playwright.async_api import BrowserContext

from tests.browser import connected, running_chromium

OPEN: Final = "open"
"""What standard output says once all of them are."""


@asynccontextmanager
async def watchers(url: str, number: int) -> AsyncIterator[None]:
    """Have so many consoles open on a gateway: the deck, and the timelines of its first chats."""
    arguments = ("-m", "bench.console_watchers", url, str(number))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        said = (await process.stdout.readline()).decode().strip()
        assert said == OPEN, said
        yield
    finally:
        process.stdin.close()
        await process.wait()


async def _watch(url: str, number: int) -> None:
    with running_chromium() as address:
        async with connected(address) as browser:
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            await _open(context, url, number)
            print(OPEN, flush=True)
            await asyncio.to_thread(sys.stdin.read)
            await context.close()


async def _open(context: BrowserContext, url: str, number: int) -> None:
    first = await context.new_page()
    await first.goto(f"{url}console#/deck")
    await first.wait_for_selector(".strip a")
    links = await first.locator(".strip h2 a").evaluate_all("all => all.map((one) => one.hash)")
    for link in links[: number - 1]:
        page = await context.new_page()
        await page.goto(f"{url}console{link}")
        await page.wait_for_selector(".entry[aria-current]")


def main() -> None:
    """Watch."""
    parser = argparse.ArgumentParser(prog="python -m bench.console_watchers", description=__doc__)
    parser.add_argument("url", help="of the gateway, with its last slash")
    parser.add_argument("number", type=int, help="of consoles, at least one")
    options = parser.parse_args()
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)
    asyncio.run(_watch(options.url, options.number))


if __name__ == "__main__":
    main()
