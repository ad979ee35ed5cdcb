"""The page in a real browser: who comes in by which link, and what they find there."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from playwright.async_api import Browser, expect

from channels.message import InboundMessage, OutboundMessage
from gateway.app import Gateway
from gateway.cli.service.page_link import page_link
from gateway.delivery.outbox import commit_with_sends
from gateway.scheduling.presses import Settled
from gateway.storage.ledger.cards import Card, new_card_id
from tape.unit_of_work import Unit
from tests.kit.browser import browsing, enter, marks, say, somebody
from tests.kit.gateways import make_settings
from tests.pages.entering import guest_page, invitation

pytestmark = marks


async def test_an_invitation_leads_one_person_into_one_room_until_it_is_ended(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        owner = await enter(await opened.new_context(), gateway.url, "Ann")
        link = await invitation(owner)
        guest = await guest_page(opened)
        await guest.goto(link)
        await guest.get_by_role("textbox", name="Your name").fill("Gus")
        await guest.keyboard.press("Enter")
        await say(guest, "hello from outside")
        await expect(guest.locator("[data-role=agent]")).to_have_count(1)
        assert "#" not in guest.url
        await guest.locator("#menu-summary").click()
        await expect(guest.get_by_role("button", name="Sign out")).to_be_visible()
        await expect(guest.get_by_role("button", name="Invite, and access")).to_be_hidden()

        second = await guest_page(opened)
        await second.goto(link)
        await expect(second.get_by_text("This link was used or has expired")).to_be_visible()

        await owner.get_by_role("button", name="Close", exact=True).click()
        await owner.locator("#menu-summary").click()
        await owner.get_by_role("button", name="Invite, and access").click()
        await expect(owner.locator("#access-sessions")).to_contain_text("member of lobby")
        await owner.get_by_role("button", name="End the session of Gus").click()
        await expect(owner.locator("#access-sessions")).to_contain_text(
            "Nobody is signed in or invited"
        )
        await expect(guest.get_by_role("textbox", name="Token")).to_be_visible()


async def test_an_owner_s_link_opens_the_page_in_a_browser_that_the_user_id_does_not_let_in(
    tmp_path: Path, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        link = await page_link(make_settings(tmp_path))
        page = await guest_page(opened)
        await page.goto(gateway.url)
        await expect(page.get_by_role("textbox", name="Token")).to_be_visible()
        await page.goto(link)
        await expect(page.get_by_role("textbox", name="Your name")).to_be_visible()
        assert page.url == gateway.url


class Pick:
    """A handler that lets one person answer."""

    async def settle(self, card: Card, choice: str, by: InboundMessage) -> Settled:
        return Settled(f"{by.sender.name} chose {choice}.", shown=f"Thank you, {choice} it is.")


async def ask_with_buttons(gateway: Gateway, person: str) -> None:
    services = gateway.services
    expires = services.clock.now() + timedelta(minutes=10)
    card = Card(new_card_id(), "pick", "web", person, "web:lobby", {}, expires)
    buttons = (card.button("Tea", "tea"), card.button("Coffee", "coffee"))
    send = OutboundMessage("web", "lobby", "Tea or coffee?", "ask", kind="notice", buttons=buttons)
    unit = Unit()
    services.ledger.cards.issue(unit, card)
    rows = await commit_with_sends(services, unit, [send], "web:lobby", None)
    gateway.parts.sender.enqueue(rows)
    await gateway.parts.sender.idle()


async def test_a_button_is_for_whom_it_is_meant_and_its_answer_is_shown_to_them_alone(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        gateway.parts.presses.handlers["pick"] = Pick()
        ann = await somebody(opened, gateway.url, "Ann")
        bob = await somebody(opened, gateway.url, "Bob")
        people = await gateway.channels["web"].hub.people("lobby")  # type: ignore[attr-defined]
        await ask_with_buttons(gateway, people[0]["id"])
        await bob.get_by_role("button", name="Tea").click()
        pressed = bob.locator(".pressed")
        await expect(pressed).to_have_text("This question is for somebody else.")
        await expect(ann.get_by_text("This question is for somebody else.")).to_have_count(0)
        await ann.reload()
        await ann.get_by_role("button", name="Coffee").click()
        await expect(ann.get_by_text("Thank you, coffee it is.").first).to_be_visible()
        for page in (ann, bob):
            await expect(page.locator(".log").get_by_text("Ann chose coffee.")).to_be_visible()
            await expect(page.get_by_role("button", name="Tea")).to_have_count(0)
            await expect(page.locator(".log").get_by_text("Tea or coffee?")).to_have_count(0)
        await expect(bob.get_by_text("Thank you, coffee it is.")).to_have_count(0)
