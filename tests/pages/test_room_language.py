"""The page in Chinese: every sentence of its own, on a phone, and how to change the language."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Browser, expect

from gateway.app import Gateway
from tests.axe.findings import findings
from tests.fakes.openai.script import Failure, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say
from tests.kit.gateways import ROOT, gateway_of

ASSETS: Final = ROOT / "channels" / "web" / "assets"
SAME: Final = frozenset(
    {"+", "/", "0", "Shift", "Tapeway", "http://127.0.0.1:11434/v1", "lobby", "tapeway open"}
    | {"tapeway token", "telegram:-100123", "{0}"}
)
"""What is the same in every language."""

_CALL: Final = re.compile(r"(?<![\w$.])t\(")
_TEXT: Final = re.compile(r"""'((?:[^'\\]|\\.)*)'|"([^"]*)\"""")
_COUNTED: Final = re.compile(r"counted\([^']*?, '([a-z ]+)'(?:, '([a-z ]+)')?\)")
_KEY: Final = re.compile(r"""^  (?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|(\w+)): '(.+)',$""", re.MULTILINE)


def first_argument(text: str) -> str:
    """Return what a call is given first; `text` begins behind its bracket."""
    depth, quote = 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}," and not depth:
            return text[:at]
        elif char in ")]}":
            depth -= 1
    raise AssertionError(text)


def said_by_code() -> Iterator[str]:
    for path in ASSETS.glob("*.js"):
        text = path.read_text()
        for call in _CALL.finditer(text):
            argument = first_argument(text[call.end() :])
            # Of a choice between two sentences, the condition is none.
            _before, _mark, chosen = argument.partition(" ? ")
            yield from (one or other for one, other in _TEXT.findall(chosen or argument))
        for one, many in _COUNTED.findall(text):
            yield f"{{0}} {many or one + 's'}"


class Sentences(HTMLParser):
    """What a page's HTML says, in `found`."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        spoken = ("aria-label", "placeholder", "title")
        self.found |= {value for name, value in attrs if name in spoken and value}

    def handle_data(self, data: str) -> None:
        self.found |= {data.strip()} - {""}


def test_the_chinese_words_are_those_of_the_page() -> None:
    html = Sentences()
    for name in ("index.html", "login.html"):
        html.feed((ASSETS / name).read_text())
    wanted = {*said_by_code(), *html.found, "owner", "admin", "member"} - SAME
    words = (ASSETS / "words-zh.js").read_text()
    given = {one or two or three for one, two, three, _words in _KEY.findall(words)}
    assert sorted(wanted - given) == [], "these are missing"
    assert sorted(given - wanted) == [], "nobody says these"
    for *key, chinese in _KEY.findall(words):
        assert set(re.findall(r"\{\d\}", chinese)) == set(re.findall(r"\{\d\}", "".join(key)))


@pytest.mark.browser
@marks[0]
@marks[1]
async def test_a_browser_that_prefers_chinese_gets_it_and_may_choose_english(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        phone = {"width": 390, "height": 800}
        context = await opened.new_context(locale="zh-CN", viewport=phone, reduced_motion="reduce")
        page = await context.new_page()
        await page.goto(gateway.url)
        await page.get_by_role("textbox", name="你的名字").fill("小安")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("已连接", exact=True)).to_be_visible()
        assert await page.evaluate("document.documentElement.lang") == "zh-Hans"
        await expect(page.get_by_role("textbox", name="消息")).to_be_visible()
        await say(page, "你好")
        answer = page.locator("[data-role=agent]:not(.draft)")
        await expect(answer).to_have_count(1)
        await answer.get_by_role("button", name="复制").first.click()
        await expect(page.locator("#counter")).to_have_attribute("aria-label", "显示 2 条消息")
        assert await findings(page) == []
        await page.locator("#menu-summary").click()
        await page.get_by_label("语言").select_option("en")
        await expect(page.get_by_text("connected", exact=True)).to_be_visible()
        assert await page.evaluate("document.documentElement.lang") == "en"
        when = page.locator("[data-role=agent] .when")
        await expect(when).to_have_text(re.compile(r"^\d\d:\d\d$"))  # as the browser has it


@marks[0]
@marks[1]
@pytest.mark.parametrize(("locale", "shape"), [("de-DE", r"^\d\d:\d\d$"), ("en-US", r" [AP]M$")])
async def test_the_clock_is_the_browser_s_in_every_language(
    gateway: Gateway, chromium: Browser, locale: str, shape: str
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(locale=locale), gateway.url, "Ann")
        await say(page, "hello")
        when = page.locator("[data-role=agent]:not(.draft) .when")
        await expect(when).to_have_text(re.compile(shape))
        await page.goto(f"{gateway.url}console")
        shown = await page.evaluate(
            "async () => (await import('/console/assets/words.js')).when(new Date().toISOString())"
        )
        assert re.search(shape, shown), shown


@marks[0]
@marks[1]
async def test_what_the_gateway_writes_into_the_room_is_in_the_language_of_its_reader(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Failure(400, "no"), Text(("Stopped by tea.\n", "It is"), gate=gate))
        li = await (await opened.new_context(locale="zh-CN")).new_page()
        await li.goto(f"{gateway.url}?as=Li")
        await expect(li.get_by_text("已连接", exact=True)).to_be_visible()
        ann = await enter(await opened.new_context(), gateway.url, "Ann")
        await say(li, "Sorry")
        await expect(li.locator("[data-role=notice]")).to_contain_text("无法回答")
        await expect(ann.locator("[data-role=notice]")).to_contain_text("Sorry, I couldn't answer:")
        await say(li, "Stopped.")
        await expect(li.locator(".draft")).to_contain_text("tea")
        await li.get_by_role("button", name="停止", exact=True).click()
        gate.set()
        for page, words in ((li, "已由 Li 停止。"), (ann, "Stopped by Li.")):
            answer = page.locator("[data-role=agent]:not(.draft)")
            await expect(answer).to_contain_text(words)
            await page.reload()
            await expect(answer).to_contain_text(words)
            await expect(answer).to_contain_text("Stopped by tea.")
            await expect(page.locator("[data-role=person]").last).to_contain_text("Stopped.")
        await li.locator("#composer-input").press_sequentially("/")
        await expect(li.get_by_role("option", name="/reset")).to_contain_text("重新开始")
