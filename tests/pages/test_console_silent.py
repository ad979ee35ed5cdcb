"""The console in a browser while a platform does not say who administers its chats."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from gateway.access.roles import FAILED_SECONDS, KNOWN_SECONDS
from tests.gateway.console.court import ANN, Townhall, WatchClock, court_of
from tests.gateway.console.scene import GROUP, key
from tests.kit.browser import browsing, marks
from tests.kit.gateways import every
from tests.pages.entering import enter

pytestmark = marks

OUTSIDE = {"X-Forwarded-For": "203.0.113.9"}


async def until_it_tries_again(page: Page, heading: str) -> None:
    """Let the time of a page pass until it has asked once more, with success."""
    shown = page.get_by_role("heading", name=heading)
    while not await shown.is_visible():
        await page.clock.fast_forward(1000)


async def test_pages_say_that_nothing_is_known_and_try_again_by_themselves(
    tmp_path: Path, chromium: Browser
) -> None:
    hall, watch, hasty = Townhall(), WatchClock(), every(console_rights=0.2)
    async with court_of(tmp_path, hall, watch, hasty) as court, browsing(chromium) as opened:
        async with court.enter(ANN) as client:
            body = {"chat": key(GROUP), "hours": 1}
            made = (await client.post("/api/console/links", json=body)).json()
        ann = await enter(court, opened, ANN)
        context = await opened.new_context(extra_http_headers=OUTSIDE)
        reader = await context.new_page()
        await reader.goto(f"{court.gateway.url}console#link={made['secret']}")
        entry = reader.locator(".entry", has_text="7 is here")
        await expect(entry).to_be_visible()

        hall.away = True
        watch.passed += KNOWN_SECONDS
        live = ann.locator("#live")
        await expect(live).to_have_text("not live: asking your platform what you may see")
        hall.away = False
        watch.passed += FAILED_SECONDS
        await expect(live).to_be_hidden()

        hall.away = True
        watch.passed += KNOWN_SECONDS
        for page in (ann, reader):
            await page.clock.install()
            await page.reload()
        await until_it_tries_again(ann, "Not just now")
        await expect(ann.get_by_role("alert")).to_contain_text("which chats you administer")
        note = reader.locator(".read-about")
        while not await note.text_content():
            await reader.clock.fast_forward(1000)
        await expect(note).to_contain_text("whether the person who made your link may show")
        await expect(note).to_contain_text("This page tries again by itself.")
        await expect(entry).to_have_count(0)
        hall.away = False
        watch.passed += FAILED_SECONDS
        await until_it_tries_again(ann, "Chats")
        while not await entry.is_visible():
            await reader.clock.fast_forward(1000)
        await expect(note).to_contain_text("You read this tape by a link")
