"""The timeline of a long tape: how much of it a browser holds, how it is moved over, what it shows.

No test here measures time; `bench/console.py` does, on a machine that does nothing else.
"""

from __future__ import annotations

import fcntl
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from anyio import to_thread
from playwright.async_api import Browser, BrowserContext, Locator, Page, Request, expect

from bench.console_tape import fill
from gateway.app import Gateway
from gateway.console.chats import key_of
from tape.deletions import deletion
from tape.entry import message
from tests.browser import browsing, enter, marks, say
from tests.gateways import gateway_of, tape_of

pytestmark = [*marks, pytest.mark.long_page]

ENTRIES: Final = 100_000
LANES: Final = 400
MAX_LISTED: Final = 28
MAX_ELEMENTS: Final = 900
KEY: Final = key_of("web:lobby")


async def copy_filled(shared: Path, home: Path) -> str:
    """Copy the home with the long past, which the first worker that needs it makes for all.

    Return the workspace after which its tapes are named.
    """
    made, workspace = shared / "filled", str(shared / "workspace")
    with (shared / "filled.lock").open("w") as lock:
        await to_thread.run_sync(fcntl.flock, lock, fcntl.LOCK_EX)
        if not (shared / "filled.done").exists():
            async with gateway_of(made, WORKSPACE=workspace) as running:
                await fill(tape_of(running), ENTRIES, LANES)
                await running.services.store.indexed()  # type: ignore[attr-defined]
            (shared / "filled.done").touch()
    for file in made.glob("tapeway.db*"):
        shutil.copy2(file, home / file.name)
    return workspace


@pytest.fixture(scope="module")
async def gateway(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gateway]:
    """Run a gateway whose lobby has a long past, and then a first message and its answer."""
    home = tmp_path_factory.mktemp("long")
    workspace = await copy_filled(tmp_path_factory.getbasetemp().parent, home)
    async with gateway_of(home, WORKSPACE=workspace) as running:
        async with browsing(chromium) as opened:
            page = await enter(await opened.new_context(), running.url, "Alice")
            await say(page, "hello")
            await expect(page.locator("[data-role=agent]:not(.draft)").last).to_be_visible()
        await running.services.store.indexed()  # type: ignore[attr-defined]
        yield running


class Timeline:
    """The timeline in a browser, and what it asked the gateway for."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.asked: list[str] = []
        self.current: Locator = page.locator(".entry[aria-current]")
        self.slider = page.get_by_role("slider", name="Place on the tape")
        page.on("request", self._hear)

    @classmethod
    async def open(cls, context: BrowserContext, gateway: Gateway, place: str = "") -> Timeline:
        page = await context.new_page()
        timeline = cls(page, f"{gateway.url}console#/tape/{KEY}")
        await page.goto(f"{timeline.url}{place}")
        await expect(timeline.current).to_be_visible()
        return timeline

    def _hear(self, request: Request) -> None:
        if "/api/console/tape/" in request.url:
            self.asked.append(request.url.partition(KEY)[2])

    async def place(self) -> int:
        """Return the entry at the play head."""
        return int(await self.current.get_attribute("data-id") or 0)

    async def jump(self, date: str) -> None:
        await self.page.get_by_label("Go to a date").fill(date)
        await self.page.get_by_role("button", name="Go", exact=True).click()


async def test_a_long_tape_is_shown_from_its_end_with_two_questions(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        timeline = await Timeline.open(await opened.new_context(), gateway)
        await expect(timeline.page.get_by_role("heading", level=1)).not_to_have_text("Tape")
        size = await tape_of(gateway).size()
        await expect(timeline.slider).to_have_attribute("aria-valuemax", str(size))
        assert await timeline.place() > size - 30
        pages = [one for one in timeline.asked if one.startswith("/page")]
        assert len(pages) <= 6
        await expect(timeline.page.locator(".map path")).to_have_count(4)
        assert await timeline.page.locator("*").count() <= MAX_ELEMENTS


async def test_the_whole_tape_can_be_run_through_and_the_page_stays_small(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        timeline = await Timeline.open(await opened.new_context(), gateway, "/at/50000")
        strip = timeline.page.locator(".strip-canvas")
        place = start = await timeline.place()
        await strip.hover()
        while place < start + 4000:  # more than the page keeps
            for _ in range(6):
                await timeline.page.mouse.wheel(0, 900)
            await expect(timeline.current).not_to_have_attribute("data-id", str(place))
            place = await timeline.place()
            assert await timeline.page.locator(".entry").count() <= MAX_LISTED
            assert await timeline.page.locator("*").count() <= MAX_ELEMENTS
        asked = [one for one in timeline.asked if one.startswith("/page")]
        assert len(asked) <= 6 + (place - start) / 250
        for _ in range(6):
            await timeline.page.mouse.wheel(0, -900)
        await expect(timeline.current).not_to_have_attribute("data-id", str(place))
        assert await timeline.place() < place


async def test_what_the_page_keeps_of_a_tape_has_a_bound(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        timeline = await Timeline.open(await opened.new_context(), gateway)
        found = await timeline.page.evaluate(
            """async (key) => {
                const { Strip } = await import('/console/assets/tape/strip.js');
                const strip = new Strip();
                const url = `/api/console/tape/${key}/page`;
                const page = async (where) => (await fetch(`${url}?${where}`)).json();
                strip.replace(await page('around=60000'));
                const moved = [];
                for (let i = 0; i < 8; i++) {
                    const kept = strip.rows[0];
                    const by = strip.extend(await page(`before=${strip.first}`), true);
                    moved.push(strip.xs[strip.indexOf(kept.id)] - by);
                }
                const ids = strip.rows.map(({ id }) => id);
                for (let i = 0; i < 12; i++) strip.extend(await page(`after=${strip.last}`), false);
                const later = strip.rows.map(({ id }) => id);
                const gapless = (all) => all.every((id, i) => !i || id === all[i - 1] + 1);
                return {
                    moved, count: ids.length, later: later.length, tracks: strip.tracks,
                    gapless: gapless(ids) && gapless(later), first: ids[0], last: later.at(-1),
                    ordered: strip.xs.every((x, i) => !i || x >= strip.xs[i - 1]),
                    quiet: strip.quiet.length, turns: strip.turns.length, lanes: strip.lanes.size,
                };
            }""",
            KEY,
        )
        assert found["count"] == found["later"] == 2500
        assert found["gapless"]
        assert found["ordered"]
        assert found["moved"] == [0] * 8
        assert found["last"] - found["first"] > 6000
        assert found["quiet"] > 0
        assert 100 < found["turns"] < 900
        # People talk in few lanes at a time: they share tracks, however many lanes there are.
        assert found["lanes"] > 6
        assert found["tracks"] < found["lanes"]


async def test_a_date_an_entry_and_a_place_on_the_map_are_one_question_away(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context(timezone_id="UTC")
        timeline = await Timeline.open(context, gateway)
        (wanted,) = (await tape_of(gateway).entries([42_000])).values()
        asked = len(timeline.asked)
        await timeline.jump(wanted.date[:19])
        await expect(
            timeline.page.locator(".entry[data-id='42000'], .entry[data-id='42001']").first
        ).to_be_visible()
        assert abs(await timeline.place() - 42_000) < 12
        assert len([one for one in timeline.asked[asked:] if "date=" in one]) == 1
        await expect(timeline.page).to_have_url(re.compile(r"/at/4[12]\d{3}$"))
        await timeline.page.goto(f"{timeline.url}/at/77000")
        await expect(timeline.slider).to_have_attribute("aria-valuenow", re.compile("^7(69|70)"))
        await timeline.slider.focus()
        await timeline.page.keyboard.press("Home")
        await expect(timeline.slider).to_have_attribute("aria-valuenow", re.compile("^[1-9]$"))
        box = await timeline.slider.bounding_box()
        assert box is not None
        await timeline.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        await expect(timeline.slider).to_have_attribute("aria-valuenow", re.compile(r"^\d{5}$"))


async def test_the_keys_step_through_entries_and_chapters(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        timeline = await Timeline.open(await opened.new_context(), gateway, "/at/30000")
        start = await timeline.place()
        await timeline.page.keyboard.press("j")
        await expect(timeline.current).not_to_have_attribute("data-id", str(start))
        assert await timeline.place() > start
        await timeline.page.keyboard.press("k")
        await expect(timeline.current).to_have_attribute("data-id", str(start))
        anchors = [one.id for one in await tape_of(gateway).anchors()]
        behind = min(number for number in anchors if number > start)
        before = max(number for number in anchors if number < start)
        await timeline.page.keyboard.press("]")
        await expect(timeline.current).to_have_attribute("data-id", str(behind))
        await timeline.page.keyboard.press("[")
        await expect(timeline.current).to_have_attribute("data-id", str(before))
        file = timeline.page.get_by_role("link", name="Markdown")
        await expect(file).to_have_attribute("href", re.compile(f"/chapter/{before}.md$"))
        await timeline.page.keyboard.press("/")
        search = timeline.page.get_by_role("searchbox", name="Search this tape")
        await expect(search).to_be_focused()
        await timeline.page.keyboard.type("jk hello")
        await expect(search).to_have_value("jk hello")


async def test_what_is_said_is_found_and_appears_as_it_comes(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context()
        timeline = await Timeline.open(context, gateway)
        await timeline.page.get_by_role("searchbox", name="Search this tape").fill("hello")
        await timeline.page.keyboard.press("Enter")
        hits = timeline.page.get_by_role("region", name="Found on this tape")
        await expect(hits.get_by_role("listitem").first).to_contain_text("hello")
        room = await enter(context, gateway.url, "Alice")
        await say(room, "is there any rye left?")
        listed = timeline.page.locator(".entries", has_text="is there any rye left?")
        await timeline.page.get_by_role("button", name="Newest").click()
        await expect(listed).to_be_visible()


async def test_a_room_is_replayed_from_a_time(gateway: Gateway, chromium: Browser) -> None:
    tape = tape_of(gateway)
    found: list[Any] = await tape.find(after=20_000, kinds=("message",), limit=16)
    said = [one for one in found if "inbox" in one.meta]
    async with browsing(chromium) as opened:
        page = await (await opened.new_context(timezone_id="UTC")).new_page()
        await page.goto(f"{gateway.url}console#/replay/{KEY}/at/{said[3].date[:19]}Z")
        room = page.get_by_role("list", name="Replay")
        items = room.get_by_role("listitem")
        await expect(items.last).to_be_visible()
        last = int(await items.last.get_attribute("data-id") or 0)
        assert last <= said[3].id
        await page.get_by_label("Speed").select_option("60")
        await page.get_by_role("button", name="Play").click()
        await expect(room.locator(f"[data-id='{said[-1].id}']")).to_have_count(1)
        assert await items.count() <= 60
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.parametrize("width", [320, 390])
async def test_a_phone_needs_no_sideways_scrolling(
    gateway: Gateway, chromium: Browser, width: int
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context(viewport={"width": width, "height": 700})
        timeline = await Timeline.open(context, gateway)
        page = timeline.page
        wide = "document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth"
        assert await page.evaluate(wide)
        await page.goto(f"{gateway.url}console#/replay/{KEY}")
        await expect(page.get_by_role("button", name="Play")).to_be_visible()
        assert await page.evaluate(wide)


async def test_nothing_deleted_is_in_the_page_or_in_a_chapter(
    tmp_path: Path, chromium: Browser
) -> None:
    async with gateway_of(tmp_path) as gateway, browsing(chromium) as opened:
        room = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(room, "hello")
        await expect(room.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        tape, secret = tape_of(gateway), "the key is under the mat"
        (said,) = await tape.append(message("user", secret, inbox=9, author="7", text=secret))
        await tape.append(deletion(said.id, "9"))
        context = await opened.new_context(accept_downloads=True)
        timeline = await Timeline.open(context, gateway, f"/at/{said.id}")
        await expect(timeline.current).to_contain_text("This message was deleted.")
        assert "under the mat" not in await timeline.page.content()
        async with timeline.page.expect_download() as saving:
            await timeline.page.get_by_role("link", name="Markdown").click()
        text = (await (await saving.value).path()).read_text()
        assert text.startswith("# ")
        assert "under the mat" not in text
