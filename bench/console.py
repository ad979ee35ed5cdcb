"""What a long tape costs in the console: `python -m bench.console`, on 1 000 000 with `--long`.

The gateway runs here, over SQLite; Chromium is Debian's, without a GPU. A screen of 1280 by 800.
The short form is part of `make check`, beside other work: its bars count the CPU of the page's
thread, bytes and elements, and times without what the machine did not give (`bench.unserved`).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
from playwright.async_api import Page

from bench.figures import Bar, Figure, percentile, progress, report
from bench.unserved import ATTEMPTS, best
from gateway.app import Gateway, running_gateway
from gateway.console.chats import key_of
from tape.entry import NewEntry, parse_date
from tape.handle import Tape
from tape.service import tape_name
from tests.gateway.console.filled_tape import fill, long_tape
from tests.gateway.console.long_tape import make_long
from tests.kit.browser import CHROMIUM, WANTED, connected, running_chromium
from tests.kit.gateways import make_settings
from tests.kit.visitor import Visitor

SESSION: Final = "web:lobby"
KEY: Final = key_of(SESSION)
LANES: Final = 400
PAINTS: Final = 3
JUMPS: Final = 20
LIVE_BATCH: Final = 50
KEPT: Final = 2500  # entries that the page keeps
BEHIND: Final = 40  # entries
TRACED_WITHIN: Final = 60  # seconds
PAINT_BAR: Final = Bar("<", 1000)
JUMP_BAR: Final = Bar("<", 300)
FRAME_BAR: Final = Bar("<", 10)
TASK_BAR: Final = Bar("<", 50)
HEAP_BAR: Final = Bar("<", 10)
ELEMENTS_BAR: Final = Bar("<", 900)
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
    while (jumps() === before) {
        if (performance.now() - began > 30_000)
            throw new Error(`no jump: ${document.querySelector('.tape-note').textContent}`);
        await new Promise((done) => setTimeout(done, 1));
    }
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


@dataclass(frozen=True, slots=True)
class Form:
    """How much is measured: entries of the tape, seconds of scrolling, and live events."""

    entries: int
    scroll_seconds: float
    live_events: int
    live_seconds: float


SHORT: Final = Form(100_000, 4, 3_000, 10)
LONG: Final = Form(1_000_000, 8, 12_000, 60)


@asynccontextmanager
async def gateway_with(entries: int) -> AsyncIterator[tuple[Gateway, Tape]]:
    """Run a gateway whose lobby has a long tape and a first message."""
    with TemporaryDirectory(prefix="tapeway-bench-") as folder:
        home, workspace = Path(folder), Path(folder) / "workspace"
        if entries <= SHORT.entries:  # the days repeat, and are made in a moment
            name = tape_name(workspace, SESSION)
            await make_long(home / "tapeway.db", name, entries, LANES)
        settings = make_settings(home, WORKSPACE=str(workspace))
        async with running_gateway(settings) as gateway:
            tape = gateway.services.tapes.session_tape(SESSION)
            if entries > SHORT.entries:
                progress(f"{entries} entries are written")
                await fill(tape, entries, LANES)
                progress("they are indexed")
            await gateway.services.store.indexed()  # type: ignore[attr-defined]
            async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as client:
                await Visitor(client, "lobby", "Ada").say("hello")
            await gateway.idle()
            yield gateway, tape


async def paints(page: Page, url: str) -> list[Figure]:
    """Measure the first paint of a timeline."""

    async def paint() -> float:
        await page.goto("about:blank")
        await page.goto(url)
        await page.wait_for_selector(".entry[aria-current]")
        await page.wait_for_function("performance.getEntriesByName('tape:drawn').length")
        return float(await page.evaluate("performance.getEntriesByName('tape:drawn')[0].startTime"))

    took = [await best(PAINT_BAR, paint) for _ in range(PAINTS)]
    name = f"first paint of the tape, slowest of {PAINTS}"
    return [
        Figure(f"{name}, on the clock", max(one.wall for one in took), "ms"),
        Figure(name, max(one.served for one in took), "ms", PAINT_BAR),
    ]


async def jumps(page: Page, tape: Tape) -> list[Figure]:
    """Measure jumps to dates all over the tape."""
    ends = await tape.entries([3, await tape.size() - 50])
    first, last = (parse_date(entry.date) for entry in ends.values())
    random = Random(1)
    dates = [first + (last - first) * random.random() for _ in range(JUMPS)]

    async def jump(date: datetime) -> float:
        return float(await page.evaluate(JUMP, date.isoformat()[:19]))

    took = [await best(JUMP_BAR, partial(jump, date), partial(jump, last)) for date in dates]
    name = f"jump to a date, {JUMPS} of them"
    return [
        Figure(f"{name}, median on the clock", percentile([one.wall for one in took], 50), "ms"),
        Figure(f"{name}, slowest on the clock", max(one.wall for one in took), "ms"),
        Figure(f"{name}, slowest", max(one.served for one in took), "ms", JUMP_BAR),
    ]


async def scrolling(page: Page, seconds: float) -> list[Figure]:
    """Measure the CPU of the main thread while the tape is scrolled, at most a few times."""
    for _ in range(ATTEMPTS):
        frames, tasks = await _scroll(page, seconds)
        figures = [
            Figure("scrolling: frames", len(frames) / seconds, "/s"),
            Figure("scrolling: work a frame, p95", percentile(frames, 95), "ms", FRAME_BAR),
            Figure("scrolling: longest task", max(tasks), "ms", TASK_BAR),
        ]
        if _holds(figures):
            break
    return figures


async def _scroll(page: Page, seconds: float) -> tuple[list[float], list[float]]:
    browser = page.context.browser
    assert browser is not None
    session = await browser.new_browser_cdp_session()
    events: list[dict[str, Any]] = []
    done = asyncio.Event()
    session.on("Tracing.dataCollected", lambda found: events.extend(found["value"]))
    session.on("Tracing.tracingComplete", lambda _found: done.set())
    await session.send("Tracing.start", {"traceConfig": {"includedCategories": CATEGORIES}})
    await page.evaluate(SCROLL, seconds)
    await session.send("Tracing.end")
    async with asyncio.timeout(TRACED_WITHIN):
        await done.wait()
    await session.detach()
    return _work(events)


def _work(events: Sequence[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Return the milliseconds of work in each frame, and of each task, of the page's thread."""
    ticks = [event for event in events if event["name"] == FRAME]
    thread = (ticks[0]["pid"], ticks[0]["tid"])
    own = [event for event in events if (event["pid"], event["tid"]) == thread]
    tasks = [one for one in own if one["name"] == TASK and one.get("ph") == "X"]
    tasks.sort(key=lambda one: one["ts"])
    begun = [task["ts"] for task in tasks]
    ticked = sorted(event["ts"] for event in own if event["name"] == FRAME)
    # Several callbacks of one task are one frame.
    starts = sorted({bisect_right(begun, ts): ts for ts in reversed(ticked)}.values())
    frames = [0.0] * (len(starts) - 1)
    at = 0
    for task in tasks:
        while at + 1 < len(starts) and task["ts"] >= starts[at + 1]:
            at += 1
        if at < len(frames) and task["ts"] >= starts[0] - 1e6:
            frames[at] += _milliseconds(task)
    return frames, [_milliseconds(task) for task in tasks]


def _milliseconds(task: dict[str, Any]) -> float:
    """Return how long a task had the processor, whatever else ran beside it."""
    return float(task.get("tdur", task["dur"])) / 1000


async def living(page: Page, tape: Tape, form: Form) -> list[Figure]:
    """Measure the heap and the elements before and after many live events."""
    session = await page.context.new_cdp_session(page)

    async def heap() -> float:
        await session.send("HeapProfiler.collectGarbage")
        return float((await session.send("Runtime.getHeapUsage"))["usedSize"])

    await page.get_by_role("button", name="Newest").click()
    more = islice(long_tape(3 * form.live_events, seed=7), 2, None)
    await _append(tape, more, KEPT, KEPT / form.live_events * form.live_seconds)
    await _caught_up(page, tape)  # what the page keeps is full before it is measured
    before = await heap()
    began = time.monotonic()
    await _append(tape, more, form.live_events, form.live_seconds)
    progress(f"{form.live_events} events in {time.monotonic() - began:.0f} s")
    await _caught_up(page, tape)
    for _ in range(ATTEMPTS):  # answers may be on their way still
        grown = (await heap() / before - 1) * 100
        if HEAP_BAR.met(grown):
            break
        await asyncio.sleep(1)
    elements = await page.locator("*").count()
    after = f"after {form.live_events} live events"
    return [
        Figure(f"heap {after}", grown, "% more", HEAP_BAR),
        Figure(f"elements {after}", elements, "", ELEMENTS_BAR),
    ]


async def _append(tape: Tape, more: Iterator[NewEntry], count: int, seconds: float) -> None:
    """Append entries, in so many seconds or as fast as the tape takes them."""
    began, batches = time.monotonic(), count // LIVE_BATCH
    for number in range(batches):
        await tape.append(*(_undated(next(more)) for _ in range(LIVE_BATCH)))
        due = began + (number + 1) * seconds / batches
        await asyncio.sleep(max(0.0, due - time.monotonic()))


async def _caught_up(page: Page, tape: Tape) -> None:
    await page.wait_for_function(
        "(size) => document.querySelector('.map').getAttribute('aria-valuenow') > size",
        arg=await tape.size() - BEHIND,
        timeout=60_000,
    )


def _undated(new: NewEntry) -> NewEntry:
    return NewEntry(new.kind, new.payload, new.meta)


def _holds(figures: Sequence[Figure]) -> bool:
    return all(figure.met is not False for figure in figures)


async def measure(form: Form, shot: Path | None) -> list[Figure]:
    """Measure everything."""
    figures: list[Figure] = []
    with running_chromium() as address:
        async with connected(address) as browser, gateway_with(form.entries) as (gateway, tape):
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
            figures += await scrolling(page, form.scroll_seconds)
            progress(", ".join(f"{one.name} {one.value:.1f}" for one in figures[-3:]))
            figures += await living(page, tape, form)
            await context.close()
    return figures


def main() -> None:
    """Measure, print a table, and fail where a bar is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="1 000 000 entries, 12 000 events")
    parser.add_argument("--shot", type=Path, help="where a picture of the timeline is kept")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if CHROMIUM is None and WANTED != "required":
        progress("no chromium here; CI installs and requires it")
        return
    figures = asyncio.run(measure(LONG if given.long else SHORT, given.shot))
    report(figures, given.json)
    sys.exit(not _holds(figures))


if __name__ == "__main__":
    main()
