"""Every screen of the room, by axe: no moderate, serious or critical finding."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, Page, expect

from tests.axe.findings import findings
from tests.fakes.openai.script import Failure, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say
from tests.kit.gateways import gateway_of
from tests.pages.entering import ANSWER

pytestmark = [*marks, pytest.mark.parametrize("scheme", ["light", "dark"])]

Scheme = Literal["light", "dark"]
WIDTHS = {"light": 1280, "dark": 390}


@asynccontextmanager
async def room(
    home: Path, chromium: Browser, scheme: Scheme, server: FakeOpenAI | None = None
) -> AsyncIterator[Page]:
    """Open a room in one scheme, wide or narrow, where nothing moves."""
    look: dict[str, Any] = {
        "color_scheme": scheme,
        "reduced_motion": "reduce",
        "viewport": {"width": WIDTHS[scheme], "height": 800},
    }
    async with gateway_of(home, server) as gateway, browsing(chromium) as opened:
        yield await enter(await opened.new_context(**look), gateway.url, "Alice")


async def test_the_first_screens_and_the_dialogs(
    tmp_path: Path, chromium: Browser, scheme: Scheme
) -> None:
    async with room(tmp_path, chromium, scheme) as page:
        await expect(page.locator("#empty")).to_be_visible()
        await expect(page.locator("#hint")).to_be_visible()
        assert await findings(page) == [], "the empty room"
        await page.locator("#rooms-summary").click()
        await expect(page.locator("#rooms-list a")).not_to_have_count(0)
        assert await findings(page) == [], "the rooms"
        await page.locator("#people-summary").click()
        assert await findings(page) == [], "the people"
        await page.locator("#menu-summary").click()
        assert await findings(page) == [], "the menu"
        await page.get_by_role("button", name="Invite, and access").click()
        await page.get_by_role("button", name="Make an invitation link").click()
        await expect(page.locator("#access-sessions li")).not_to_have_count(0)
        await page.get_by_role("button", name="Make a pairing code").click()
        assert await findings(page) == [], "who may come in"
        await page.keyboard.press("Escape")
        await page.locator("#name-button").click()
        assert await findings(page) == [], "the name"
        await page.keyboard.press("Escape")
        await page.locator("#model-dialog").evaluate("dialog => dialog.showModal()")
        assert await findings(page) == [], "the model"
        await page.keyboard.press("Escape")
        await page.locator("#composer-input").press_sequentially("/")
        await expect(page.locator("#commands [role=option]").first).to_be_visible()
        assert await findings(page) == [], "the commands"
        await page.goto(f"{page.url.partition('?')[0]}login?wrong=1")
        await expect(page.get_by_role("alert")).to_be_visible()
        assert await findings(page) == [], "the login"


async def test_a_conversation(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser, scheme: Scheme
) -> None:
    async with room(tmp_path, chromium, scheme, model) as page:
        answers = page.locator("[data-role=agent]:not(.draft)")
        model.enqueue(Text((ANSWER,)), Failure(400, "no"), Text(("cut",), finish_reason="length"))
        await say(page, "Show it all")
        await expect(answers).to_have_count(1)
        await say(page, "and now fail")
        await expect(page.get_by_role("button", name="Try again")).to_be_visible()
        await say(page, "and now stop in the middle")
        await expect(answers).to_have_count(2)
        await say(page, ",reset")
        await expect(page.locator(".splice")).to_have_count(1)
        await answers.first.locator(".why").press("Enter")
        await expect(page.get_by_label("Why this answer")).to_be_visible()
        await answers.first.locator(".reply").click()
        await expect(page.locator("#reply-chip")).to_be_visible()
        assert await findings(page) == []
