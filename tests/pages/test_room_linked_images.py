"""Images of other servers in an answer: a button until somebody asks for one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.contracts.pictures import picture
from tests.fakes.internet import internet, page
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say
from tests.kit.gateways import gateway_of

pytestmark = marks

ANSWER = "![a kettle](http://good.example/k.png)\n\n![a page](http://good.example/page)"
LOADED = "(image) => [image.naturalWidth, image.naturalHeight]"


async def test_an_image_is_loaded_by_a_press_and_what_is_none_is_said(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        internet(monkeypatch) as net,
        gateway_of(tmp_path, model) as gateway,
        browsing(chromium) as opened,
    ):
        net.serve = lambda path: page(picture() if path == "/k.png" else "no", mime="image/png")
        model.enqueue(Text((ANSWER,)))
        room = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(room, "what does it look like?")
        answer = room.locator("[data-role=agent]:not(.draft)")
        await expect(answer.get_by_role("link", name="good.example")).to_have_count(2)
        assert net.asked == []
        await answer.get_by_role("button", name="a kettle").press("Enter")
        image = answer.get_by_role("img", name="a kettle")
        await expect(image).to_be_focused()
        assert await image.evaluate(LOADED) == [40, 30]
        await answer.get_by_role("button", name="a page").click()
        await expect(answer.get_by_role("button", name="a page")).to_contain_text(
            "The image can't be shown: it is no image that I can read."
        )


async def test_an_image_can_be_asked_for_once_the_answer_is_whole(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text((ANSWER, " and more"), gate=gate))
        room = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(room, "what does it look like?")
        await expect(room.locator(".draft").get_by_role("button", name="a kettle")).to_be_disabled()
        gate.set()
        answer = room.locator("[data-role=agent]:not(.draft)")
        await expect(answer.get_by_role("button", name="a kettle")).to_be_enabled()
