"""The timeline of a tape of 100 000 entries: how little of it a browser holds and asks for.

One page is moved about by all tests of this file. Nothing here measures time, and no read is
ended after a while: `bench/console.py` measures, on a machine that does nothing else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import httpx2
import pytest
from playwright.async_api import Browser, Locator, Page, Request, Route, expect

from gateway.app import Gateway
from gateway.console.chats import key_of
from tape.deletions import deletion
from tape.entry import event, message
from tape.service import tape_name
from tests.gateway.console.long_tape import make_long
from tests.kit.browser import browsing, marks
from tests.kit.gateways import gateway_of, tape_of
from tests.kit.visitor import Visitor

pytestmark = marks

ENTRIES: Final = 100_000
LANES: Final = 400
MAX_LISTED: Final = 28
MAX_ELEMENTS: Final = 900
MAX_KEPT: Final = 2500  # rows
FIRST_ROWS: Final = 240  # around a place that is jumped to
ROW_BYTES: Final = 320  # of an answer, on average
SESSION: Final = "web:lobby"
KEY: Final = key_of(SESSION)
FITS: Final = "document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth"
NEAR: Final = """(id) => Math.abs(
    document.querySelector('.entry[aria-current]')?.dataset.id - id) < 12"""


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    """Run a gateway whose lobby has a long past, and then a first message and its answer."""
    home = tmp_path_factory.mktemp("long")
    workspace = home / "workspace"
    await make_long(home / "tapeway.db", tape_name(workspace, SESSION), ENTRIES, LANES)
    async with gateway_of(home, WORKSPACE=str(workspace)) as running:
        async with httpx2.AsyncClient(base_url=running.url, trust_env=False) as client:
            await Visitor(client, "lobby", "Ada").say("hello")
        await running.idle()
        await running.services.store.indexed()  # type: ignore[attr-defined]
        yield running


class Timeline:
    """The timeline in a browser, and what it asked the gateway for."""

    def __init__(self, page: Page, gateway: Gateway) -> None:
        self.page = page
        self.gateway = gateway
        self.asked: list[str] = []
        self.current: Locator = page.locator(".entry[aria-current]")
        self.slider = page.get_by_role("slider", name="Place on the tape")
        page.on("request", self._hear)

    def _hear(self, request: Request) -> None:
        if f"/api/console/tape/{KEY}" in request.url:
            self.asked.append(request.url.partition(KEY)[2])

    async def open(self, entry: int) -> None:
        """Go to an entry, and forget what was asked before."""
        await self.page.set_viewport_size({"width": 1280, "height": 720})
        self.asked.clear()
        await self.page.goto(f"{self.gateway.url}console#/tape/{KEY}/at/{entry}")
        await self.page.wait_for_function(NEAR, arg=entry)

    async def place(self) -> int:
        """Return the entry at the play head."""
        return int(await self.current.get_attribute("data-id") or 0)

    async def jump(self, date: str) -> None:
        await self.page.get_by_label("Go to a date").fill(date)
        await self.page.get_by_role("button", name="Go", exact=True).click()

    async def wheel(self, by: int) -> int:
        """Turn the wheel until another entry is at the play head; return it.

        Where the next page is not there yet, the tape does not move.
        """
        before = str(await self.place())
        while True:
            for _ in range(6):
                await self.page.mouse.wheel(0, by)
            with suppress(AssertionError):
                await expect(self.current).not_to_have_attribute("data-id", before, timeout=2000)
                return await self.place()

    def pages(self) -> list[str]:
        """Return which pages of the tape were asked for."""
        return [one for one in self.asked if one.startswith("/page")]

    async def check_bytes(self) -> None:
        """Check how large the pages of the tape were that came since the browser's was loaded."""
        sizes: dict[str, int] = await self.page.evaluate(
            "Object.fromEntries(performance.getEntriesByType('resource').filter(({ name }) =>"
            " name.includes('/page?')).map((one) => [one.name, one.decodedBodySize]))"
        )
        assert sizes
        for name, size in sizes.items():
            rows = FIRST_ROWS if f"limit={FIRST_ROWS}&" in name else 500
            assert 0 < size < ROW_BYTES * rows, name


@pytest.fixture(scope="module")
async def timeline(gateway: Gateway, chromium: Browser) -> AsyncIterator[Timeline]:
    async with browsing(chromium) as opened:
        context = await opened.new_context(timezone_id="UTC")
        yield Timeline(await context.new_page(), gateway)


async def test_a_long_tape_is_shown_from_its_end_with_two_questions(timeline: Timeline) -> None:
    timeline.asked.clear()
    await timeline.page.goto("about:blank")
    await timeline.page.goto(f"{timeline.gateway.url}console#/tape/{KEY}")
    await expect(timeline.page.get_by_role("heading", level=1)).not_to_have_text("Tape")
    size = await tape_of(timeline.gateway).size()
    assert size > ENTRIES
    await expect(timeline.slider).to_have_attribute("aria-valuemax", str(size))
    assert await timeline.place() > size - 30
    assert len(timeline.pages()) <= 6
    await timeline.check_bytes()
    await expect(timeline.page.locator(".map g:first-child path")).to_have_count(4)
    await expect(timeline.page.locator(".map-chapters[d^=M]")).to_have_count(1)
    await expect(timeline.page.locator(".map-lane").first).to_be_attached()
    await expect(timeline.page.locator(".tape-note")).to_have_text("")  # all of it is counted
    assert await timeline.page.locator("*").count() <= MAX_ELEMENTS


async def test_the_tape_can_be_run_through_and_the_page_stays_small(timeline: Timeline) -> None:
    await timeline.open(50_000)
    place = start = await timeline.place()
    for _ in range(8):
        await timeline.page.keyboard.press("-")
    await timeline.page.locator(".strip-canvas").hover()
    while place < start + MAX_KEPT + 1000:
        place = await timeline.wheel(900)
        assert await timeline.page.locator(".entry").count() <= MAX_LISTED
        assert await timeline.page.locator("*").count() <= MAX_ELEMENTS
    assert len(timeline.pages()) <= 8 + (place - start) / 250
    while await timeline.wheel(-900) >= place:
        pass  # what was turned before is still on its way
    await timeline.page.goto("about:blank")


async def test_what_the_page_keeps_of_a_tape_has_a_bound(timeline: Timeline) -> None:
    await timeline.open(60_000)
    found = await timeline.page.evaluate(
        """async (key) => {
            const { Strip } = await import('/console/assets/tape/strip.js');
            const strip = new Strip();
            const url = `/api/console/tape/${key}/page`;
            const page = async (where) => (await fetch(`${url}?${where}`)).json();
            strip.replace(await page('around=60000'));
            const moved = [];
            for (let i = 0; i < 6; i++) {
                const kept = strip.rows[0];
                const by = strip.extend(await page(`before=${strip.first}`), true);
                moved.push(strip.xs[strip.indexOf(kept.id)] - by);
            }
            const ids = strip.rows.map(({ id }) => id);
            for (let i = 0; i < 6; i++) strip.extend(await page(`after=${strip.last}`), false);
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
    assert found["count"] == found["later"] == MAX_KEPT
    assert found["gapless"]
    assert found["ordered"]
    assert found["moved"] == [0] * 6
    assert found["last"] - found["first"] > MAX_KEPT
    assert found["quiet"] > 0
    assert 100 < found["turns"] < 900
    # People talk in few lanes at a time: they share tracks, however many lanes there are.
    assert found["lanes"] > 6
    assert found["tracks"] < found["lanes"]


async def test_a_short_tape_has_the_width_of_the_window(timeline: Timeline) -> None:
    await timeline.open(60_000)
    found = await timeline.page.evaluate(
        """async () => {
            const { Strip } = await import('/console/assets/tape/strip.js');
            const strip = new Strip();
            const at = ['10:00:00', '10:00:20', '10:00:30', '18:00:00', '18:00:40'];
            const row = (time, i) => ({ id: i + 1, at: `2026-01-02T${time}Z`, kind: 'said' });
            const rows = at.map(row);
            strip.replace({ rows, first: 1, last: 5, size: 5 });
            strip.fitTo(1000);
            const [fitted, quiet] = [strip.width, strip.quiet[0].width];
            strip.zoom(2);
            const part = new Strip();
            part.fitTo(1000);
            part.replace({ rows: rows.slice(1), first: 2, last: 5, size: 5 });
            return { fitted, quiet, zoomed: strip.width, part: part.width };
        }"""
    )
    assert round(found["fitted"]) == 1000
    assert found["quiet"] < 100
    assert found["zoomed"] > 1500
    assert found["part"] < 400


async def test_a_date_an_entry_and_a_place_on_the_map_are_one_question_away(
    timeline: Timeline,
) -> None:
    await timeline.open(77_000)
    found: list[Any] = await tape_of(timeline.gateway).find(
        after=42_000, kinds=("message",), limit=1
    )
    (wanted,) = found
    timeline.asked.clear()
    await timeline.jump(wanted.date[:19])
    await timeline.page.wait_for_function(NEAR, arg=wanted.id)
    assert len([one for one in timeline.pages() if "date=" in one]) == 1
    await timeline.check_bytes()
    await expect(timeline.page).to_have_url(re.compile(r"/at/4[12]\d{3}$"))
    await timeline.slider.focus()
    await timeline.page.keyboard.press("Home")
    await expect(timeline.slider).to_have_attribute("aria-valuenow", re.compile("^[1-9]$"))
    box = await timeline.slider.bounding_box()
    assert box is not None
    await timeline.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await expect(timeline.slider).to_have_attribute("aria-valuenow", re.compile(r"^\d{5}$"))
    canvas = await timeline.page.locator(".strip-canvas").bounding_box()
    assert canvas is not None
    place = await timeline.place()
    await timeline.page.mouse.click(canvas["x"] + canvas["width"] - 40, canvas["y"] + 60)
    await expect(timeline.current).not_to_have_attribute("data-id", str(place))
    assert place < await timeline.place() < place + 200


@pytest.mark.parametrize("screen", ["tape", "replay"])
async def test_a_drag_over_the_map_asks_for_one_page_at_a_time(
    timeline: Timeline, screen: str
) -> None:
    page, gate, asked = timeline.page, asyncio.Event(), list[str]()
    await page.set_viewport_size({"width": 1280, "height": 720})
    await page.goto("about:blank")  # or the slider of the screen before would do for a moment
    await page.goto(f"{timeline.gateway.url}console#/{screen}/{KEY}")
    await expect(timeline.slider).not_to_have_attribute("aria-valuenow", "1")

    async def hold(route: Route) -> None:
        asked.append(route.request.url)
        await gate.wait()
        await route.continue_()

    pages = f"**/{KEY}/page?*around=*"  # the rest of the first page and what is new may come, too
    await page.route(pages, hold)
    box = await timeline.slider.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    await page.mouse.move(box["x"] + box["width"] / 4, y)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] / 2, y, steps=40)
    moved = await page.locator(".map-place").evaluate("(one) => one.style.transform")
    assert re.match(r"translateX\((49\.\d+|50)", moved)  # the head follows at once
    assert len(asked) == 1
    async with page.expect_response(lambda one: "around=" in one.url and one.url != asked[0]):
        gate.set()
    await page.mouse.up()
    half = re.compile(r"^5[0-4]\d{3}$")
    await expect(timeline.slider).to_have_attribute("aria-valuenow", half)
    assert len(set(asked)) == 2
    await page.unroute(pages)


async def test_a_link_to_any_entry_shows_it(timeline: Timeline) -> None:
    found: list[Any] = await tape_of(timeline.gateway).find(
        after=70_000, kinds=("event",), name="turn.start", limit=1
    )
    await timeline.open(found[0].id)
    await expect(timeline.current).to_have_attribute("data-id", str(found[0].id))
    await expect(timeline.current).to_contain_text("The agent began to work.")
    await timeline.page.keyboard.press("j")
    await expect(timeline.current).not_to_contain_text("The agent began to work.")
    await timeline.page.evaluate(f"location.hash = '#/tape/{KEY}/at/4000000'")
    note = timeline.page.locator(".tape-note")
    await expect(note).to_contain_text("Entry 4000000 is not on this tape, or not shown.")


async def test_the_keys_step_through_entries_and_chapters(timeline: Timeline) -> None:
    await timeline.open(30_000)  # which the list leaves out otherwise
    await timeline.page.keyboard.press("j")
    await expect(timeline.current).not_to_have_attribute("data-id", "30000")
    start = await timeline.place()
    await timeline.page.keyboard.press("j")
    await expect(timeline.current).not_to_have_attribute("data-id", str(start))
    assert await timeline.place() > start
    await timeline.page.keyboard.press("k")
    await expect(timeline.current).to_have_attribute("data-id", str(start))
    anchors = [one.id for one in await tape_of(timeline.gateway).anchors()]
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


async def test_what_is_said_appears_as_it_comes_and_is_found(timeline: Timeline) -> None:
    await timeline.open(99_000)
    await timeline.page.get_by_role("button", name="Newest").click()
    text = "is there any spelt left?"
    await tape_of(timeline.gateway).append(
        message("user", text, inbox=7, author="7", name="Fay", text=text)
    )
    listed = timeline.page.locator(".entry", has_text=text)
    await expect(listed).to_have_attribute("aria-current", "true")
    await expect(listed.locator(".disc")).to_have_text("F")
    rule = "the chat is not on the allowlist"
    await tape_of(timeline.gateway).append(
        event("access.refused", {"author": "7", "why": rule, "inbox": 7})
    )
    refused = timeline.page.locator(".entry.refused[aria-current]")
    await expect(refused).to_contain_text("not let in: the chat was not on the allowlist")
    why = refused.get_by_role("link", name="Why")
    entry = await refused.get_attribute("data-id")
    await expect(why).to_have_attribute("href", f"#/why/entry/{KEY}/{entry}")
    await timeline.gateway.services.store.indexed()  # type: ignore[attr-defined]
    await timeline.page.get_by_role("searchbox", name="Search this tape").fill("spelt")
    await timeline.page.keyboard.press("Enter")
    hits = timeline.page.get_by_role("region", name="Found on this tape")
    await expect(hits.get_by_role("listitem")).to_contain_text(text)


async def test_a_room_is_replayed_from_a_time(timeline: Timeline) -> None:
    tape, page = tape_of(timeline.gateway), timeline.page
    found: list[Any] = await tape.find(after=20_000, kinds=("message",), limit=16)
    said = [one for one in found if "inbox" in one.meta]
    await page.goto(f"{timeline.gateway.url}console#/replay/{KEY}/at/{said[3].date[:19]}Z")
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


async def test_a_phone_needs_no_sideways_scrolling(timeline: Timeline) -> None:
    await timeline.open(88_000)
    for screen in ("tape", "replay"):
        await timeline.page.goto(f"{timeline.gateway.url}console#/{screen}/{KEY}")
        shown = ".entry[aria-current]" if screen == "tape" else ".replay-room li"
        await expect(timeline.page.locator(shown).first).to_be_visible()
        for width in (320, 390):
            await timeline.page.set_viewport_size({"width": width, "height": 700})
            assert await timeline.page.evaluate(FITS)


async def test_nothing_deleted_is_in_the_page_or_in_a_chapter(timeline: Timeline) -> None:
    tape, secret = tape_of(timeline.gateway), "the key is under the mat"
    (said,) = await tape.append(message("user", secret, inbox=9, author="7", text=secret))
    await tape.append(deletion(said.id, "9"))
    await timeline.open(said.id)
    await expect(timeline.current).to_contain_text("This message was deleted.")
    assert "under the mat" not in await timeline.page.content()
    async with timeline.page.expect_download() as saving:
        await timeline.page.get_by_role("link", name="Markdown").click()
    text = (await (await saving.value).path()).read_text()
    assert text.startswith("# ")
    assert "under the mat" not in text
