"""Many tabs of one person in one room: one of them has the stream, and the others hear it."""

from __future__ import annotations

from anyio.lowlevel import checkpoint
from playwright.async_api import Browser, Page, expect

from gateway.app import Gateway
from tests.kit.browser import MUTE, browsing, enter, happens, marks, say

pytestmark = marks


async def one_stream(gateway: Gateway) -> None:
    """Wait until the room has one stream: a tab that has closed leaves a moment later."""
    hub = gateway.services.router.channels["web"].hub  # type: ignore[attr-defined]
    while len(hub.rooms["lobby"].listeners) != 1:
        await checkpoint()


async def test_eight_tabs_share_one_stream_and_another_takes_over(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context()
        await context.add_init_script("delete window.SharedWorker")
        pages = [await enter(context, gateway.url, "Ann") for _ in range(8)]
        for number in (1, 2):
            await say(pages[-1], f"hello number {number}")
            await hear(pages, number)
            await one_stream(gateway)
            await pages.pop(0).close()


async def test_a_tab_that_is_suspended_holds_up_no_other(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context()
        pages = [await enter(context, gateway.url, "Ann") for _ in range(2)]
        await pages[0].evaluate(happens("freeze"))
        await say(pages[1], "hello number 1")
        await hear(pages[1:], 1)
        await one_stream(gateway)
        await expect(pages[0].locator("[data-role=person]")).to_have_count(0)
        await pages[0].evaluate(happens("resume"))
        await hear(pages, 1)
        await one_stream(gateway)
        for page in pages:
            await page.evaluate(MUTE)
        pages.append(await enter(context, gateway.url, "Ann"))
        await say(pages[2], "hello number 2")
        await hear(pages[2:], 2)


async def hear(pages: list[Page], number: int) -> None:
    """Wait until tabs show so many questions and answers."""
    for page in pages:
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(number)
        last = page.locator("[data-role=person]").last
        await expect(last).to_contain_text(f"number {number}")
