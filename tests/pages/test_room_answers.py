"""An answer on the page while it grows and when it ends: what moves, and what is read out."""

from __future__ import annotations

import asyncio
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from channels.message import ShownMessage
from channels.web.adapter import WebChannel
from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say
from tests.kit.clock import ManualClock
from tests.kit.gateways import gateway_of
from tests.pages.entering import ANSWER

pytestmark = marks

COUNT = """() => {
  window.heard = [];
  new MutationObserver((records) => {
    for (const record of records) {
      window.heard.push([...record.addedNodes].map((node) => node.textContent));
    }
  }).observe(
    document.querySelector('#spoken'), { childList: true, characterData: true, subtree: true },
  );
}"""
PLACES = """() => {
  return [...document.querySelectorAll('[data-role=agent] .body *')].map((one) => {
    const { top, left, width, height } = one.getBoundingClientRect();
    return [one.className, top, left, width, height].join(' ');
  });
}"""
DATE = "2026-01-02T03:04:05+00:00"


async def still(page: Page) -> list[str]:
    """Return where the parts of the answer are, once that is the same in two frames."""
    places: list[str] = []
    while places != (places := await page.evaluate(PLACES)):
        await page.evaluate("() => new Promise((go) => setTimeout(go, 300))")
    return places


async def test_nothing_moves_when_an_answer_ends_and_it_is_read_out_once_and_whole(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text((ANSWER, "."), gate=gate))
        context = await opened.new_context(viewport={"width": 800, "height": 1400})
        page = await enter(context, gateway.url, "Alice")
        await page.evaluate(COUNT)
        await say(page, "Show it all")
        await expect(page.locator(".draft .copy")).to_have_count(1)
        await expect(page.locator(".draft .code-keyword").first).to_have_text("def")
        await expect(page.locator(".draft .wide[data-more=end]")).to_have_count(2)
        await page.locator(".draft .copy").focus()
        before = await still(page)
        assert await page.evaluate("window.heard") == []
        gate.set()
        await expect(page.locator(".draft")).to_have_count(0)
        assert await still(page) == before
        assert await page.evaluate("document.activeElement.className") == "copy"
        own = page.locator("[data-role=person] > .paper")
        await expect(own).to_have_css("opacity", "1")  # not as pale as what is on its way
        ((spoken,),) = await page.evaluate("window.heard")
        assert spoken.startswith("Tapeway: See https://example.org/a_b?x=1. It holds.")
        assert spoken.endswith("for $5 or $10.\nhttps://example.org/one")

        answer = page.locator("[data-role=agent]")
        await expect(answer.locator("a").first).to_have_attribute(
            "href", "https://example.org/a_b?x=1"
        )
        await expect(answer.get_by_role("img", name="done")).to_have_count(1)
        await expect(answer.get_by_role("img", name="open")).to_have_count(1)
        await expect(answer.locator("math")).to_have_text("a+b2≤x2")
        await answer.get_by_role("button", name="Footnote 1", exact=True).press("Enter")
        back = answer.get_by_role("button", name="Back to footnote 1")
        await expect(back).to_be_focused()
        await answer.locator("pre").evaluate("pre => pre.scrollTo(pre.scrollWidth, 0)")
        await expect(answer.locator(".code")).to_have_attribute("data-more", "start")


async def test_a_quote_says_what_was_written(gateway: Gateway, chromium: Browser) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "How much is **5*3*2**, and `__init__` \\*?")
        shown = "How much is 5*3*2, and __init__ *?"
        await expect(page.locator("[data-role=agent] .quote-text")).to_have_text(shown)
        await page.get_by_role("button", name="Reply to Alice", exact=True).press("Enter")
        await expect(page.locator("#reply-excerpt")).to_have_text(shown)


async def test_the_columns_of_a_table_are_aligned(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    align = "(cell) => getComputedStyle(cell).textAlign"
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text(("| a | b | c |\n|--:|:-:|---|\n", "| 1 | 2 | 3 |\n")))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "a table, please")
        cells = page.locator("[data-role=agent]:not(.draft)").locator("td")
        await expect(cells).to_have_count(3)
        aligned = [await cell.evaluate(align) for cell in await cells.all()]
        assert aligned == ["right", "center", "start"]


async def test_an_answer_begins_without_waiting_for_a_clock(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with (
        gateway_of(tmp_path, model, clock=ManualClock(), BUFFER__DEBOUNCE="5") as gateway,
        browsing(chromium) as opened,
    ):
        model.enqueue(Text(("tea ", "is green"), gate=gate))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "what color is tea?")
        await expect(page.locator(".draft")).to_contain_text("tea")
        gate.set()


async def test_a_page_that_is_open_for_long_keeps_the_newest_messages(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        shown, newest = page.locator(".log .msg"), page.locator(".log .msg").last
        channel = gateway.channels["web"]
        assert isinstance(channel, WebChannel)

        def hear(first: int, last: int) -> None:
            for number in range(first, last):
                past = ShownMessage(f"m-{number}", "person", "b", "Bob", f"number {number}", DATE)
                channel.hub.message("lobby", channel.as_json(past))

        for first in range(0, 450, 150):
            hear(first, first + 150)
            await expect(newest).to_contain_text(f"number {first + 149}")
        await expect(shown).to_have_count(249)
        await page.locator("#scroller").hover()
        await page.mouse.wheel(0, -2000)
        await expect(page.locator("#jump")).to_be_visible()
        hear(450, 650)  # while one reads what is further up
        await expect(newest).to_contain_text("number 649")
        await expect(shown).to_have_count(449)
        await page.locator("#jump").click()
        hear(650, 651)
        await expect(shown).to_have_count(200)
