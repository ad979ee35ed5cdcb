"""Pages of the console that are open while what they show is deleted, edited or erased."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Response, Route, expect

from gateway.console.reads import PAGE
from tape.deletions import deletion
from tape.entry import NewEntry, event, message
from tape.handle import Tape
from tests.fakes.openai.script import Text
from tests.gateway.console.scene import (
    GROUP,
    MEMBER,
    OTHER_GROUP,
    OWNER,
    STRANGER,
    Scene,
    key,
    scene_of,
)
from tests.kit.browser import browsing, marks
from tests.kit.gateways import tape_of
from tests.pages.entering import enter, entered

pytestmark = marks

OUTSIDE = {"X-Forwarded-For": "203.0.113.9"}


def group(scene: Scene) -> Tape:
    return tape_of(scene.gateway, f"plain:{GROUP}")


async def entry_of(scene: Scene, text: str) -> int:
    """Return the entry of the message that says a text."""
    said = await group(scene).find(kinds=("message",))
    return next(one.id for one in said if text in one.text)


async def row_of(scene: Scene, text: str) -> int:
    """Return the number in the inbox of the message that says a text."""
    (said,) = (await group(scene).entries([await entry_of(scene, text)])).values()
    return int(said.meta["inbox"])


def edit(entry: int, text: str) -> NewEntry:
    return event("message.edit", {"entry": entry, "content": text, "text": text})


async def erase(scene: Scene, person: str) -> None:
    """Erase what somebody wrote in the group."""
    body = {"what": "person", "chat": key(GROUP), "name": f"plain:{person}", "sure": "erase"}
    async with scene.holder() as holder:
        answer = await holder.post("/api/console/people/erase", json=body)
        assert answer.is_success, answer.text
    while "quince" in await scene.words_of_tape(GROUP):
        await scene.gateway.idle()


async def says(page: Page, *texts: str) -> list[str]:
    """Return which of these texts a page has."""
    content = await page.content()
    return [text for text in texts if text in content]


@pytest.mark.parametrize("reads", ["owner", "reader"])
async def test_an_open_timeline_shows_no_text_that_is_deleted_edited_or_erased(
    tmp_path: Path, chromium: Browser, reads: str
) -> None:
    async with scene_of(tmp_path) as scene, browsing(chromium) as opened:
        await scene.say(STRANGER, "a plum is ripe")
        await scene.say(STRANGER, "a pear is ripe")
        await scene.say(MEMBER, "a quince is ripe")
        await scene.gateway.services.store.indexed()  # type: ignore[attr-defined]
        page = await enter(scene, opened, OWNER)
        if reads == "owner":
            await page.goto(f"{scene.gateway.url}console#/tape/{key(GROUP)}")
            await page.get_by_role("searchbox", name="Search this tape").fill("ripe")
            await page.keyboard.press("Enter")
            await expect(page.locator(".tape-hits li")).to_have_count(3)
        else:
            made = await page.request.post(
                f"{scene.gateway.url}api/console/links", data={"chat": key(GROUP), "hours": 1}
            )
            page = await (await opened.new_context(extra_http_headers=OUTSIDE)).new_page()
            secret = (await made.json())["secret"]
            await page.goto(f"{scene.gateway.url}console#link={secret}")
        await expect(page.locator(".entry", has_text="a quince is ripe")).to_be_visible()
        await group(scene).append(deletion(await entry_of(scene, "plum"), "1"))
        await expect(page.locator(".entry.said").first).to_contain_text("This message was deleted.")
        await expect(page.get_by_text("a plum is ripe")).to_have_count(0)
        await group(scene).append(edit(await entry_of(scene, "pear"), "a fig is ripe"))
        await expect(page.locator(".entry", has_text="a fig is ripe")).to_be_visible()
        await expect(page.get_by_text("a pear is ripe")).to_have_count(0)
        await erase(scene, MEMBER)
        await expect(page.get_by_text("a quince is ripe")).to_have_count(0)
        assert await says(page, "plum", "pear", "quince") == []
        await expect(page.locator(".entry", has_text="a fig is ripe")).to_be_visible()


async def test_what_is_deleted_far_from_the_end_of_a_tape_goes_too(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        await scene.say(STRANGER, "hello")
        many = [message("user", f"plum {n}", inbox=n, text=f"plum {n}") for n in range(3000)]
        await group(scene).append(*many)
        entry = await entry_of(scene, "plum 100")
        await page.goto(f"{scene.gateway.url}console#/tape/{key(GROUP)}/at/{entry}")
        shown = page.locator(f".entry[data-id='{entry}']")
        await expect(shown).to_contain_text("plum 100")
        await group(scene).append(deletion(entry, "1"), edit(entry + 1, "a fig"))
        await expect(shown).to_contain_text("This message was deleted.")
        await expect(page.locator(f".entry[data-id='{entry + 1}']")).to_contain_text("a fig")


async def test_the_replay_the_turn_and_why_show_nothing_that_is_deleted_meanwhile(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        scene.server.enqueue(Text(("Blue.",)))
        await scene.say(MEMBER, "which plum?", addressed=True)
        tape = group(scene)
        (turn,) = {str(one.meta["turn"]) for one in await tape.read() if "turn" in one.meta}
        at = {
            f"replay/{key(GROUP)}": ".replay-item",
            f"turn/{key(GROUP)}/{turn}": ".part",
            f"why/inbox/{await row_of(scene, 'plum')}": ".said",
        }
        pages = []
        for route, part in at.items():
            other = await page.context.new_page()
            await other.goto(f"{scene.gateway.url}console#/{route}")
            await expect(other.locator(part, has_text="which plum?").first).to_be_visible()
            pages.append(other)
        await tape.append(deletion(await entry_of(scene, "plum"), "1"))
        for other in pages:
            await expect(other.get_by_text("which plum?")).to_have_count(0)
            assert await says(other, "plum") == []


async def test_hits_of_a_search_that_are_deleted_edited_or_erased_leave_the_open_page(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        await scene.say(STRANGER, "a plum is ripe")
        await scene.say(STRANGER, "a pear is ripe")
        await scene.say(MEMBER, "a quince is ripe")
        await page.clock.install()
        await page.goto(f"{scene.gateway.url}console#/why")
        await page.get_by_label("Words").fill("ripe")
        await page.keyboard.press("Enter")
        await expect(page.locator(".found")).to_have_count(3)
        await group(scene).append(deletion(await entry_of(scene, "plum"), "1"))
        await goes(page, "plum")
        await group(scene).append(edit(await entry_of(scene, "pear"), "a fig is ripe"))
        await goes(page, "pear")
        await erase(scene, MEMBER)
        await goes(page, "quince")
        await expect(page.locator(".found")).to_have_text(re.compile("a fig is ripe"))


async def goes(page: Page, text: str) -> None:
    """Move the page's clock on until a text is gone from it."""
    while await says(page, text):
        await page.clock.fast_forward(5000)


async def test_another_run_of_a_turn_goes_on_while_its_chat_is_edited(
    tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        scene.server.enqueue(Text(("Blue.",)), Text(("Re", "d."), gate=gate))
        await scene.say(MEMBER, "which plum?", addressed=True)
        await scene.say(STRANGER, "a pear is ripe")
        (turn,) = {str(one.meta["turn"]) for one in await group(scene).read() if "turn" in one.meta}
        await page.goto(f"{scene.gateway.url}console#/turn/{key(GROUP)}/{turn}")
        for name in ("Run it again…", "Ask this model…", "Ask the model"):
            await page.get_by_role("button", name=name).press("Enter")
        tick = page.get_by_role("checkbox", name="leave out").last
        await tick.check()
        await tick.focus()
        async with page.expect_response(f"**/turns/{turn}"):
            await group(scene).append(edit(await entry_of(scene, "pear"), "a fig is ripe"))
        await group(scene).append(edit(await entry_of(scene, "plum"), "which fig?"))
        await expect(page.locator(".turn-said.asked")).to_contain_text("which fig?")
        await expect(tick).to_be_focused()
        await expect(tick).to_be_checked()
        gate.set()
        await expect(page.locator(".answers")).to_contain_text("Red.")


async def test_why_stays_as_it_is_while_its_chat_goes_on(tmp_path: Path, chromium: Browser) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        await scene.say(STRANGER, "lunch is ready")
        row = await row_of(scene, "lunch")
        asked = f"**/api/console/why/{row}"
        await page.goto(f"{scene.gateway.url}console#/why/inbox/{row}")
        tip = page.locator(".joint button").first
        await tip.focus()
        async with page.expect_response(asked):
            await scene.say(STRANGER, "is it?")
        async with page.expect_response(asked):
            await scene.say(STRANGER, "it is")
        await expect(tip).to_be_focused()
        await page.route(asked, lambda route: route.fulfill(status=500))
        await scene.say(STRANGER, "good")
        await expect(page.get_by_role("alert")).to_be_visible()
        await page.unroute(asked)
        await scene.say(STRANGER, "very good")
        await expect(tip).to_be_visible()


async def test_a_search_is_made_for_what_was_entered_and_once(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, deck):
        await scene.say(STRANGER, "plums are ripe")
        page = await deck.context.new_page()
        asked: list[str] = []
        page.on("response", lambda found: asked.append(_words(found)))
        await page.clock.install()
        await page.goto(f"{scene.gateway.url}console#/why")
        found = page.locator(".found")
        await expect(found).to_have_count(1)
        await page.get_by_label("Words").fill("plu")
        await scene.say(STRANGER, "pears are not")
        await expect(found).to_have_count(2)  # without the words that nobody has sent
        await page.get_by_label("Words").fill("plums")
        await page.keyboard.press("Enter")
        await expect(found).to_have_count(1)
        await scene.say(STRANGER, "more plums", OTHER_GROUP)
        await expect(deck.get_by_text("more plums")).to_be_visible()
        await page.clock.fast_forward(5000)
        await page.get_by_role("button", name="Find").click()
        await expect(found).to_have_count(2)
        assert [one for one in asked if one] == ["plums", "plums"]


def _words(found: Response) -> str:
    words = re.search(r"/messages\?q=(\w+)", found.url)
    return words[1] if words else ""


async def test_names_of_conversations_that_could_not_be_read_come_later(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        scene.server.enqueue(Text(("Blue.",)))
        await scene.say(MEMBER, "which plum?", addressed=True)
        asked: list[Any] = []

        async def fail_once(route: Route) -> None:
            asked.append(route)
            await (route.fulfill(status=500) if len(asked) == 1 else route.continue_())

        await page.route("**/names?*", fail_once)
        await page.clock.install()
        await page.goto(f"{scene.gateway.url}console#/tape/{key(GROUP)}")
        while len(asked) < 2:
            await page.clock.fast_forward(5000)
        names = page.get_by_role("list", name="Conversations drawn here")
        await expect(names).to_contain_text("Person 3: which plum?")


async def test_who_follows_goes_on_where_more_comes_at_once_than_a_page_has(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        await scene.say(MEMBER, "a quince is ripe")
        await page.goto(f"{scene.gateway.url}console#/tape/{key(GROUP)}")
        await expect(page.locator(".entry[aria-current]")).to_be_visible()
        for text in ("more than a page", "and after it"):
            many = (message("user", f"{text}: {n}", author="7") for n in range(3 * PAGE))
            await group(scene).append(*many)
            last = page.locator(".entry", has_text=f"{text}: {3 * PAGE - 1}")
            await expect(last).to_have_attribute("aria-current", "true")
