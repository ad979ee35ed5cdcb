"""The owner's list of rooms, and links to them."""

from __future__ import annotations

from playwright.async_api import Browser, expect

from gateway.app import Gateway
from tests.kit.browser import browsing, enter, marks, say
from tests.pages.entering import guest_page, invitation

pytestmark = marks


async def test_the_owner_goes_from_room_to_room_and_shares_a_link(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context(permissions=["clipboard-read", "clipboard-write"])
        page = await context.new_page()
        await page.goto(gateway.url)
        await page.get_by_role("textbox", name="Your name").fill("Ann")
        await page.keyboard.press("Enter")
        await say(page, "hello lobby")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await page.locator("#rooms-summary").press("Enter")
        await page.get_by_role("textbox", name="Name of a room").fill("kitchen/sink")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="kitchen-sink")).to_be_visible()
        await expect(page.get_by_text("connected", exact=True)).to_be_visible()
        await say(page, "hello kitchen")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await page.locator("#rooms-summary").click()
        await expect(page.locator("#rooms-list a")).to_have_text(["kitchen-sink", "lobby"])
        await page.keyboard.press("Escape")
        await page.locator("#people-summary").click()
        await page.get_by_role("textbox", name="Title of this room").fill("Where we cook")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Where we cook")).to_be_visible()
        await expect(page).to_have_title("Where we cook · Tapeway")
        await page.reload()
        await expect(page.get_by_role("heading", name="Where we cook")).to_be_visible()
        await page.locator("#rooms-summary").click()
        await expect(page.locator("#rooms-list a")).to_have_text(
            ["lobby", "Where we cook kitchen-sink"]
        )
        await page.get_by_role("button", name="Copy the link to this room").click()
        link = await page.evaluate("navigator.clipboard.readText()")
        assert link == f"{gateway.url}?room=kitchen-sink"
        await page.get_by_role("link", name="lobby").click()
        await expect(page.get_by_text("hello lobby").first).to_be_visible()
        await expect(page.get_by_text("hello kitchen")).to_have_count(0)


async def test_a_guest_of_one_room_sees_no_list_and_one_of_two_sees_both(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        owner = await enter(await opened.new_context(), gateway.url, "Ann")
        guest = await guest_page(opened)
        await guest.goto(await invitation(owner))
        await guest.get_by_role("textbox", name="Your name").fill("Gus")
        await guest.keyboard.press("Enter")
        await expect(guest.get_by_text("connected", exact=True)).to_be_visible()
        await expect(guest.locator("#rooms-summary")).to_be_hidden()
        await owner.goto(f"{gateway.url}?room=attic&as=Ann")
        await guest.goto(await invitation(owner))
        await expect(guest.get_by_role("heading", name="attic")).to_be_visible()
        await guest.locator("#rooms-summary").click()
        await expect(guest.locator("#rooms-list a")).to_have_text(["attic", "lobby"])
        await expect(guest.get_by_role("textbox", name="Name of a room")).to_be_hidden()
        await guest.get_by_role("link", name="lobby").click()
        await expect(guest.get_by_role("heading", name="lobby")).to_be_visible()
        await expect(guest.get_by_text("connected", exact=True)).to_be_visible()
