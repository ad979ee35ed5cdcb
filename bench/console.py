"""What a long tape costs in the console: `python -m bench.console --entries 1000000`.

The gateway runs here, over SQLite; Chromium is Debian's, without a GPU. A screen of 1280 by 800.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
from playwright.async_api import Page

from bench.console_tape import fill, long_tape
from bench.figures import Bar, Figure, percentile, progress, report
from gateway.app import Gateway, running_gateway
from gateway.console.chats import key_of
from tape.entry import parse_date
from tape.handle import Tape
from tests.browser import connected, running_chromium
from tests.gateways import make_settings
from tests.visitor import Visitor

SESSION: Final = "web:lobby"
KEY: Final = key_of(SESSION)
JUMPS: Final = 20
SCROLL_SECONDS: Final = 8
LIVE_EVENTS: Final = 12_000
LIVE_SECONDS: Final = 60
LIVE_BATCH: Final = 50
CATEGORIES: Final = ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"]
FRAME: Final = "FireAnimationFrame"
TASK: Final = "RunTask"

JUMP: Final = """async (date) => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const form = document.querySelector('.tape-form');
    const jumps = () => performance.getEntriesByName('tape:jumped').length;
    const before = jumps();
    const began = performance.now();
    form.querySelector('input').value = date;
    form.requestSubmit();
    while (jumps() === before) await new Promise((done) => setTimeout(done, 1));
    await frame();
    await frame();
    return performance.now() - began;
}"""
SCROLL: Final = """async (seconds) => {
    const canvas = document.querySelector('.strip-canvas');
    const end = performance.now() + seconds * 1000;
    let sign = -1;
    for (let frame = 0; performance.now() < end; frame++) {
        await new Promise((done) => requestAnimationFrame(done));
        if (frame % 240 === 239) sign = -sign;
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: sign * 160, cancelable: true }));
    }
}"""


@asynccontextmanager
async def gateway_with(entries: int, lanes: int) -> AsyncIterator[tuple[Gateway, Tape]]:
    """Run a gateway whose lobby has a long tape and a first message."""
    with TemporaryDirectory(prefix="tapeway-bench-") as folder:
        async with running_gateway(make_settings(Path(folder))) as gateway:
            tape = gateway.services.tapes.session_tape(SESSION)
            progress(f"{entries} entries are written")
            await fill(tape, entries, lanes)
            progress("they are indexed")
            await gateway.services.store.indexed()  # type: ignore[attr-defined]
            async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as client:
                await Visitor(client, "lobby", "Ada").say("hello")
            await gateway.idle()
            yield gateway, tape


async def paints(page: Page, url: str) -> list[Figure]:
    """Measure the first paint of a timeline, three times."""
    took = []
    for _ in range(3):
        await page.goto("about:blank")
        await page.goto(url)
        await page.wait_for_selector(".entry[aria-current]")
        mark = "performance.getEntriesByName('tape:drawn')[0].startTime"
        took.append(float(await page.evaluate(mark)))
    return [Figure("first paint of the tape, slowest of 3", max(took), "ms", Bar("<", 1000))]


async def jumps(page: Page, tape: Tape) -> list[Figure]:
    """Measure jumps to dates all over the tape."""
    ends = await tape.entries([3, await tape.size() - 50])
    first, last = (parse_date(entry.date) for entry in ends.values())
    random, took = Random(1), []
    for _ in range(JUMPS):
        date = first + (last - first) * random.random()
        took.append(float(await page.evaluate(JUMP, date.isoformat()[:19])))
    bar = Bar("<", 300)
    name = f"jump to a date, {JUMPS} of them"
    return [
        Figure(f"{name}, median", percentile(took, 50), "ms"),
        Figure(f"{name}, slowest", max(took), "ms", bar),
    ]


async def scrolling(page: Page) -> list[Figure]:
    """Measure the work of the main thread while the tape is scrolled."""
    browser = page.context.browser
    assert browser is not None
    session = await browser.new_browser_cdp_session()
    events: list[dict[str, Any]] = []
    done = asyncio.Event()
    session.on("Tracing.dataCollected", lambda found: events.extend(found["value"]))
    session.on("Tracing.tracingComplete", lambda _found: done.set())
    await session.send("Tracing.start", {"traceConfig": {"includedCategories": CATEGORIES}})
    await page.evaluate(SCROLL, SCROLL_SECONDS)
    await session.send("Tracing.end")
    await done.wait()
    frames, tasks = _work(events)
    return [
        Figure("scrolling: frames", len(frames) / SCROLL_SECONDS, "/s"),
        Figure("scrolling: work a frame, p95", percentile(frames, 95), "ms", Bar("<", 10)),
        Figure("scrolling: longest task", max(tasks), "ms", Bar("<", 50)),
    ]


def _work(events: Sequence[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Return the milliseconds of work in each frame, and of each task, of the page's thread."""
    ticks = [event for event in events if event["name"] == FRAME]
    thread = (ticks[0]["pid"], ticks[0]["tid"])
    own = [event for event in events if (event["pid"], event["tid"]) == thread]
    tasks = [one for one in own if one["name"] == TASK and one.get("ph") == "X"]
    starts = sorted(event["ts"] for event in own if event["name"] == FRAME)
    frames = [0.0] * (len(starts) - 1)
    at = 0
    for task in sorted(tasks, key=lambda one: one["ts"]):
        while at + 1 < len(starts) and task["ts"] >= starts[at + 1]:
            at += 1
        if at < len(frames) and task["ts"] >= starts[0] - 1e6:
            frames[at] += _milliseconds(task)
    return frames, [_milliseconds(task) for task in tasks]


def _milliseconds(task: dict[str, Any]) -> float:
    """Return how long a task had the processor, whatever else ran beside it."""
    return float(task.get("tdur", task["dur"])) / 1000


async def living(page: Page, tape: Tape) -> list[Figure]:
    """Measure the heap and the elements before and after many live events."""
    session = await page.context.new_cdp_session(page)

    async def heap() -> float:
        await session.send("HeapProfiler.collectGarbage")
        return float((await session.send("Runtime.getHeapUsage"))["usedSize"])

    await page.get_by_role("button", name="Newest").click()
    more = islice(long_tape(3 * LIVE_EVENTS, seed=7), 2, None)
    for _ in range(2500 // LIVE_BATCH):  # what the page keeps is full before it is measured
        await tape.append(*(_undated(next(more)) for _ in range(LIVE_BATCH)))
        await asyncio.sleep(0.2)
    await asyncio.sleep(5)
    before = await heap()
    began = time.monotonic()
    batches = LIVE_EVENTS // LIVE_BATCH
    for number in range(batches):
        await tape.append(*(_undated(next(more)) for _ in range(LIVE_BATCH)))
        due = began + (number + 1) * LIVE_SECONDS / batches
        await asyncio.sleep(max(0.0, due - time.monotonic()))
    progress(f"{LIVE_EVENTS} events in {time.monotonic() - began:.0f} s")
    size = await tape.size()
    await page.wait_for_function(
        "(size) => document.querySelector('.map').getAttribute('aria-valuenow') > size - 40",
        arg=size,
        timeout=30_000,
    )
    after = await heap()
    elements = await page.locator("*").count()
    return [
        Figure("heap after 12 000 live events", (after / before - 1) * 100, "% more", Bar("<", 10)),
        Figure("elements after 12 000 live events", elements, "", Bar("<", 900)),
    ]


def _undated(new: Any) -> Any:
    return type(new)(new.kind, new.payload, new.meta)


async def measure(entries: int, lanes: int, shot: Path | None) -> list[Figure]:
    """Measure everything."""
    figures: list[Figure] = []
    with running_chromium() as address:
        async with connected(address) as browser, gateway_with(entries, lanes) as (gateway, tape):
            context = await browser.new_context(
                viewport={"width": 1280, "height": 800}, timezone_id="UTC"
            )
            page = await context.new_page()
            url = f"{gateway.url}console#/tape/{KEY}"
            progress("first paint")
            figures += await paints(page, url)
            progress(f"{figures[-1].value:.0f} ms; jumps")
            figures += await jumps(page, tape)
            if shot is not None:
                await page.screenshot(path=shot)
            progress(f"{figures[-1].value:.0f} ms; scrolling")
            figures += await scrolling(page)
            progress(", ".join(f"{one.name} {one.value:.1f}" for one in figures[-3:]))
            figures += await living(page, tape)
            await context.close()
    return figures


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--lanes", type=int, default=400)
    parser.add_argument("--shot", type=Path, help="where a picture of the timeline is kept")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    figures = asyncio.run(measure(given.entries, given.lanes, given.shot))
    report(figures, given.json)


if __name__ == "__main__":
    main()
