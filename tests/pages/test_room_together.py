"""Several people in a room at once: whose answer a Stop ends, and a connection that is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from channels.web.adapter import WebChannel
from tests.browser import Browsing, browsing, enter, marks, say, somebody
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import gateway_of, settled
from tests.pages.test_room_access import guest_page, invitation

pytestmark = marks


async def guest(opened: Browsing, owner: Page, name: str) -> Page:
    """Invite somebody into the room, as a member."""
    link = await invitation(owner)
    await owner.get_by_role("button", name="Close", exact=True).click()
    page = await guest_page(opened)
    await page.goto(link)
    await page.get_by_role("textbox", name="Your name").fill(name)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("connected", exact=True)).to_be_visible()
    return page


async def test_of_two_answers_at_once_a_stop_ends_the_right_one_and_a_third_may_end_none(
    tmp_path: Path, chromium: Browser
) -> None:
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server) as gateway,
        browsing(chromium) as opened,
    ):
        ann = await enter(await opened.new_context(), gateway.url, "Ann")
        gus, hal = await guest(opened, ann, "Gus"), await guest(opened, ann, "Hal")
        gate = asyncio.Event()
        server.enqueue(
            Text(("about tea", " and more"), gate=gate),
            Text(("about bread", " and more"), gate=asyncio.Event()),
        )
        await say(ann, "what color is tea?")
        await expect(hal.locator(".draft")).to_have_count(1)
        await say(gus, "and what is bread like, please?")
        await expect(hal.locator(".draft")).to_have_count(2)
        await expect(hal.locator("#stop-button")).to_be_hidden()
        await hal.get_by_label("Stop the answer to Gus").click()
        await expect(hal.get_by_role("alert")).to_contain_text("stop")
        await expect(hal.locator(".draft")).to_have_count(2)
        await gus.locator("#stop-button").click()
        for page in (ann, gus, hal):
            await expect(page.locator(".log").get_by_text("Stopped by Gus.")).to_be_visible()
            await expect(page.locator(".draft")).to_have_count(1)
        gate.set()
        for page in (ann, gus, hal):
            await expect(page.locator(".log").get_by_text("about tea and more")).to_be_visible()
        await settled(gateway)


async def test_what_is_said_while_the_connection_is_lost_arrives_once(
    tmp_path: Path, chromium: Browser
) -> None:
    async with gateway_of(tmp_path) as gateway, browsing(chromium) as opened:
        context = await opened.new_context()
        ann = await enter(context, gateway.url, "Ann")
        bob = await enter(await opened.new_context(), gateway.url, "Bob")
        await context.set_offline(True)
        await say(ann, "are you there?")
        await expect(ann.get_by_text("Not sent. Retrying…")).to_be_visible()
        await context.set_offline(False)
        for page in (ann, bob):
            asked = page.locator(".log [data-role=person]", has_text="are you there?")
            await expect(asked).to_have_count(1)
            await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await expect(ann.locator("#pending > *")).to_have_count(0)


async def test_what_is_erased_leaves_the_open_pages_of_others(
    tmp_path: Path, chromium: Browser
) -> None:
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server) as gateway,
        browsing(chromium) as opened,
    ):
        ann = await enter(await opened.new_context(), gateway.url, "Ann")
        bob = await somebody(opened, gateway.url, "Bob")
        server.enqueue(Text(("quoting plum",)), Text(("hi Bob",)))
        await say(ann, "my secret plum")
        await expect(bob.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await say(bob, "hello")
        await expect(bob.locator("[data-role=agent]:not(.draft)")).to_have_count(2)
        await settled(gateway)
        web = gateway.channels["web"]
        assert isinstance(web, WebChannel)
        person = next(one["id"] for one in await web.hub.people("lobby") if one["name"] == "Ann")
        await gateway.parts.eraser.begin(
            what="person", channel="web", person=person, asked_by="operator"
        )
        await expect(bob.locator("#track").get_by_text("plum")).to_have_count(0)
        await expect(bob.locator(".log").get_by_text("hi Bob")).to_be_visible()


async def test_the_title_of_a_checkpoint_that_is_erased_leaves_the_open_page(
    tmp_path: Path, chromium: Browser
) -> None:
    async with gateway_of(tmp_path) as gateway, browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Ann")
        await say(page, ",handoff name=plum remember it")
        await say(page, "go on")
        await expect(page.locator(".splice")).to_contain_text("plum")
        await settled(gateway)
        tape = gateway.services.tapes.session_tape("web:lobby").name
        await gateway.parts.eraser.begin(what="chat", tape=tape, asked_by="operator")
        await expect(page.locator("#track").get_by_text("plum")).to_have_count(0)
