"""Several people in a room at once: whose answer a Stop ends, and a connection that is lost."""

from __future__ import annotations

import asyncio

from playwright.async_api import Browser, Page, expect

from channels.web.adapter import WebChannel
from gateway.app import Gateway
from tape.entry import NewEntry, message
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import Browsing, browsing, enter, marks, say, somebody
from tests.kit.gateways import settled, tape_of
from tests.pages.entering import guest_page, invitation

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


async def erase(gateway: Gateway, name: str) -> None:
    """Erase what somebody in the room wrote."""
    web = gateway.channels["web"]
    assert isinstance(web, WebChannel)
    person = next(one["id"] for one in await web.hub.people("lobby") if one["name"] == name)
    await gateway.parts.eraser.begin(
        what="person", channel="web", person=person, asked_by="operator"
    )


async def test_of_two_answers_at_once_a_stop_ends_the_right_one_and_a_third_may_end_none(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        ann = await enter(await opened.new_context(), gateway.url, "Ann")
        gus, hal = await guest(opened, ann, "Gus"), await guest(opened, ann, "Hal")
        gate = asyncio.Event()
        model.enqueue(
            Text(("about tea", " and more"), gate=gate),
            Text(("about bread", " and more"), gate=asyncio.Event()),
        )
        await say(ann, "what color is tea?")
        await expect(hal.locator(".draft")).to_have_count(1)
        await say(gus, "and what is bread like, please?")
        await expect(hal.locator(".draft")).to_have_count(2)
        await expect(hal.locator("#stop-button")).to_be_hidden()
        await expect(hal.locator(".draft").get_by_text("For Gus")).to_be_visible()
        await expect(hal.get_by_label("Stop the answer to")).to_have_count(0)
        await gus.locator("#stop-button").click()
        for page in (ann, gus, hal):
            await expect(page.locator(".log").get_by_text("Stopped by Gus.")).to_be_visible()
            await expect(page.locator(".draft")).to_have_count(1)
        gate.set()
        for page in (ann, gus, hal):
            await expect(page.locator(".log").get_by_text("about tea and more")).to_be_visible()
        await settled(gateway)


async def test_what_is_said_while_the_connection_is_lost_arrives_once(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
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
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        ann = await enter(await opened.new_context(), gateway.url, "Ann")
        bob = await somebody(opened, gateway.url, "Bob")
        model.enqueue(Text(("quoting plum",)), Text(("hi Bob",)))
        await say(ann, "my secret plum")
        await expect(bob.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await say(bob, "hello")
        await expect(bob.locator("[data-role=agent]:not(.draft)")).to_have_count(2)
        await settled(gateway)
        await erase(gateway, "Ann")
        await expect(bob.locator("#track").get_by_text("plum")).to_have_count(0)
        await expect(bob.locator(".log").get_by_text("hi Bob")).to_be_visible()


async def test_no_open_page_quotes_what_is_erased(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        ann = await enter(await opened.new_context(), gateway.url, "Ann")
        bob = await somebody(opened, gateway.url, "Bob")
        model.enqueue(Text(("all right",)), Text(("hi Bob",)))
        await say(ann, "my secret plum")
        await expect(bob.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        reply = bob.get_by_role("button", name="Reply to Ann", exact=True)
        await reply.press("Enter")
        await say(bob, "what did she say?")
        await expect(bob.locator("[data-role=person] .quote")).to_contain_text("plum")
        answer = bob.locator("[data-role=agent]:not(.draft)", has_text="hi Bob")
        await answer.get_by_role("button", name="Why").press("Enter")
        await expect(bob.locator(".why-read")).to_contain_text("plum")
        await reply.press("Enter")
        await expect(bob.locator("#reply-excerpt")).to_have_text("my secret plum")
        await settled(gateway)
        await erase(gateway, "Ann")
        await expect(bob.get_by_text("plum")).to_have_count(0)
        await expect(bob.locator("p.quote").first).to_have_text("In reply to an earlier message")
        await expect(bob.locator("#reply-chip")).to_be_hidden()
        await expect(answer.get_by_role("button", expanded=False, name="Why")).to_have_count(1)


async def test_older_messages_that_come_in_the_place_of_erased_ones_are_not_new(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Ann")
        await say(page, "hello")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await settled(gateway)
        who = ["Eve" if n in range(100, 105) else "Bob" for n in range(205)]
        past = [spoken(f"message {n}", n, name) for n, name in enumerate(who)]
        await tape_of(gateway).append(*past)
        await page.reload()
        await page.locator("[data-id=m-50]").scroll_into_view_if_needed()
        await expect(page.locator("#jump")).to_have_text("Latest")
        await gateway.parts.eraser.begin(
            what="person", channel="web", person="Eve", asked_by="operator"
        )
        await expect(page.locator("[data-id=m-0]")).to_be_attached()
        await expect(page.locator("[data-id=m-100]")).to_have_count(0)
        assert await page.locator("#jump-text").text_content() == "Latest"
        assert await page.locator("#spoken p").count() == 0


def spoken(text: str, number: int, name: str) -> NewEntry:
    """Return what somebody said on a day, one thing a second."""
    date = f"2026-01-02T03:{number // 60:02}:{number % 60:02}+00:00"
    more = {"author": name, "name": name, "message_id": f"m-{number}", "said_at": date}
    return message("user", text, inbox=1000 + number, text=text, **more)


async def test_the_title_of_a_checkpoint_that_is_erased_leaves_the_open_page(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Ann")
        await say(page, ",handoff name=plum remember it")
        await say(page, "go on")
        await expect(page.locator(".splice")).to_contain_text("plum")
        await settled(gateway)
        tape = gateway.services.tapes.session_tape("web:lobby").name
        await gateway.parts.eraser.begin(what="chat", tape=tape, asked_by="operator")
        await expect(page.locator("#track").get_by_text("plum")).to_have_count(0)
