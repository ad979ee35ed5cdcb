"""The room page in a real browser: two people, streaming, stop, history, keyboard."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say, somebody
from tests.kit.gateways import gateway_of, settled

pytestmark = marks


async def test_two_people_see_each_other_and_the_answer_grow(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text(("It has **bold** ", "and an end."), gate=gate))
        alice = await somebody(opened, gateway.url, "Alice")
        bob = await somebody(opened, gateway.url, "Bob")
        await say(alice, "What has it got?")
        await expect(bob.get_by_text("What has it got?").first).to_be_visible()
        await expect(bob.locator(".draft strong")).to_have_text("bold")
        await expect(alice.locator(".draft")).to_be_visible()
        gate.set()
        await expect(alice.locator(".log").get_by_text("and an end.")).to_be_visible()
        await expect(alice.locator(".draft")).to_have_count(0)
        await expect(bob.locator(".draft")).to_have_count(0)


async def test_stop_ends_the_answer_and_the_room_says_so(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        model.enqueue(Text(("never ", "finished"), gate=asyncio.Event()))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "Go on for ever")
        await expect(page.locator(".draft")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.locator(".log").get_by_text("Stopped by Alice.")).to_be_visible()
        await expect(page.locator("[data-role=agent]", has_text="never")).to_have_count(1)
        await expect(page.locator(".draft")).to_have_count(0)
        await settled(gateway)


async def test_somebody_else_s_answer_has_a_stop_of_its_own(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        model.enqueue(Text(("never ", "finished"), gate=asyncio.Event()))
        alice = await somebody(opened, gateway.url, "Alice")
        bob = await somebody(opened, gateway.url, "Bob")
        await say(alice, "Go on for ever")
        await expect(bob.locator(".draft")).to_be_visible()
        await expect(alice.locator("#stop-button")).to_be_visible()
        await expect(bob.locator("#stop-button")).to_be_hidden()
        await expect(alice.get_by_label("Stop the answer to Alice")).to_have_count(0)
        await bob.keyboard.press("Escape")
        await bob.get_by_label("Stop the answer to Alice").click()
        await expect(alice.locator(".log").get_by_text("Stopped by Bob.")).to_be_visible()
        await expect(bob.locator(".draft")).to_have_count(0)
        await settled(gateway)


@pytest.mark.settings(WEB__REASONING="true")
async def test_reasoning_is_folded_above_its_answer(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        model.enqueue(Text(("It is <b>blue</b>.",), reasoning=("First <i>I</i> look.",)))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "What color is it?")
        answer = page.locator("[data-role=agent]", has_text="It is")
        await expect(answer.locator("details.reasoning")).to_have_count(1)
        await expect(answer.get_by_text("First <i>I</i> look.")).to_be_hidden()
        await answer.get_by_text("Reasoning").click()
        await expect(answer.get_by_text("First <i>I</i> look.")).to_be_visible()


async def test_an_answer_that_was_cut_off_offers_to_go_on(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        model.enqueue(Text(("The first half",), finish_reason="length"), Text(("and the rest.",)))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "Tell me everything")
        await page.get_by_role("button", name="Go on").click()
        await expect(page.locator(".log").get_by_text("and the rest.")).to_be_visible()
        assert "Go on" in model.requests[1].last_user_text


async def test_a_search_s_link_shows_the_message(gateway: Gateway, chromium: Browser) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "the kettle is blue")
        await expect(page.locator("[data-role=agent]")).to_have_count(1)
        await say(page, ",tape.search kettle")
        await page.get_by_role("link", name="show").first.click()
        await expect(page.locator("[data-role=person].found")).to_have_count(1)


async def test_the_history_is_there_after_a_reload_once(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        model.enqueue(Text(("a memorable answer",)))
        await say(page, "a memorable question")
        await expect(page.locator(".log").get_by_text("a memorable answer")).to_be_visible()
        await page.reload()
        answer = page.locator("[data-role=agent]", has_text="a memorable answer")
        await expect(answer).to_have_count(1)
        question = page.locator("[data-role=person]", has_text="a memorable question")
        await expect(question).to_have_count(1)


async def test_the_rest_of_an_answer_comes_once_to_a_page_that_was_loaded_again_meanwhile(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text(("It has **a beginning** ", "and an end."), gate=gate))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "What has it got?")
        await expect(page.locator(".draft strong")).to_have_text("a beginning")
        await page.reload()
        await expect(page.locator(".draft strong")).to_have_text("a beginning")
        gate.set()
        answer = page.locator("[data-role=agent]")
        await expect(answer.get_by_text("It has a beginning and an end.")).to_have_count(1)
        await expect(page.locator(".draft")).to_have_count(0)
        await expect(answer).to_have_count(1)
        await expect(page.locator("[data-role=person]")).to_have_count(1)
        await settled(gateway)


async def test_a_first_visit_asks_for_a_name_and_works_by_keyboard_alone(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context(viewport={"width": 360, "height": 640})
        page = await context.new_page()
        await page.goto(gateway.url)
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.type("Carol")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await page.keyboard.type("hello from the keyboard")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("offline model", exact=True).first).to_be_visible()
        await expect(page.locator("[data-role=agent]")).to_have_count(1)
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width <= 360, "the page is wider than a phone"


async def test_what_a_model_writes_cannot_run_in_the_page(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        attack = "<img src=x onerror=\"document.title='owned'\"> [a](javascript:alert(1)) done"
        model.enqueue(Text((attack,)))
        await say(page, "attack")
        await expect(page.get_by_text("done").last).to_be_visible()
        assert await page.title() != "owned"
        assert await page.locator("[data-role=agent] img").count() == 0
        assert await page.locator("a[href^=javascript]").count() == 0


@pytest.mark.settings(HTTP__TOKEN="open-sesame")
async def test_with_a_token_the_login_form_leads_to_the_room(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await (await opened.new_context()).new_page()
        await page.goto(gateway.url)
        await page.get_by_label("token", exact=False).first.fill("wrong")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_be_visible()
        await page.get_by_label("token", exact=False).first.fill("open-sesame")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_be_visible()
