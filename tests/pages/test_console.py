"""The console in a browser: its door, the deck and the ledger, live, by keyboard and on a phone."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint
from playwright.async_api import Browser, expect

from channels.message import Author
from gateway.assembly import Internals
from gateway.settings.bounds import Bounds
from tests.fakes.openai.script import Failure, Text
from tests.gateway.console.scene import (
    ADMIN,
    GROUP,
    MEMBER,
    OTHER_GROUP,
    OWNER,
    STRANGER,
    TOKEN,
    key,
    scene_of,
)
from tests.kit.amounts import AMOUNTS
from tests.kit.browser import MUTE, browsing, happens, marks
from tests.pages.entering import enter, entered

pytestmark = marks

EVIL = "<img src=x onerror=document.title='owned'>"


async def test_a_link_is_used_once_and_leaves_the_address(
    tmp_path: Path, chromium: Browser
) -> None:
    async with scene_of(tmp_path) as scene, browsing(chromium) as opened:
        code = await scene.code(ADMIN)
        headers = {"X-Forwarded-For": "203.0.113.9"}
        first = await (await opened.new_context(extra_http_headers=headers)).new_page()
        await first.goto(f"{scene.gateway.url}console#code={code}")
        await expect(first.get_by_role("heading", name="Chats")).to_be_visible()
        assert code not in first.url
        await first.keyboard.press("Control+k")
        await first.keyboard.type("settings")
        await expect(first.get_by_role("listbox")).to_have_text("Nothing of that name.")
        await first.keyboard.press("Escape")
        await expect(first.get_by_role("link", name="Settings")).to_have_count(0)
        second = await (await opened.new_context(extra_http_headers=headers)).new_page()
        await second.goto(f"{scene.gateway.url}console#code={code}")
        await expect(second.get_by_role("alert")).to_contain_text("This link was used")
        await expect(second.get_by_role("link", name="Sign in")).to_be_visible()
        await scene.grant(ADMIN, "none")
        await first.reload()
        await expect(first.get_by_role("alert")).to_contain_text("owners and admins")


async def test_the_deck_changes_while_it_is_open_and_shows_names_as_text(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        await scene.say(STRANGER, "hello", chat_title=EVIL, sender=Author(STRANGER, EVIL))
        strip = page.locator(f"[data-chat='{key(GROUP)}']")
        await expect(strip.get_by_role("link")).to_have_text(EVIL)
        await expect(strip.locator(".strip-last")).to_contain_text("hello")
        await expect(strip).to_have_attribute("data-lamp", "quiet")
        scene.server.enqueue(Failure(400, "no"))
        await scene.say(MEMBER, "will it fail?", OTHER_GROUP, addressed=True)
        await expect(page.locator(".strip").first).to_have_attribute("data-lamp", "failed")
        await expect(page.locator(".strip").first.locator(".lamp")).to_have_text("1 failed")
        assert await page.title() == "Chats · Tapeway"
        assert await page.locator("img").count() == 0


async def test_a_chat_is_opened_and_closed_again_and_one_comes_back_to_its_place(
    tmp_path: Path, chromium: Browser
) -> None:
    async with scene_of(tmp_path, ACCESS__MODE="paired") as scene, browsing(chromium) as opened:
        page = await enter(scene, opened, OWNER)
        await scene.say(STRANGER, "may we come in?", addressed=True)
        await page.get_by_role("button", name=f"Open this chat: Group {GROUP}").click()
        link = page.locator(f"[data-chat='{key(GROUP)}']").get_by_role("link")
        await expect(page.locator(".done")).to_contain_text("The agent now answers")
        await expect(link).to_be_focused()
        await page.get_by_role("button", name="Close it again").click()
        await expect(page.locator(".done")).to_contain_text("closed again")
        people = await (await page.request.get(f"{scene.gateway.url}api/console/people")).json()
        assert "member" not in {rule["role"] for rule in people["rules"]}
        await link.click()
        await page.get_by_role("link", name="All chats").click()
        await expect(link).to_be_focused()
        await link.click()
        await expect(page.get_by_role("link", name="All chats")).to_be_visible()
        await page.go_back()
        await expect(link).to_be_focused()
        async with page.expect_response("**/api/console/deck?at=*"):  # an address is anybody's text
            await page.evaluate("location.hash = '#/deck/at/%22%5D%20x'")
        await expect(page.locator(".deck > .note")).to_have_text("")
        await expect(link).to_be_visible()


async def test_more_chats_than_a_page_has_are_a_button_away(
    tmp_path: Path, chromium: Browser
) -> None:
    two = Internals(bounds=Bounds(console_strips=2))
    async with entered(tmp_path, chromium, internals=two) as (scene, _opened, page):
        await scene.say(STRANGER, "hello", OTHER_GROUP)
        await scene.say(STRANGER, "hello")
        strips, more = page.locator(".strip-main"), page.locator(".more")
        await expect(strips).to_have_text([re.compile("hello"), re.compile("hello")])
        await expect(more).to_contain_text("Chats 1 to 2 of 3: what needs you comes first")
        await page.get_by_role("button", name="Next chats").press("Enter")
        private = [re.compile("Person 1")]  # of who looks
        await expect(strips).to_have_text(private)
        await expect(page.get_by_role("button", name="Next chats")).to_have_count(0)
        await expect(page.get_by_role("button", name="Chats before")).to_be_focused()
        await strips.get_by_role("link").click()
        await page.get_by_role("link", name="All chats").click()
        await expect(strips).to_have_text(private)
        await page.get_by_role("button", name="Chats before").click()
        await expect(strips).to_have_count(2)


async def test_a_last_sign_of_life_ages_while_somebody_looks(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (_scene, _opened, page):
        await page.clock.install()
        async with page.expect_response("**/api/console/channels"):
            await page.evaluate("location.hash = '#/channels'")
        await expect(page.locator(".card").first).to_be_visible()
        async with page.expect_response("**/api/console/channels"):
            await page.clock.fast_forward(15_000)


async def test_the_deck_rests_between_two_rounds_of_changes(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        for text in ("one", "two", "three"):
            await scene.say(STRANGER, text)
            await expect(page.locator(".strip-last").first).to_contain_text(text)
        asked = await page.evaluate(
            "performance.getEntriesByType('resource').filter((one) => one.name.endsWith("
            "'/api/console/deck')).map((one) => [one.startTime, one.responseEnd])"
        )
    assert len(asked) > 3
    rests = [after[0] - before[1] for before, after in pairwise(asked)]
    assert min(rests) > 990  # milliseconds


async def test_a_failed_question_is_answered_again_from_the_ledger_by_keyboard(
    tmp_path: Path, chromium: Browser
) -> None:
    async with entered(tmp_path, chromium) as (scene, opened, page):
        scene.server.enqueue(Failure(400, "no"))
        await scene.say(MEMBER, "which color?", addressed=True)
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("combobox")).to_be_focused()
        await page.keyboard.type("open w")
        await page.keyboard.press("Enter")
        row = page.locator(".row[data-row^=in]")
        await expect(row).to_contain_text("which color?")
        again = await enter(scene, opened, ADMIN)  # who has not written there
        await again.evaluate("location.hash = '#/ledger'")
        await expect(again.get_by_role("heading", name="Open work")).to_be_visible()
        await expect(again.locator(".row")).to_have_count(0)
        scene.server.enqueue(Text(("Blue.",)))
        await row.get_by_role("button", name="Answer again").press("Enter")
        await expect(page.locator(".done")).to_contain_text("will be answered again")
        await expect(page.locator(".row[data-row^=in]")).to_have_count(0)
        await scene.gateway.idle()
    assert scene.channel.posts[-1].text == "Blue."


async def test_eight_tabs_share_one_stream(tmp_path: Path, chromium: Browser) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        pages = [page, *[await page.context.new_page() for _ in range(7)]]
        for other in pages[1:]:
            await other.goto(f"{scene.gateway.url}console")
        await scene.say(STRANGER, "to all of you")
        for other in pages:
            await expect(other.locator(".strip-last").first).to_contain_text("to all of you")
        assert scene.gateway.pulse.listeners == 1


async def test_without_a_shared_worker_one_tab_has_the_stream_until_it_closes(
    tmp_path: Path, chromium: Browser
) -> None:
    async with scene_of(tmp_path) as scene, browsing(chromium) as opened:
        headers = {"X-Forwarded-For": "203.0.113.9"}
        context = await opened.new_context(extra_http_headers=headers)
        await context.add_init_script("delete window.SharedWorker")
        pages = [await context.new_page() for _ in range(8)]
        await pages[0].goto(f"{scene.gateway.url}console#code={await scene.code(OWNER)}")
        await expect(pages[0].get_by_role("heading", name="Chats")).to_be_visible()
        for other in pages[1:]:
            await other.goto(f"{scene.gateway.url}console")
        for text in ("to all of you", "and to those who are left"):
            await scene.say(STRANGER, text)
            for other in pages:
                await expect(other.locator(".strip-last").first).to_contain_text(text)
            assert scene.gateway.pulse.listeners == 1
            await pages.pop(0).close()
        await pages[0].evaluate(happens("freeze"))
        await scene.say(STRANGER, "to those who are awake")
        for other in pages[1:]:
            await expect(other.locator(".strip-last").first).to_contain_text("who are awake")
        await expect(pages[0].locator(".strip-last").first).to_contain_text("who are left")
        await pages[0].evaluate(happens("resume"))
        await expect(pages[0].locator(".strip-last").first).to_contain_text("who are awake")
        for other in pages:
            await other.evaluate(MUTE)
        late = await context.new_page()
        await late.goto(f"{scene.gateway.url}console")
        while scene.gateway.pulse.listeners != 2:
            await checkpoint()
        await scene.say(STRANGER, "to whom nobody answers")
        await expect(late.locator(".strip-last").first).to_contain_text("nobody answers")


async def test_it_speaks_chinese_and_keeps_it(tmp_path: Path, chromium: Browser) -> None:
    async with entered(tmp_path, chromium) as (_scene, _opened, page):
        await page.get_by_role("button", name="中文").click()
        await expect(page.get_by_role("heading", name="聊天")).to_be_visible()
        assert await page.evaluate("document.documentElement.lang") == "zh-CN"
        await page.reload()
        for name in ("待处理", "渠道", "人员", "费用"):
            await page.get_by_role("link", name=name, exact=True).click()
            await expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


@pytest.mark.parametrize("width", [320, 390])
async def test_a_phone_scrolls_in_one_direction_only(
    tmp_path: Path, chromium: Browser, width: int
) -> None:
    async with scene_of(tmp_path) as scene, browsing(chromium) as opened:
        scene.server.enqueue(Failure(400, "no"), Text(("Blue.",)))
        await scene.say(MEMBER, "a question with averylongwordindeed" * 4, addressed=True)
        await scene.say(MEMBER, "another one", OTHER_GROUP, addressed=True)
        size = {"width": width, "height": 700}
        page = await enter(scene, opened, OWNER, viewport=size)
        for screen in ("deck", "ledger", "channels", "people", "money"):
            await page.evaluate(f"location.hash = '#/{screen}'")
            await expect(page.locator(f"section.{screen}")).to_be_visible()
            await expect(page.locator(f"section.{screen} > .note")).to_be_empty()
            assert await page.evaluate("document.documentElement.scrollWidth") <= width, screen


async def test_erasing_asks_first(tmp_path: Path, chromium: Browser) -> None:
    async with entered(tmp_path, chromium) as (scene, _opened, page):
        scene.server.enqueue(Text(("Blue.",)))
        await scene.say(MEMBER, "my secret", addressed=True)
        await page.evaluate("location.hash = '#/people'")
        erase = page.get_by_role("button", name="Erase messages of Person 3 in Group -100")
        await erase.click()
        await expect(page.get_by_role("dialog")).to_contain_text("cannot be undone")
        await page.keyboard.press("Escape")
        assert "my secret" in await scene.words_of_tape(GROUP)
        await erase.click()
        await page.get_by_role("button", name="Keep").click()
        assert "my secret" in await scene.words_of_tape(GROUP)
        await erase.click()
        await page.get_by_role("button", name="Erase for good").click()
        await expect(page.locator(".done")).to_contain_text(re.compile(r"Erased: \d+ entr"))
        assert "my secret" not in await scene.words_of_tape(GROUP)


async def test_the_token_s_holder_comes_in_by_the_login(tmp_path: Path, chromium: Browser) -> None:
    async with scene_of(tmp_path) as scene, browsing(chromium) as opened:
        page = await (await opened.new_context()).new_page()
        await page.goto(f"{scene.gateway.url}console")
        await expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
        await page.get_by_role("link", name="Sign in").click()
        await page.locator("#token").fill(TOKEN)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="lobby")).to_be_visible()
        for value, text in AMOUNTS:
            shown = f"import('/static/money.js').then(({{amount}}) => amount({value}, 'USD', 'en'))"
            assert await page.evaluate(shown) == f"${text}"
        await page.goto(f"{scene.gateway.url}console#/settings")
        await expect(page.locator("section.settings dt").first).to_be_visible()
        await page.get_by_label("Find a setting").fill("access__mode")
        await expect(page.locator("section.settings dd")).to_have_count(1)
        await expect(page.locator("section.settings dd")).to_contain_text("from the environment")
