"""Images on the page: attached, shown to the model and to the room, and to nobody else."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, FilePayload, expect

from tests.browser import browsing, enter, marks, say, somebody
from tests.contracts.test_channels_media import images_of, picture
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import gateway_of
from tests.pages.test_room_access import guest_page, invitation

pytestmark = marks

LOADED = "(image) => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"


async def test_an_image_is_attached_and_shown_to_the_model_and_the_room(
    tmp_path: Path, chromium: Browser
) -> None:
    photo = FilePayload(name="kettle.png", mimeType="image/png", buffer=picture())
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server) as gateway,
        browsing(chromium) as opened,
    ):
        alice = await somebody(opened, gateway.url, "Alice")
        bob = await somebody(opened, gateway.url, "Bob")
        async with alice.expect_file_chooser() as choosing:
            await alice.get_by_role("button", name="Attach images").press("Enter")
        chooser = await choosing.value
        lid = FilePayload(name="lid.png", mimeType="image/png", buffer=picture())
        await chooser.set_files([photo, lid])
        await alice.get_by_role("button", name="Remove lid.png").press("Enter")
        await expect(alice.locator("#attached li")).to_have_count(1)
        await say(alice, "What is this?")
        await expect(alice.locator("#attached li")).to_have_count(0)
        await expect(alice.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        assert len(images_of(server.requests[-1])) == 1
        for page in (alice, bob):
            shown = page.get_by_role("img", name="kettle.png")
            assert await shown.evaluate(LOADED) == [40, 30]
        await bob.reload()
        assert await bob.get_by_role("img", name="kettle.png").evaluate(LOADED) == [40, 30]


async def test_a_large_photo_is_made_small_and_what_is_none_is_said(
    tmp_path: Path, chromium: Browser
) -> None:
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server) as gateway,
        browsing(chromium) as opened,
    ):
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        files = [
            FilePayload(name="notes.txt", mimeType="text/plain", buffer=b"no image"),
            FilePayload(name="wall.bmp", mimeType="image/bmp", buffer=noise(2400, 300)),
        ]
        await page.locator("#attach-input").set_input_files(files)
        await expect(page.locator("#attached li")).to_have_count(1)
        await expect(page.get_by_role("alert")).to_contain_text("notes.txt is no image")
        await page.keyboard.press("Enter")  # without a word
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        width, height = await page.get_by_role("img", name="wall.jpg").evaluate(LOADED)
        assert (width <= 2000, width / height) == (True, 8)
        (shown,) = images_of(server.requests[-1])
        assert shown.startswith("data:image/jpeg")


async def test_a_guest_of_another_room_gets_no_image(tmp_path: Path, chromium: Browser) -> None:
    async with gateway_of(tmp_path) as gateway, browsing(chromium) as opened:
        owner = await enter(await opened.new_context(), gateway.url, "Ann")
        guest = await guest_page(opened)
        await guest.goto(await invitation(owner))
        await guest.get_by_role("textbox", name="Your name").fill("Gus")
        await guest.keyboard.press("Enter")
        await expect(guest.get_by_text("connected", exact=True)).to_be_visible()
        await owner.goto(f"{gateway.url}?room=elsewhere&as=Ann")
        await expect(owner.get_by_text("connected", exact=True)).to_be_visible()
        photo = FilePayload(name="kettle.png", mimeType="image/png", buffer=picture())
        await owner.locator("#attach-input").set_input_files([photo])
        await expect(owner.locator("#attached li")).to_have_count(1)
        await say(owner, "look")
        image = owner.locator(".log").get_by_role("img", name="kettle.png")
        path = str(await image.get_attribute("src"))
        ask = "(path) => fetch(path).then((found) => found.status)"
        assert await owner.evaluate(ask, path) == 200
        assert await guest.evaluate(ask, path) == 403
        assert await guest.evaluate(ask, path.replace("elsewhere", "lobby")) == 404


def noise(width: int, height: int) -> bytes:
    """Return a large image that can hardly be compressed."""
    data = BytesIO()
    Image.effect_noise((width, height), 80).convert("RGB").save(data, "BMP")
    return data.getvalue()
