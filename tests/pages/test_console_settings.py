"""The console's settings in a browser: a model is set, and a token removed."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.console.scene import OUTSIDE, TOKEN
from tests.gateway.setup.desk import set_up
from tests.kit.browser import browsing, marks
from tests.kit.canaries import KEY

pytestmark = marks


async def test_the_owner_tries_a_model_saves_it_and_sees_what_it_takes_to_move_it(
    tmp_path: Path, chromium: Browser
) -> None:
    token = {"TELEGRAM__BASE_URL": "http://127.0.0.1:9/bot", "TELEGRAM__TOKEN": "1:fixed-here"}
    stored = "TAPEWAY_DISCORD__TOKEN=of-a-bot-that-is-not-used-any-more\n"
    async with (
        FakeOpenAI(api_key=KEY) as server,
        set_up(tmp_path / "h", stored, only=["web"], **token) as (gateway, _client),
        browsing(chromium) as opened,
    ):
        context = await opened.new_context(extra_http_headers=OUTSIDE)
        await context.request.post(f"{gateway.url}login", form={"token": TOKEN})
        page = await context.new_page()
        await page.goto(f"{gateway.url}console#/settings")
        telegram = page.locator("[data-part=telegram]")
        await expect(telegram).to_contain_text("TAPEWAY_TELEGRAM__TOKEN")
        await expect(telegram).to_contain_text("from the environment: change it there")
        await expect(telegram.get_by_role("button")).to_have_count(0)

        discord = page.locator("[data-part=discord]")
        for answer in ("Keep it", "Disconnect"):
            await discord.get_by_role("button", name="Disconnect: Discord").click()
            dialog = page.get_by_role("dialog", name="Disconnect: Discord")
            await expect(dialog).to_contain_text("the channel stops")
            await dialog.get_by_role("button", name=answer).click()
            gone = answer == "Disconnect"
            await expect(discord.locator(".lamp")).to_have_text("not set" if gone else "set")
        await expect(discord.locator(".set-result")).to_contain_text("The token is removed")
        await expect(discord.get_by_role("button", name="Disconnect: Discord")).to_have_count(0)

        model = page.locator("[data-part=model]")
        await model.get_by_label("Address of the server").fill(server.base_url)
        await model.get_by_label("Name of the model").fill("better")
        await model.get_by_label("API key").fill("sk-a-wrong-key-of-many-letters")
        await model.get_by_role("button", name="Try").click()
        await expect(model.locator(".set-result")).to_contain_text("refuses the API key")
        await model.get_by_label("API key").fill(KEY)
        await model.get_by_role("button", name="Save").click()
        await expect(model.locator(".set-result")).to_contain_text("Saved, and in use")
        await expect(model.get_by_label("API key")).to_have_value("")
        await expect(model.get_by_label("Name of the model")).to_have_value("better")
        await expect(model.get_by_label("This server needs no key")).to_be_hidden()

        await model.get_by_label("Address of the server").fill("http://127.0.0.1:9/v1")
        await expect(model.get_by_label("This server needs no key")).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(model.locator(".set-result")).to_contain_text("Enter the key for this address")
        assert KEY not in await page.content()
        await page.get_by_role("button", name="中文").click()
        await expect(page.get_by_role("heading", name="运行中可设置")).to_be_visible()
