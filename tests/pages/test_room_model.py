"""The owner's notice that no model is set up, and its button."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, expect

from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say
from tests.kit.canaries import KEY
from tests.kit.gateways import gateway_process, make_environ
from tests.kit.ports import free_port
from tests.pages.entering import guest_page, invitation

pytestmark = marks


async def test_the_owner_sets_up_a_model_on_the_page_once_it_has_answered(
    tmp_path: Path, chromium: Browser
) -> None:
    home = tmp_path / "home"
    environ = make_environ(home, None, HTTP__PORT=str(free_port()))
    async with (
        FakeOpenAI(api_key=KEY) as server,
        gateway_process(environ, home) as gateway,
        browsing(chromium) as opened,
    ):
        page = await enter(await opened.new_context(), await gateway.url(), "Ann")
        await page.get_by_role("button", name="Set up a model").first.click()
        dialog = page.get_by_role("dialog", name="Set up a model")
        await dialog.get_by_label("Server").select_option("Another server")
        await dialog.get_by_label("Address").fill(server.base_url)
        await dialog.get_by_label("Model").fill("better")
        await dialog.get_by_label("API key").fill("wrong")
        await page.keyboard.press("Enter")
        await expect(dialog.get_by_role("alert")).to_contain_text("refuses the API key")
        assert not (home / ".env").exists()
        await dialog.get_by_label("API key").fill(KEY)
        await page.keyboard.press("Enter")
        await expect(dialog).to_be_hidden()
        await expect(page.locator("#model-key")).to_have_value("")
        await expect(page.locator("#hint")).to_be_hidden()
        server.enqueue(Text(("a real answer",)))
        await say(page, "are you there?")
        await expect(page.locator(".log").get_by_text("a real answer")).to_be_visible()
    assert "TAPEWAY_AGENT__MODEL=better\n" in (home / ".env").read_text()
    assert not (home / "tapeway.toml").exists()
    assert (home / ".env").stat().st_mode & 0o077 == 0


async def test_the_notice_is_the_owner_s_and_stays_away_once_dismissed(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        owner = await enter(await opened.new_context(), gateway.url, "Ann")
        link = await invitation(owner)
        await owner.get_by_role("button", name="Close", exact=True).click()
        await expect(owner.locator("#hint")).to_be_visible()
        guest = await guest_page(opened)
        await guest.goto(link)
        await guest.get_by_role("textbox", name="Your name").fill("Gus")
        await guest.keyboard.press("Enter")
        await expect(guest.get_by_text("connected", exact=True)).to_be_visible()
        await expect(guest.locator("#hint")).to_be_hidden()
        # Whoever runs this gateway gave it no way to set anything.
        await expect(owner.locator("#model-button")).to_be_hidden()
        await owner.get_by_role("button", name="Dismiss this notice").click()
        await owner.reload()
        await expect(owner.get_by_text("connected", exact=True)).to_be_visible()
        await expect(owner.locator("#hint")).to_be_hidden()
