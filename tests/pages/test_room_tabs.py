"""Many tabs of one person in one room: one of them has the stream, and the others hear it."""

from __future__ import annotations

from pathlib import Path

from anyio.lowlevel import checkpoint
from playwright.async_api import Browser, expect

from gateway.app import Gateway
from tests.browser import browsing, enter, marks, say
from tests.gateways import gateway_of

pytestmark = marks


async def one_stream(gateway: Gateway) -> None:
    """Wait until the room has one stream: a tab that has closed leaves a moment later."""
    hub = gateway.services.router.channels["web"].hub  # type: ignore[attr-defined]
    while len(hub.rooms["lobby"].listeners) != 1:
        await checkpoint()


async def test_eight_tabs_share_one_stream_and_another_takes_over(
    tmp_path: Path, chromium: Browser
) -> None:
    async with gateway_of(tmp_path) as gateway, browsing(chromium) as opened:
        context = await opened.new_context()
        await context.add_init_script("delete window.SharedWorker")
        pages = [await enter(context, gateway.url, "Ann") for _ in range(8)]
        for number in (1, 2):
            await say(pages[-1], f"hello number {number}")
            for page in pages:
                answers = page.locator("[data-role=agent]:not(.draft)")
                await expect(answers).to_have_count(number)
                await expect(page.locator("[data-role=person]").last).to_contain_text(
                    f"number {number}"
                )
            await one_stream(gateway)
            await pages.pop(0).close()
