"""Why, and the view of a turn, in a browser: by keyboard, on a phone, and in Chinese."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from gateway.app import Gateway
from gateway.console.chats import key_of
from tape.entry import message
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, marks
from tests.kit.gateways import gateway_of, settled, tape_of
from tests.kit.visitor import visit

pytestmark = marks

PASSED = re.compile("ok|slow")  # on a busy CPU, anything may be slow


async def no_wider_than_the_window(page: Page) -> bool:
    return bool(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


async def test_the_way_of_a_question_leads_to_what_the_model_was_shown_and_asks_it_again(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened, visit(gateway.url, "Alice") as (alice,):
        call = Call("a", "tape_search", '{"query":"kettle"}')
        model.enqueue(ToolCalls((call,)), Text(("It is blue.",)))
        await alice.answer(await alice.say("What color is the <b>kettle</b>?"))
        await settled(gateway)
        page = await (await opened.new_context()).new_page()
        await page.goto(f"{gateway.url}console#/why/inbox/1")
        joints = page.get_by_role("list", name="Its way, step by step").get_by_role("listitem")
        await expect(joints).to_have_count(8)
        for number in range(8):
            await expect(joints.nth(number)).to_have_attribute("data-condition", PASSED)
        await expect(page.locator(".verdict")).to_contain_text("Answered, ")
        await expect(page.locator(".said q")).to_have_text("What color is the <b>kettle</b>?")
        await expect(page.locator(".answered .turn-text")).to_have_text("It is blue.")
        here = page.locator(".nav [aria-current=true]")
        await expect(here).to_have_text("Why")
        await expect(joints.nth(4)).to_contain_text("first text")
        await expect(page.get_by_role("link", name="Its beginning")).to_have_count(1)

        await page.get_by_role("link", name="What the model was shown").press("Enter")
        await expect(page.locator(".part")).to_have_count(6)
        await expect(here).to_have_text("Chats")
        await expect(page.locator(".part").last).to_have_attribute("data-origin", "evidence")
        await expect(page.locator(".change")).to_contain_text("its prefix is unchanged")
        await expect(page.locator(".splice")).to_have_count(1)
        await page.get_by_role("link", name="Call 1").press("Enter")
        await expect(page.locator(".part")).to_have_count(4)
        await page.get_by_role("link", name="Call 2").press("Enter")
        await expect(page.locator(".part")).to_have_count(6)

        model.enqueue(Text(("It is red.",)))
        await page.get_by_role("button", name="Run it again…").press("Enter")
        await page.get_by_role("button", name="Ask this model…").press("Enter")
        await page.get_by_role("button", name="Cancel").press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert len(model.requests) == 2
        await page.get_by_role("button", name="Ask this model…").press("Enter")
        await page.get_by_role("button", name="Ask the model").press("Enter")
        await expect(page.locator(".answers")).to_contain_text("It is red.")
        await expect(page.locator(".answers")).to_contain_text("It is blue.")

        await page.get_by_role("link", name="Why this answer").press("Enter")
        await expect(joints).to_have_count(8)
        await page.get_by_role("button", name="中文").press("Enter")
        await expect(page.locator(".verdict")).to_contain_text("已回答")


async def test_what_was_not_answered_says_why_on_a_phone(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened, visit(gateway.url, "Alice") as (alice,):
        await alice.say("lunch is ready", to_agent=False)
        await settled(gateway)
        for width in (320, 390):
            context = await opened.new_context(viewport={"width": width, "height": 700})
            page = await context.new_page()
            await page.goto(f"{gateway.url}console#/why/inbox/1")
            await expect(page.locator(".verdict")).to_contain_text("Heard, not addressed: ")
            ended = page.locator("[data-condition=ended].joint")
            await expect(ended).to_have_attribute("data-joint", "lane")
            outbox = page.locator("[data-joint=outbox] .joint-condition")
            await expect(outbox).to_have_text("nothing was sent")
            assert await no_wider_than_the_window(page)
        await page.goto(f"{gateway.url}console#/why/inbox/99")
        await expect(page.get_by_role("alert")).to_contain_text("There is no such message")
        await expect(page.get_by_role("link", name="All chats")).to_have_attribute("href", "#/deck")


async def test_what_nothing_is_recorded_about_leads_back_to_the_timeline(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.say("lunch is ready", to_agent=False)
        await settled(gateway)
        foreign = message("user", "hello", inbox=99, turn=f"t-{'0' * 20}", name="Bob", text="hello")
        (imported,) = await tape_of(gateway).append(foreign)
        chat = key_of("web:lobby")
        page = await (await opened.new_context()).new_page()
        await page.goto(f"{gateway.url}console#/tape/{chat}/at/{imported.id}")
        row = page.locator(f".entry[data-id='{imported.id}']")
        back = page.get_by_role("link", name="Back to the timeline")
        await row.get_by_role("link", name="Why", exact=True).press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("Nothing is recorded here")
        await back.press("Enter")
        await expect(row).to_have_attribute("aria-current", "true")
        await row.get_by_role("link", name="What the model was shown").press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("nothing is recorded here")
        await back.press("Enter")
        await expect(row).to_have_attribute("aria-current", "true")


async def test_a_question_that_did_not_fit_was_let_in_and_says_what_was_full(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with (
        gateway_of(tmp_path, model, TURN__QUEUE_PER_CHAT="1") as gateway,
        browsing(chromium) as opened,
        visit(gateway.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("At ", "last."), gate=gate))
        await alice.draft(await alice.say("number 0"))
        said = [await alice.say(f"number {number}") for number in (1, 2, 3)]
        await alice.until(lambda event: "more questions" in str(event.get("message")))
        page = await (await opened.new_context()).new_page()
        await page.goto(f"{gateway.url}console#/why/inbox/{len(said) + 1}")
        verdict = page.locator(".verdict")
        await expect(verdict).to_have_text("Not answered: too many questions wait")
        await page.get_by_role("button", name="中文").press("Enter")
        await expect(verdict).to_contain_text("等待的问题太多")
        gate.set()
        await settled(gateway)
