"""What the console comes to beside its screens, by axe; and a connection that is lost.

All tests of this file share a gateway.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, expect

from gateway.access.roles import FAILED_SECONDS, KNOWN_SECONDS
from tests.axe.findings import findings
from tests.chaos.relay import Relay
from tests.gateway.console.court import ANN
from tests.gateway.console.scene import GROUP, OUTSIDE, STRANGER, TOKEN, key
from tests.kit.browser import browsing, marks
from tests.pages.town import SIGNS, Town, town_of

pytestmark = marks

Scheme = Literal["light", "dark"]
WIDTHS = {"light": 1280, "dark": 390}


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with town_of(tmp_path_factory.mktemp("town")) as found:
        yield found


class Findings:
    """What axe finds on a page in each of its states."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: dict[str, list[str]] = {}

    async def look(self, state: str) -> None:
        self.found[state] = await findings(self.page)

    def check(self) -> None:
        assert {state: what for state, what in self.found.items() if what} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_what_buttons_open(
    town: Town, chromium: Browser, scheme: Scheme
) -> None:
    async with browsing(chromium) as opened:
        size = {"width": WIDTHS[scheme], "height": 800}
        await town.link()
        page = await town.owner(opened, color_scheme=scheme, viewport=size)
        axe = Findings(page)
        await town.show(page, "deck")
        await axe.look("a closed chat")
        await town.show(page, "people")
        await expect(page.locator(".row.link").first).to_be_visible()
        await axe.look("links")
        await page.get_by_role("button", name="Erase messages of").first.click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await axe.look("before erasing")
        await page.keyboard.press("Escape")
        await town.show(page, "turn")
        await page.get_by_role("button", name="Run it again…").click()
        await expect(page.locator(".part-keep").first).to_be_visible()
        await axe.look("another run")
        await page.get_by_role("button", name="Ask this model…").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await axe.look("before another run")
        await page.keyboard.press("Escape")
        axe.check()


async def test_axe_finds_nothing_in_chinese(town: Town, chromium: Browser) -> None:
    async with browsing(chromium) as opened:
        size = {"width": WIDTHS["dark"], "height": 800}
        page = await town.owner(opened, locale="zh-CN", color_scheme="dark", viewport=size)
        axe = Findings(page)
        for screen in SIGNS:
            await town.show(page, screen)
            assert await page.evaluate("document.documentElement.lang") == "zh-CN"
            await axe.look(screen)
        axe.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_at_the_door_and_while_a_platform_is_silent(
    town: Town, chromium: Browser, scheme: Scheme
) -> None:
    async with browsing(chromium) as opened:
        size = {"width": WIDTHS[scheme], "height": 800}
        page = await town.door(opened, color_scheme=scheme, viewport=size)
        axe = Findings(page)
        await axe.look("the door")
        town.hall.admins.add((GROUP, ANN))
        await town.scene.say(ANN, "7 is here")
        await page.goto(f"{town.url}console#code={await town.scene.code(ANN)}")
        await expect(page.get_by_role("heading", name="Chats")).to_be_visible()
        town.hall.away = True
        town.watch.passed += KNOWN_SECONDS
        await page.reload()
        await expect(page.get_by_role("heading", name="Not just now")).to_be_visible()
        await axe.look("not just now")
        town.hall.away = False
        town.watch.passed += FAILED_SECONDS
        axe.check()


async def test_a_page_without_its_connection_says_so_and_catches_up(
    town: Town, chromium: Browser
) -> None:
    reachable = [True]

    async def passes(_asked: bytes, _answered: bytes) -> bool:
        return reachable[0]

    async with Relay(town.home, passes) as relay, browsing(chromium) as opened:
        context = await opened.new_context(extra_http_headers=OUTSIDE)
        await context.request.post(f"{relay.base_url}/login", form={"token": TOKEN})
        page = await context.new_page()
        await page.goto(f"{relay.base_url}/console")
        last = page.locator(f"[data-chat='{key(GROUP)}'] .strip-last")
        await town.scene.say(STRANGER, "said while it is live")
        await expect(last).to_contain_text("said while it is live")
        reachable[0] = False
        relay.cut()
        await expect(page.locator("#live")).to_have_text("not live: reconnecting")
        await town.scene.say(STRANGER, "said while it is away")
        await expect(last).to_contain_text("said while it is live")
        reachable[0] = True
        await expect(page.locator("#live")).to_be_hidden()
        await expect(last).to_contain_text("said while it is away")


async def test_the_channels_say_how_much_waits_to_be_placed(town: Town, chromium: Browser) -> None:
    watch = town.scene.gateway.parts.intake.watch
    async with browsing(chromium) as opened:
        page = await town.owner(opened)
        await town.show(page, "channels")
        says = page.get_by_text("messages wait to be placed")
        await expect(says).to_have_count(0)
        watch.messages, watch.seconds = 5, 90.0
        await town.show(page, "channels")
        await expect(says).to_have_text(
            "5 messages wait to be placed, the oldest accepted 2 minutes ago"
        )
        watch.messages, watch.seconds = 0, 0.0


async def test_a_call_says_what_its_time_and_its_difference_measure(
    town: Town, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await town.owner(opened)
        await town.show(page, "turn")
        await expect(page.locator(".facts")).to_contain_text("This call, with its tools")
        await expect(page.locator(".change")).to_contain_text("By estimate, ")


async def test_a_chat_that_was_just_opened_is_replayed_from_its_chapter(
    town: Town, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await town.owner(opened)
        await town.show(page, "tape")
        await page.get_by_role("link", name="Replay this chapter").click()
        await page.get_by_role("button", name="Play").click()
        await expect(page.locator(".replay-item").first).to_contain_text("What color")


async def test_what_is_searched_up_to_is_shown_whole(town: Town, chromium: Browser) -> None:
    natural = """(field) => {
      const shown = field.offsetWidth;
      field.style.maxInlineSize = 'none';
      return field.offsetWidth - shown;
    }"""
    async with browsing(chromium) as opened:
        page = await town.owner(opened, viewport={"width": 1280, "height": 720})
        await town.show(page, "why")
        assert await page.get_by_label("Up to").evaluate(natural) == 0


async def test_a_text_that_is_not_shown_is_in_nobody_s_words(town: Town, chromium: Browser) -> None:
    async with browsing(chromium) as opened:
        page = await town.owner(opened)
        await town.show(page, "why")
        refused = page.locator(".found .row-head", has=page.locator(".no-text")).first
        await expect(refused).to_have_text("Person 4 (text not shown: refused, deleted or erased)")


async def test_an_answer_on_the_deck_has_the_name_of_the_agent(
    town: Town, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await town.owner(opened)
        await town.show(page, "deck")
        await town.scene.say(STRANGER, "and what is blue?", addressed=True)
        await town.scene.gateway.idle()
        last = page.locator(f"[data-chat='{key(GROUP)}'] .strip-last.agent .who")
        await expect(last).to_have_text(town.scene.gateway.services.settings.agent.name)
