"""The row under an answer: why, copy, ask again, link; and what failed is tried again."""

from __future__ import annotations

from playwright.async_api import Browser, expect

from gateway.app import Gateway
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say

pytestmark = marks


async def test_the_row_under_an_answer_says_why_and_is_used_by_keyboard(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context(permissions=["clipboard-read", "clipboard-write"])
        page = await enter(context, gateway.url, "Alice")
        answers = page.locator("[data-role=agent]:not(.draft)")
        call = Call("a", "tape_search", '{"query":"kettle"}')
        model.enqueue(ToolCalls((call,)), Text(("It is **blue**.",)))
        await say(page, "What color is the kettle?")
        await expect(answers).to_have_count(1)

        row = answers.first.get_by_role("toolbar")
        await answers.first.hover()
        before = await row.locator(".thumb.down").bounding_box()
        figures = row.locator(".figures")
        await expect(figures).to_contain_text("1 message read · 1 search · model · 0")
        assert await row.locator(".thumb.down").bounding_box() == before, "it ran from the mouse"
        await page.mouse.move(1, 1)

        await row.locator(".why").press("Enter")
        panel = answers.first.get_by_label("Why this answer")
        await expect(panel).to_contain_text("tape.search")
        more = panel.get_by_role("link", name="All that the model was shown")
        shown = await context.new_page()
        await shown.goto(f"{gateway.url}{(await more.get_attribute('href') or '')[1:]}")
        await expect(shown.locator("main")).to_contain_text("What color is the kettle?")
        await shown.close()
        await panel.get_by_role("button", name="What color is the kettle?").press("Enter")
        await expect(page.locator("[data-role=person].found")).to_be_focused()

        await row.locator(".why").press("ArrowRight")
        await expect(row.locator(".copy-answer")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(row.locator(".copy-answer")).to_have_text("Copied")
        assert await page.evaluate("navigator.clipboard.readText()") == "It is **blue**."

        model.enqueue(Failure(400, "no"))
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press("Enter")
        failed = page.locator("[data-role=notice]")
        await expect(failed).to_contain_text("I couldn't answer")
        model.enqueue(Text(("Still blue.",)))
        await failed.get_by_role("button", name="Try again").click()
        await expect(answers).to_have_count(2)
        await expect(page.locator("[data-role=person]")).to_have_count(3)

        good = row.get_by_role("button", name="Good answer")
        bad = row.get_by_role("button", name="Bad answer")
        await bad.click()
        await expect(bad).to_have_attribute("aria-pressed", "true")
        await row.locator(".link").focus()
        await page.keyboard.press("ArrowRight")
        await expect(good).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(bad).to_have_attribute("aria-pressed", "false")
        await page.reload()
        await expect(good).to_have_accessible_name("Good answer: 1")
        await expect(good).to_have_attribute("aria-pressed", "true")

        await row.locator(".link").click()
        link = await page.evaluate("navigator.clipboard.readText()")
        other = await context.new_page()
        await other.goto(link.replace("#", "&as=Alice#"))
        await expect(other.locator("[data-role=agent].found")).to_contain_text("It is blue.")
