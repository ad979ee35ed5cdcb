"""Every screen of the console, by axe: no moderate, serious or critical finding."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, expect

from gateway.app import Gateway
from gateway.settings import load_settings
from tests.axe.findings import findings
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, marks
from tests.kit.gateways import make_environ, running, settled, with_plugins
from tests.kit.visitor import visit

pytestmark = [*marks, pytest.mark.parametrize("scheme", ["light", "dark"])]

WIDTHS = {"light": 1280, "dark": 390}
LOBBY = "d2ViOmxvYmJ5"  # web:lobby
SCREENS = {
    "deck": ".strip",
    f"tape/{LOBBY}": ".entry",
    f"replay/{LOBBY}": ".machine",
    "why": ".found",
    "why/inbox/1": ".verdict",
    "why/inbox/2": ".verdict",
    "why/inbox/3": ".verdict",
    f"turn/{LOBBY}/": ".part",
    "ledger": "h2",
    "channels": "h2",
    "people": "h2",
    "money": "table",
    "settings": ".set-form",
}


@asynccontextmanager
async def that_can_be_set(home: Path, server: FakeOpenAI) -> AsyncIterator[Gateway]:
    """Run a gateway whose owner may set a model and tokens in the console."""
    environ = make_environ(home, server)
    async with running(load_settings(environ), plugins=with_plugins(), environ=environ) as gateway:
        yield gateway


async def test_every_screen(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser, scheme: Literal["light", "dark"]
) -> None:
    async with (
        that_can_be_set(tmp_path, model) as gateway,
        browsing(chromium) as opened,
        visit(gateway.url, "Alice") as (alice,),
    ):
        search = Call("a", "tape_search", '{"query":"kettle"}')
        model.enqueue(ToolCalls((search,)), Text(("It is blue.",)), Failure(400, "no"))
        await alice.answer(await alice.say("What color is the kettle?"))
        await alice.say("thank you", to_agent=False)
        await alice.answer(await alice.say("And the lid?"))
        entries = await settled(gateway)
        turn = next(str(one.meta["turn"]) for one in entries if "turn" in one.meta)
        context = await opened.new_context(
            color_scheme=scheme,
            reduced_motion="reduce",
            viewport={"width": WIDTHS[scheme], "height": 800},
        )
        page = await context.new_page()
        found: dict[str, list[str]] = {}
        for screen, sign in SCREENS.items():
            path = screen + turn if screen.startswith("turn/") else screen
            await page.goto(f"{gateway.url}console#/{path}")
            await expect(page.locator(f"main {sign}").first).to_be_visible()
            found[screen] = await findings(page)
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("dialog")).to_be_visible()
        found["palette"] = await findings(page)
        assert {screen: what for screen, what in found.items() if what} == {}
