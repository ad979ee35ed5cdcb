"""Read-only links in a browser: made in the timeline, opened by somebody else, and shut."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.axe.findings import findings
from tests.gateway.console.scene import ADMIN, GROUP, OWNER, STRANGER, key, scene_of
from tests.kit.browser import browsing, marks
from tests.pages.entering import enter

pytestmark = marks

OUTSIDE = {"X-Forwarded-For": "203.0.113.9"}


async def test_a_link_shows_a_tape_to_somebody_else_until_it_is_revoked(
    tmp_path: Path, chromium: Browser
) -> None:
    async with scene_of(tmp_path) as scene, browsing(chromium) as opened:
        await scene.say(STRANGER, "<b>plums</b> are ripe")
        owner = await enter(scene, opened, OWNER)
        await owner.goto(f"{scene.gateway.url}console#/tape/{key(GROUP)}")
        await owner.get_by_role("button", name="Show by a link").click()
        dialog = owner.get_by_role("dialog", name="Show this tape by a link")
        await dialog.get_by_label("The link works for").select_option("1 hour")
        await dialog.get_by_role("button", name="Make a link").click()
        shown = dialog.get_by_label(re.compile("The new link"))
        await expect(shown).to_be_focused()
        link = await shown.input_value()
        await expect(dialog.get_by_role("listitem")).to_contain_text("opened 0 times")
        assert await findings(owner) == []

        context = await opened.new_context(
            extra_http_headers=OUTSIDE, viewport={"width": 390, "height": 800}
        )
        reader = await context.new_page()
        asked: list[str] = []
        reader.on("request", lambda request: asked.append(request.url))
        await reader.goto(link)
        entry = reader.locator(".entry", has_text="<b>plums</b> are ripe")
        await expect(entry).to_be_visible()
        await expect(reader.get_by_text("You read this tape by a link")).to_be_visible()
        secret = link.partition("#link=")[2]
        assert secret not in reader.url
        assert [url for url in asked if secret in url] == []
        await expect(reader.get_by_role("navigation")).to_have_count(0)
        await expect(reader.get_by_role("searchbox")).to_have_count(0)
        leads = reader.locator("main a:not([href^='#/read/'])")
        await expect(leads).to_have_count(0)
        assert await findings(reader) == []
        await scene.say(ADMIN, "so are pears")
        await expect(reader.locator(".entry", has_text="so are pears")).to_be_visible()
        await reader.reload()
        await expect(entry).to_be_visible()

        await dialog.get_by_role("button", name=re.compile("^Revoke")).click()
        await expect(dialog.get_by_text("The link is revoked.")).to_be_visible()
        await expect(reader.get_by_role("heading", name="no longer open to you")).to_be_visible()
        await expect(entry).to_have_count(0)
        await owner.keyboard.press("Escape")
        await owner.goto(f"{scene.gateway.url}console#/people")
        row = owner.locator(".row.link", has_text=f"Group {GROUP}")
        await expect(row).to_contain_text("revoked by you")
        await reader.goto(link)
        await expect(reader.get_by_role("heading", name="This link has ended")).to_be_visible()
