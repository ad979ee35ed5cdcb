"""Two windows of one browser are two people: the owner, and the guest beside them."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say
from tests.kit.gateways import settled
from tests.pages.entering import guest_page, invitation

pytestmark = marks


async def tried(owner: Page) -> Page:
    """Have the owner of a page try it as a guest, and return the guest's window."""
    await owner.locator("#menu-summary").click()
    async with owner.context.expect_page() as opened:
        await owner.get_by_role("button", name="Try as a guest").click()
    guest = await opened.value
    await expect(guest.get_by_text("connected", exact=True)).to_be_visible()
    return guest


async def test_a_guest_is_one_click_away_and_somebody_else(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        owner = await enter(await opened.new_context(), gateway.url, "Ann")
        model.default = lambda _request: Text(("yes",))
        guest = await tried(owner)
        await expect(guest.locator("#name-text")).to_have_text("Guest")
        await say(guest, "who am I?")
        await say(owner, "and I?")
        for page, own, other in ((owner, "and I?", "who am I?"), (guest, "who am I?", "and I?")):
            mine = page.locator(".msg:has(.tag-own)")
            await expect(mine.filter(has_text=own)).to_have_count(1)
            await expect(mine.filter(has_text=other)).to_have_count(0)
            await expect(page.get_by_text("2 people here")).to_have_count(1)
        said = {one.meta["text"]: one.meta for one in await settled(gateway) if "text" in one.meta}
        roles = [said[text]["access"]["role"] for text in ("and I?", "who am I?")]
        assert roles == ["owner", "member"]

        await guest.locator("#menu-summary").click()
        await expect(guest.get_by_role("button", name="Sign out")).to_be_visible()
        for name in ("Console", "Invite, and access", "Try as a guest", "Model and settings"):
            await expect(guest.get_by_text(name, exact=True)).to_be_hidden()
        await guest.get_by_role("button", name="Sign out").click()
        await expect(guest.get_by_role("textbox", name="Token")).to_be_visible()
        await owner.reload()
        await expect(owner.get_by_text("connected", exact=True)).to_be_visible()
        await expect(owner.locator("#name-text")).to_have_text("Ann")


async def test_what_a_guest_s_window_asks_for_is_below_its_own_path(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context()
        owner = await enter(context, gateway.url, "Ann")
        guest = await context.new_page()
        link = await invitation(owner)
        asked: list[str] = []
        guest.on("request", lambda request: asked.append(request.url))
        await guest.goto(link)
        await guest.get_by_role("textbox", name="Your name").fill("Gus")
        await guest.keyboard.press("Enter")
        await say(guest, "hello")
        answer = guest.locator("[data-role=agent]:not(.draft)")
        await expect(answer).to_have_count(1)
        await answer.locator(".why").click()
        await expect(guest.get_by_label("Why this answer")).to_be_visible()
        paths = [url.removeprefix(gateway.url) for url in asked]
        assert any(path.startswith("g/w-") and "/api/rooms/" in path for path in paths)
        assert [path for path in paths if path.startswith("api/")] == []
        # The same browser keeps what each of them is called.
        await owner.reload()
        await expect(owner.locator("#name-text")).to_have_text("Ann")
        await guest.reload()
        await expect(guest.locator("#name-text")).to_have_text("Gus")


async def test_a_guest_elsewhere_is_led_to_their_page_from_every_address(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        owner = await enter(await opened.new_context(), gateway.url, "Ann")
        guest = await guest_page(opened)
        await guest.goto(await invitation(owner))
        await guest.get_by_role("textbox", name="Your name").fill("Gus")
        await guest.keyboard.press("Enter")
        await expect(guest.get_by_text("connected", exact=True)).to_be_visible()
        place = guest.url
        for address in ("", "?room=lobby", "?room=attic"):
            await guest.goto(f"{gateway.url}{address}")
            await expect(guest.get_by_text("connected", exact=True)).to_be_visible()
            assert guest.url == place, address
        # Another one's address leads nowhere.
        await guest.goto(f"{gateway.url}g/w-000000000000/?room=lobby")
        await expect(guest.get_by_role("textbox", name="Token")).to_be_visible()


@pytest.mark.parametrize("room", ["lobby", "the kitchen"])
async def test_the_console_leads_back_to_the_room(
    gateway: Gateway, chromium: Browser, room: str
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Ann")
        await page.goto(f"{gateway.url}?as=Ann&room={room}")
        await page.locator("#menu-summary").click()
        await page.get_by_role("link", name="Console").click()
        await page.get_by_role("link", name="Back to the room").click()
        await expect(page.locator("#room-name")).to_have_text(room)
