"""A gateway for many pages: an owner, groups, answers, a closed chat, and links to its screens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page, expect

from gateway.settings import load_settings
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.console.court import Townhall, WatchClock
from tests.gateway.console.scene import GROUP, MEMBER, OUTSIDE, OWNER, STRANGER, TOKEN, Scene, key
from tests.kit.browser import Browsing
from tests.kit.gateways import make_environ, running, settled, with_plugins
from tests.kit.plain_channels import Brings

CLOSED: Final = "-300"
SIGNS: Final = {
    "deck": ".strip.wants",
    "tape": ".entry[aria-current]",
    "replay": ".machine",
    "why": ".found",
    "why/inbox": ".verdict",
    "turn": ".part",
    "ledger": "h2",
    "channels": "h2",
    "people": "table",
    "money": "table",
    "settings": ".set-form",
}
"""The screens, and what is there once they are drawn."""


class Town:
    """The gateway, and how one comes to its screens."""

    def __init__(
        self, home: Path, scene: Scene, hall: Townhall, watch: WatchClock, turn: str
    ) -> None:
        self.home = home
        self.scene = scene
        self.hall = hall
        self.watch = watch
        self.url = scene.gateway.url
        chat = key(GROUP)
        self._rest = {
            "tape": f"/{chat}",
            "replay": f"/{chat}",
            "why/inbox": "/1",
            "turn": f"/{chat}/{turn}",
        }

    async def owner(self, opened: Browsing, **look: Any) -> Page:
        """Open a browser in which the owner of the instance is signed in."""
        context = await opened.new_context(extra_http_headers=OUTSIDE, **look)
        await context.request.post(f"{self.url}login", form={"token": TOKEN})
        return await context.new_page()

    async def show(self, page: Page, screen: str) -> None:
        """Load a screen, and wait until it is drawn."""
        await page.goto("about:blank")
        await page.goto(f"{self.url}console#/{screen}{self._rest.get(screen, '')}")
        await expect(page.locator(f"main {SIGNS[screen]}").first).to_be_visible()
        if screen == "tape":  # its chapter is named once nothing has moved for a while
            await expect(page.locator(".tape-chapter a").first).to_be_visible()
        await expect(page.locator("main section > .note")).to_have_text([""] * await _notes(page))

    async def link(self) -> str:
        """Make a read-only link to the tape of the group."""
        async with self.scene.holder() as client:
            body = {"chat": key(GROUP), "hours": 1}
            made = (await client.post("/api/console/links", json=body)).json()
        return f"{self.url}console#link={made['secret']}"

    async def read(self, opened: Browsing, **look: Any) -> Page:
        """Open the page of a reader, by a new link."""
        context = await opened.new_context(extra_http_headers=OUTSIDE, **look)
        page = await context.new_page()
        await page.goto(await self.link())
        await expect(page.locator(".entry[aria-current]")).to_be_visible()
        await expect(page.get_by_text("You read this tape by a link")).to_be_visible()
        return page

    async def door(self, opened: Browsing, **look: Any) -> Page:
        """Open the door, as somebody who is nobody here."""
        context = await opened.new_context(extra_http_headers=OUTSIDE, **look)
        page = await context.new_page()
        await page.goto(f"{self.url}console")
        await expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
        return page


async def _notes(page: Page) -> int:
    return await page.locator("main section > .note").count()


@asynccontextmanager
async def town_of(home: Path) -> AsyncIterator[Town]:
    """Run the gateway; nobody asks anything more of it."""
    hall, watch = Townhall(), WatchClock()
    async with FakeOpenAI() as server:
        more = {"ACCESS__MODE": "paired", "HTTP__TOKEN": TOKEN}
        environ = make_environ(home, server, **more)
        plugins = with_plugins(Brings(hall))
        settings = load_settings(environ, folder=home)
        async with running(settings, plugins=plugins, clock=watch, environ=environ) as gateway:
            scene = Scene(gateway, hall, server)
            await scene.grant(OWNER, "owner")
            await scene.grant(GROUP, "member")
            search = Call("a", "tape_search", '{"query":"kettle"}')
            server.enqueue(ToolCalls((search,)), Text(("It is blue, " * 20,)))
            long = "What color is the kettle? " + "averylongwordindeed" * 6
            await scene.say(MEMBER, long, addressed=True)
            await scene.say(STRANGER, "may we come in?", CLOSED, addressed=True)
            entries = await settled(gateway, f"plain:{GROUP}")
            turn = next(str(one.meta["turn"]) for one in entries if "turn" in one.meta)
            yield Town(home, scene, hall, watch, turn)
