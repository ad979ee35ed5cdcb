"""What stands beside the messages: splices of the tape, and a track for each talk."""

from __future__ import annotations

import asyncio
from pathlib import Path

from playwright.async_api import Browser, expect

from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say, somebody
from tests.kit.gateways import gateway_of, settled, tape_of

pytestmark = marks


async def test_a_slash_offers_the_commands_and_a_reset_is_a_splice(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "hello")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        field = page.get_by_role("textbox", name="Message")
        await field.press_sequentially("/")
        await expect(page.get_by_role("option", name="/tape.search query=")).to_be_visible()
        await expect(page.get_by_role("option", name="/open")).to_have_count(0)
        await field.press_sequentially("res")
        await expect(page.locator("#commands").get_by_role("option")).to_have_count(1)
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("/reset")
        await page.keyboard.press("Enter")
        await expect(page.locator("[data-role=person]").last).to_contain_text("/reset")
        splice = page.locator(".log .splice")
        await expect(splice).to_contain_text("Started over")
        await page.reload()
        await expect(splice).to_have_count(1)
        await expect(page.locator("[data-role=person]").last).to_contain_text("/reset")
        await page.locator("#ask-agent").uncheck(force=True)
        await say(page, "/help")
        quiet, last = page.locator("[data-quiet]"), page.locator("[data-role=person]").last
        await expect(last).to_contain_text("/help")
        await expect(quiet).to_have_count(0)
        await say(page, "/etc is a folder")
        await expect(last).to_contain_text("/etc is a folder")
        await expect(quiet).to_have_count(1)


async def test_two_conversations_at_once_have_tracks_of_their_own(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        alice = await somebody(opened, gateway.url, "Alice")
        bob = await somebody(opened, gateway.url, "Bob")
        model.enqueue(Text(("tea ", "is green"), gate=gate), Text(("bread is brown",)))
        await say(alice, "what color is tea?")
        await expect(bob.locator(".draft")).to_be_visible()
        await say(bob, "and what is bread like, please?")
        answers = alice.locator("[data-role=agent]:not(.draft)")
        await expect(answers).to_have_count(1)
        gate.set()
        await expect(answers).to_have_count(2)
        tea = alice.locator("[data-role=agent]", has_text="tea is green")
        bread = alice.locator("[data-role=agent]", has_text="bread is brown")
        await expect(tea.locator(".tracks [data-own]")).to_have_count(1)
        await expect(bread.locator(".tracks [data-own]")).to_have_count(1)
        of_tea = await tea.locator(".tracks .sr-only").text_content()
        assert of_tea != await bread.locator(".tracks .sr-only").text_content()
        question = alice.locator("[data-role=person]", has_text="what color is tea?")
        assert of_tea == await question.locator(".tracks .sr-only").text_content()


async def test_a_splice_is_drawn_when_people_write_to_each_other(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "hello")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await settled(gateway)
        await tape_of(gateway).handoff("phase:tea", {"summary": "tea"})  # outside of the room
        await page.locator("#ask-agent").uncheck(force=True)
        await say(page, "lunch?")
        await expect(page.locator(".log .splice")).to_contain_text("Checkpoint: phase:tea")
