"""The console on a phone: one line of navigation, and nothing that is cut off without a word."""

from __future__ import annotations

from playwright.async_api import Browser, Page, expect

from gateway.app import Gateway
from tests.fakes.openai.script import Text, Usage
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say

pytestmark = marks

SCREENS = ("deck", "why", "ledger", "channels", "people", "money", "settings")
LINES = "() => new Set([...document.querySelectorAll('#nav a')].map((a) => a.offsetTop)).size"
HERE = """() => {
  const { left, right } = document.querySelector('#nav [aria-current]').getBoundingClientRect();
  return left >= 0 && right <= innerWidth;
}"""
WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
CLIPPED = """() => [...document.querySelectorAll('table')].filter((table) => {
  const frame = table.parentElement;
  if (table.scrollWidth <= frame.clientWidth + 1) return false;
  const says = frame.previousElementSibling;
  return !(says?.className === 'scrolls' && says.checkVisibility()
    && getComputedStyle(frame).overflowX === 'auto' && frame.tabIndex === 0);
}).length"""


async def shown(page: Page, url: str, screen: str) -> None:
    await page.goto(f"{url}console#/{screen}")
    await expect(page.locator("#nav [aria-current]")).to_be_visible()
    await expect(page.locator("main h1")).to_be_visible()


async def test_every_screen_fits_a_phone(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context(viewport={"width": 390, "height": 800})
        page = await enter(context, gateway.url, "Ann")
        model.default = lambda _request: Text(("yes",), usage=Usage(123_456, 7_890, 1_234))
        await say(page, "a question")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        for screen in SCREENS:
            await shown(page, gateway.url, screen)
            assert await page.evaluate(LINES) == 1, screen
            assert await page.evaluate(HERE), screen
            assert not await page.evaluate(WIDER), screen
            assert await page.evaluate(CLIPPED) == 0, screen
        await shown(page, gateway.url, "money")
        await expect(page.locator("main table")).to_be_visible()
        await expect(page.get_by_text("More columns: scroll sideways")).to_be_visible()
        assert await page.evaluate(CLIPPED) == 0
        await expect(page.locator("main .total")).to_contain_text("price unknown for 1 question")
        await page.set_viewport_size({"width": 1280, "height": 800})
        await expect(page.get_by_text("More columns: scroll sideways")).to_be_hidden()
        await shown(page, gateway.url, "deck")
        await expect(page.locator(".strip-used")).to_have_text("131.3K tokens todayprice unknown")
        await expect(page.locator(".strip .counter")).to_have_count(0)
