"""The room on phones, by keyboard alone, in forced colours, and where nothing may move."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say
from tests.kit.gateways import gateway_of
from tests.pages.entering import ANSWER, MOVING

pytestmark = marks

OVERFLOWING = """() => {
  const wide = document.documentElement.clientWidth;
  const clipped = (one) => one.closest('.wide, .sr-only, .defs, [hidden]') !== null;
  return [...document.querySelectorAll('body *')].filter((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    return width > 0 && (right > wide + 1 || left < -1) && !clipped(one) && one.checkVisibility();
  }).map((one) => `${one.tagName}.${one.getAttribute('class')}#${one.id}`);
}"""
TOUCHED = """() => [...document.querySelectorAll('button, summary, input, textarea, select, a')]
  .filter((one) => one.checkVisibility({ opacityProperty: true }))
  .filter((one) => !one.closest('.sr-only, .body'))
  .map((one) => [one, (one.closest('label') ?? one).getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && Math.min(width, height) < 24)
  .map(([one]) => `${one.tagName}#${one.id}.${one.className}`)"""
SHARE = """() => {
  const box = document.querySelector('#scroller').getBoundingClientRect();
  return box.height / window.innerHeight;
}"""
FOCUSED = """() => {
  const one = document.activeElement;
  return one.id || one.getAttribute('aria-label') || one.textContent.trim();
}"""


@pytest.mark.parametrize("width", [320, 390])
async def test_a_phone_s_first_screen_belongs_to_the_conversation(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser, width: int
) -> None:
    async with browsing(chromium) as opened:
        phone = {"viewport": {"width": width, "height": 640}, "has_touch": True, "is_mobile": True}
        page = await enter(await opened.new_context(**phone), gateway.url, "Alice")
        model.enqueue(Text((ANSWER,)))
        await say(page, "Show it all")
        answer = page.locator("[data-role=agent]:not(.draft)")
        await expect(answer).to_have_count(1)
        assert await page.evaluate(SHARE) > 0.6
        assert await page.evaluate(OVERFLOWING) == []
        assert await page.evaluate(TOUCHED) == []
        for panel in ("people", "menu", "rooms"):
            await page.locator(f"#{panel}-summary").tap()
            assert await page.evaluate(OVERFLOWING) == [], panel
            await page.locator(f"#{panel}-summary").tap()
        await answer.locator(".why").tap()
        await expect(page.get_by_label("Why this answer")).to_be_visible()
        assert await page.evaluate(OVERFLOWING) == []


async def test_the_owner_s_notice_leaves_a_phone_to_the_conversation(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        phone = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
        page = await enter(await opened.new_context(**phone), gateway.url, "Alice")
        await expect(page.locator("#hint")).to_be_visible()
        assert await page.evaluate(SHARE) > 0.6
        assert await page.evaluate(OVERFLOWING) == []


async def reach(page: Page, name: str) -> None:
    """Press Tab until something has the focus; every stop shows it."""
    passed: list[str] = []
    while (at := await page.evaluate(FOCUSED)) != name:
        passed.append(at)
        assert len(passed) < 60, f"{name} is not among {passed}"
        await page.keyboard.press("Tab")


async def test_everything_is_reached_by_keyboard_alone(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        model.enqueue(Text((ANSWER,)))
        await say(page, "Show it all")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await page.evaluate("document.activeElement.blur()")
        for name in (
            "skip", "rooms-summary", "people-summary", "menu-summary", "name-button", "scroller",
            "Reply to Alice", "Reply to Tapeway", "Copy python code", "python code", "Table",
            "composer-input", "ask-agent", "attach-button", "send-button",
        ):  # fmt: skip
            await reach(page, name)
        await page.locator("#rooms-summary").press("Enter")
        await reach(page, "rooms-name")
        await page.keyboard.press("Escape")
        assert await page.evaluate(FOCUSED) == "rooms-summary"
        await page.locator("#menu-summary").press("Enter")
        await reach(page, "access-button")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.parametrize("look", ["forced colours", "reduced motion"])
async def test_a_room_can_be_used_in_forced_colours_and_without_motion(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser, look: str
) -> None:
    looks: dict[str, dict[str, Any]] = {
        "forced colours": {"forced_colors": "active"},
        "reduced motion": {"reduced_motion": "reduce"},
    }
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        page = await enter(await opened.new_context(**looks[look]), gateway.url, "Alice")
        model.enqueue(Text(("It grows ", "and ends."), gate=gate))
        await say(page, "Show it")
        await expect(page.locator(".draft")).to_be_visible()
        if look == "reduced motion":
            assert await page.evaluate(MOVING) == 0
        else:
            await expect(page.locator("#send-button")).not_to_have_css("border-style", "none")
            node = page.locator("[data-role=person] > .node")
            await expect(node).to_have_css("forced-color-adjust", "none")
        gate.set()
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
