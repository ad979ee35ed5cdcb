"""Images on the page: attached, shown to the model and to the room, and to nobody else."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin
from playwright.async_api import Browser, FilePayload, Page, expect

from channels.message import InboundMessage
from gateway.app import Gateway
from gateway.hooks.specs import hookimpl
from tests.contracts.pictures import images_of, picture
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say, somebody
from tests.kit.gateways import gateway_of, settled
from tests.pages.entering import guest_page, invitation

pytestmark = marks

LOADED = "(image) => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"
SLOWLY = """() => {
  const draw = window.createImageBitmap;
  window.createImageBitmap = async (...all) => {
    document.body.dataset.drawn = Number(document.body.dataset.drawn ?? 0) + 1;
    await new Promise((resolve) => { window.goOn = resolve; });
    return draw(...all);
  };
}"""
UNDRAWN = """() => {
  HTMLCanvasElement.prototype.getContext = () => null; // as on a phone without memory for it
  const { close } = ImageBitmap.prototype;
  ImageBitmap.prototype.close = function closing() {
    document.body.dataset.closed = 'true';
    close.call(this);
  };
}"""
PASTE = """async (count) => {
  const canvas = document.createElement('canvas');
  const drawn = await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg'));
  const pasted = new DataTransfer();
  const one = { type: drawn.type };
  for (let i = 0; i < count; i += 1) pasted.items.add(new File([drawn], `${i}.jpg`, one));
  const event = new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true });
  for (let i = 0; i < 2; i += 1) document.querySelector('#composer-input').dispatchEvent(event);
}"""
SECRET = "taken at home"


async def test_an_image_is_attached_and_shown_to_the_model_and_the_room(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    photo = FilePayload(name="kettle.png", mimeType="image/png", buffer=picture())
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
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
        assert len(images_of(model.requests[-1])) == 1
        for page in (alice, bob):
            shown = page.get_by_role("img", name="kettle.png")
            assert await shown.evaluate(LOADED) == [40, 30]
        await bob.reload()
        assert await bob.get_by_role("img", name="kettle.png").evaluate(LOADED) == [40, 30]


async def test_a_large_photo_is_made_small_and_what_is_none_is_said(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
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
        (shown,) = images_of(model.requests[-1])
        assert shown.startswith("data:image/jpeg")


async def test_a_guest_of_another_room_gets_no_image(gateway: Gateway, chromium: Browser) -> None:
    async with browsing(chromium) as opened:
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
        own = f"/{guest.url.removeprefix(gateway.url).partition('/?')[0]}"
        assert own.startswith("/g/w-")
        assert await guest.evaluate(ask, path) == 401
        assert await guest.evaluate(ask, own + path) == 403
        assert await guest.evaluate(ask, own + path.replace("elsewhere", "lobby")) == 404


async def attach(page: Page, *files: FilePayload) -> None:
    await page.locator("#attach-input").set_input_files(list(files))


class Held:
    """A plugin that holds messages back before they are on a tape."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    @hookimpl
    async def resolve_session(self, message: InboundMessage) -> None:
        if message.text == "look":
            await self.gate.wait()


async def test_an_image_is_shown_before_its_message_is_on_the_tape(
    tmp_path: Path, chromium: Browser
) -> None:
    photo, held = FilePayload(name="k.png", mimeType="image/png", buffer=picture()), Held()
    async with gateway_of(tmp_path, None, held) as gateway, browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await attach(page, photo)
        await expect(page.locator("#attached li")).to_have_count(1)
        await say(page, "look")
        image = page.locator(".log").get_by_role("img", name="k.png")
        assert await image.evaluate(LOADED) == [40, 30]
        held.gate.set()


async def test_a_message_is_asked_again_with_its_images(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    photo = FilePayload(name="kettle.png", mimeType="image/png", buffer=picture())
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        alice = await somebody(opened, gateway.url, "Alice")
        bob = await somebody(opened, gateway.url, "Bob")
        model.enqueue(*(Text((answer,)) for answer in ("a kettle", "a red kettle", "red")))
        await attach(alice, photo)
        await expect(alice.locator("#attached li")).to_have_count(1)
        await alice.locator("#composer-input").press("Enter")  # without a word
        answers = "[data-role=agent]:not(.draft)"
        for number, page in enumerate((alice, bob), start=1):
            await expect(page.locator(answers)).to_have_count(number)
            await page.locator(answers).first.hover()
            await page.locator(answers).first.get_by_role("button", name="Ask again").click()
            await expect(page.locator(answers)).to_have_count(number + 1)
            assert len(images_of(model.requests[-1])) == 2
        asked = bob.locator(".log [data-role=person]")
        shown = asked.nth(1).get_by_role("img", name="kettle.png")
        assert await shown.evaluate(LOADED) == [40, 30]
        await expect(asked.nth(2).locator(".quote")).to_contain_text("Alice")
        await expect(asked.nth(2).locator(".body")).to_have_text("Ask again")
        await expect(asked.nth(2).locator("img")).to_have_count(0)  # they are Alice's
        await settled(gateway)


async def test_a_message_waits_for_the_images_that_were_chosen_before_it(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await page.evaluate(SLOWLY)
        await attach(page, FilePayload(name="w.bmp", mimeType="image/bmp", buffer=noise(40, 30)))
        await expect(page.locator("body[data-drawn='1']")).to_be_attached()
        await say(page, "What is this?")
        await expect(page.locator("#composer-input")).to_have_value("")
        await page.evaluate("goOn()")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        assert len(images_of(model.requests[-1])) == 1
        await expect(page.locator("#attached li")).to_have_count(0)

        await attach(page, FilePayload(name="no.bmp", mimeType="image/bmp", buffer=b"no image"))
        await expect(page.locator("body[data-drawn='2']")).to_be_attached()
        await say(page, "And this?")
        await page.evaluate("goOn()")
        await expect(page.get_by_role("alert")).to_contain_text("no.bmp is no image")
        await expect(page.locator("#composer-input")).to_have_value("And this?")


async def test_a_message_whose_image_is_refused_keeps_its_reply(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await page.evaluate(SLOWLY)
        await say(page, "look")
        await page.get_by_role("button", name="Reply to Alice", exact=True).press("Enter")
        await attach(page, FilePayload(name="no.bmp", mimeType="image/bmp", buffer=b"no image"))
        await expect(page.locator("body[data-drawn='1']")).to_be_attached()
        await say(page, "And this?")
        await expect(page.locator("#composer-input")).to_have_value("")
        await page.evaluate("goOn()")
        await expect(page.get_by_role("alert")).to_contain_text("no.bmp is no image")
        await expect(page.locator("#composer-input")).to_have_value("And this?")
        await expect(page.locator("#reply-excerpt")).to_have_text("look")
        await expect(page.locator("#reply-chip")).to_be_visible()


async def test_an_image_that_the_browser_cannot_draw_is_refused_and_messages_go_on(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await page.evaluate(UNDRAWN)
        await attach(page, FilePayload(name="w.bmp", mimeType="image/bmp", buffer=noise(40, 30)))
        await expect(page.get_by_role("alert")).to_contain_text("w.bmp is no image")
        await expect(page.locator("body[data-closed]")).to_be_attached()
        await say(page, "What is this?")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)


async def test_images_that_are_pasted_at_once_are_no_more_than_a_message_takes(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await page.evaluate(PASTE, 3)
        await expect(page.get_by_role("alert")).to_contain_text("A message takes 4 images.")
        await expect(page.locator("#attached li")).to_have_count(4)


async def test_an_image_is_sent_without_what_the_camera_wrote_into_it(
    model: FakeOpenAI, gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await attach(page, *(described(kind) for kind in ("PNG", "WEBP")), described("PNG", 6))
        await expect(page.locator("#attached li")).to_have_count(3)
        await say(page, "What are these?")
        await expect(page.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        sent = [b64decode(one.partition(",")[2]) for one in images_of(model.requests[-1])]
        read = [Image.open(BytesIO(data)) for data in sent]
        assert [SECRET.encode() in data for data in sent] == [False] * 3
        assert [dict(image.getexif()) for image in read] == [{}] * 3
        assert [(image.format, image.size) for image in read] == [
            ("PNG", (40, 30)),
            ("WEBP", (40, 30)),
            ("JPEG", (30, 40)),  # it was turned
        ]
        assert [getattr(image, "n_frames", 1) for image in read] == [2, 2, 1]


def described(kind: str, orientation: int = 1) -> FilePayload:
    """Return an image with metadata, which moves if it is not turned."""
    image, data = Image.new("RGB", (40, 30), "red"), BytesIO()
    exif = Image.Exif()
    exif[0x010E], exif[0x0112] = SECRET, orientation
    notes = PngImagePlugin.PngInfo()
    notes.add_itxt("XML:com.adobe.xmp", SECRET)
    more: dict[str, Any] = {"pnginfo": notes} if kind == "PNG" else {"xmp": SECRET.encode()}
    if orientation == 1:
        more |= {"save_all": True, "append_images": [Image.new("RGB", (40, 30), "blue")]}
    image.save(data, kind, exif=exif, **more)
    assert SECRET.encode() in data.getvalue()
    name = f"image-{orientation}.{kind.lower()}"
    return FilePayload(name=name, mimeType=f"image/{kind.lower()}", buffer=data.getvalue())


def noise(width: int, height: int) -> bytes:
    """Return a large image that can hardly be compressed."""
    data = BytesIO()
    Image.effect_noise((width, height), 80).convert("RGB").save(data, "BMP")
    return data.getvalue()
