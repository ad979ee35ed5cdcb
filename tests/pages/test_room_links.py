"""Links to rooms and messages, for those who have to sign in first, and those who have done so."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Page, Route, expect

from gateway.app import Gateway
from tests.kit.browser import browsing, enter, marks
from tests.pages.entering import guest_page, invitation

pytestmark = marks

TOKEN = "a-token-of-sixteen-characters"


async def sign_in(page: Page, token: str) -> None:
    await page.get_by_role("textbox", name="Token").fill(token)
    await page.keyboard.press("Enter")


@pytest.mark.parametrize("place", ["?room=garden#t-abc:0", "#t-abc:0", "?room=a+b%26c"])
@pytest.mark.settings(HTTP__TOKEN=TOKEN)
async def test_a_link_leads_to_its_place_after_signing_in_also_at_the_second_try(
    gateway: Gateway, chromium: Browser, place: str
) -> None:
    async with browsing(chromium) as opened:
        page = await (await opened.new_context()).new_page()
        await page.goto(f"{gateway.url}{place}")
        await expect(page.get_by_role("textbox", name="Token")).to_be_focused()
        await expect(page.get_by_role("alert")).to_be_hidden()
        await sign_in(page, "wrong")
        await expect(page.get_by_role("alert")).to_be_visible()
        await sign_in(page, TOKEN)
        await expect(page.get_by_role("textbox", name="Your name")).to_be_visible()
        assert page.url == f"{gateway.url}{place}".replace("+", "%20")


@pytest.mark.settings(HTTP__TOKEN=TOKEN)
async def test_a_link_on_another_site_leads_whoever_is_signed_in_to_its_place(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        context = await opened.new_context()
        page = await context.new_page()
        await page.goto(gateway.url)
        await sign_in(page, TOKEN)
        await expect(page.get_by_role("textbox", name="Your name")).to_be_visible()

        async def elsewhere(route: Route) -> None:
            link = f'<a href="{gateway.url}?room=garden#t-abc:0">go</a>'
            await route.fulfill(body=link, content_type="text/html")

        await context.route("http://elsewhere.example/", elsewhere)
        other = await context.new_page()
        await other.goto("http://elsewhere.example/")
        await other.get_by_role("link", name="go").click()
        await expect(other.locator("#room-name")).to_have_text("garden")
        assert other.url == f"{gateway.url}?room=garden#t-abc:0"


async def test_an_invitation_that_was_printed_before_still_works(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        owner = await enter(await opened.new_context(), gateway.url, "Ann")
        guest = await guest_page(opened)
        await guest.goto((await invitation(owner)).replace("#code=", "#"))
        await expect(guest.get_by_role("textbox", name="Your name")).to_be_visible()
        assert re.fullmatch(r"g/w-[0-9a-f]{12}/\?room=lobby", guest.url.removeprefix(gateway.url))
