"""People who watch: what five consoles ask of a gateway, heard once and asked again without them.

Watchers sit at machines of their own. On the machine that measures, a Chromium slows everything
down, also what it never asks. So it opens real consoles once, while people ask; what their pages
ask for is written down, with its moment, and is asked for again by a client that draws nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from playwright.async_api import BrowserContext

from bench.figures import progress
from tests.kit.browser import connected, running_chromium

OPEN: Final = "open"
"""What standard output says once all of them are."""

API: Final = "api/console/"
STREAM: Final = f"{API}live"


@dataclass
class Heard:
    """What the pages of consoles asked for: seconds since they were open, and paths."""

    asked: list[tuple[float, str]] = field(default_factory=list)
    cookies: dict[str, str] = field(default_factory=dict)
    later: int = 0
    """How often the gateway said that it was too busy, and a page would ask again in a moment."""


@asynccontextmanager
async def watchers(url: str, number: int) -> AsyncIterator[Heard]:
    """Have so many consoles open on a gateway: the deck, and the timelines of its first chats.

    What they asked for is known when they are closed.
    """
    arguments = ("-m", "bench.console_watchers", url, str(number))
    pipes: dict[str, Any] = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, **pipes)
    assert process.stdin is not None
    assert process.stdout is not None
    heard = Heard()
    try:
        said = (await process.stdout.readline()).decode().strip()
        assert said == OPEN, said
        yield heard
        process.stdin.close()
        found = json.loads(await process.stdout.read())
        heard.asked = [(at, path) for at, path in found["asked"]]
        heard.cookies = found["cookies"]
    finally:
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def asking_again(url: str, heard: Heard, streams: int) -> AsyncIterator[None]:
    """Ask for the same at the same moments, over and over, beside so many open streams."""
    async with httpx.AsyncClient(base_url=url, cookies=heard.cookies, timeout=None) as client:
        tasks = [asyncio.create_task(_listen(client)) for _ in range(streams)]
        tasks.append(asyncio.create_task(_ask(client, heard)))
        try:
            yield
            assert not any(task.done() for task in tasks), tasks
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _listen(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", f"/{STREAM}") as response:
        response.raise_for_status()
        async for _chunk in response.aiter_raw():
            pass


async def _ask(client: httpx.AsyncClient, heard: Heard) -> None:
    async with asyncio.TaskGroup() as group:
        while True:
            began = time.monotonic()
            for at, path in heard.asked:
                await asyncio.sleep(max(0.0, began + at - time.monotonic()))
                group.create_task(_get(client, heard, path))
            await asyncio.sleep(1)


async def _get(client: httpx.AsyncClient, heard: Heard, path: str) -> None:
    response = await client.get(f"/{path}")
    if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        progress(f"later: {path}: {response.text}")
        heard.later += 1
    else:
        response.raise_for_status()


async def _watch(url: str, number: int) -> None:
    with running_chromium() as address:
        async with connected(address) as browser:
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            await _open(context, url, number)
            began, asked = time.monotonic(), list[tuple[float, str]]()

            def note(address: str) -> None:
                path = address.removeprefix(url)
                if path.startswith(API) and not path.startswith(STREAM):
                    asked.append((time.monotonic() - began, path))

            context.on("request", lambda request: note(request.url))
            print(OPEN, flush=True)
            await asyncio.to_thread(sys.stdin.read)
            cookies = {one["name"]: one["value"] for one in await context.cookies()}
            print(json.dumps({"asked": asked, "cookies": cookies}), flush=True)
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
    """Watch, and say what the pages asked for."""
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
