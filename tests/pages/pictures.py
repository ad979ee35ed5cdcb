"""Takes the pictures of the page in the documentation: one of a room, and one that moves.

Run `python -m tests.pages.pictures`, or `make picture`. Chromium has to be installed.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from PIL import Image
from playwright.async_api import Browser, Page, ViewportSize, expect

from gateway.app import Gateway
from tests.fakes.openai.script import Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, connected, enter, running_chromium, say
from tests.kit.gateways import ROOT, gateway_of
from tests.pages.entering import guest_page, invitation

IMAGES: Final = ROOT / "docs" / "images"
SIZE: Final = ViewportSize(width=1000, height=820)
HALF: Final = ViewportSize(width=450, height=680)
SHARP: Final = 1.5  # pixels of a picture for each of the page
GAP: Final = 12
COLOURS: Final = 128
GROUND: Final = "#c9cfc9"  # of where no window is, beside a light page and a dark one

PRICES: Final = {"AGENT__PRICE_INPUT": "0.25", "AGENT__PRICE_OUTPUT": "2"}

TRAIN: Final = "Which train gets us to the lake on Saturday?"
SOUP: Final = "What can I cook for six on one camping stove?"
BACK: Final = "and the last one back?"
DEPLOY: Final = "Why did the staging deploy fail last night?"
RELEASE: Final = "And what is left for the **release**?"
ANSWERS: Final = {
    TRAIN: """Two of them are there before noon:

| leaves | arrives | change |
|---|---|---|
| 8:12 | 10:47 | Ulm |
| 9:05 | 11:20 | **none** |

The second takes bicycles, too.""",
    SOUP: """One pot is enough:

1. fry two onions and garlic
2. add lentils, carrots and 2 l of water
3. after 25 minutes, lemon and salt""",
    BACK: "The last one without a change leaves at 18:40 and is back at **20:55**.",
    DEPLOY: """The staging deploy failed because the migration took a lock that old workers held.

| step | took | result |
|---|---|---|
| build | 2 min | ok |
| migrate | 14 min | **timed out** |

Drain the workers first, then migrate:

```sh
make drain && make migrate
```
""",
    RELEASE: "From what was said since Monday: the release notes are drafted, the",
}


@dataclass
class Story:
    """The model's part: an answer is written word by word, as far as it has been told to."""

    ticks: dict[str, asyncio.Semaphore] = field(default_factory=dict)

    def answer(self, request: Request) -> Reply:
        """Answer what was asked last; the answer to `RELEASE` never ends."""
        texts = [str(one.get("content")) for one in request.body["messages"]]
        text = texts[-1]
        asked = next(one for one in (*reversed(ANSWERS), "") if one in text)
        pieces = tuple(f"{word} " for word in ANSWERS[asked].split(" "))
        gate = asyncio.Event() if asked == RELEASE else None
        if gate is not None:
            return Text((ANSWERS[asked], ""), gate=gate)
        ticks = self.ticks.setdefault(asked, asyncio.Semaphore(0))

        async def sleep(_seconds: float) -> None:
            await ticks.acquire()

        return Text(pieces, delay=1, sleep=sleep)

    def write(self, asked: str, words: int = 1_000) -> None:
        """Let the model write a few more words of an answer."""
        ticks = self.ticks.setdefault(asked, asyncio.Semaphore(0))
        for _ in range(words):
            ticks.release()


@dataclass
class Film:
    """Two windows side by side, one picture after another."""

    owner: Page
    guest: Page | None = None
    frames: list[Image.Image] = field(default_factory=list)
    lasts: list[int] = field(default_factory=list)

    async def shoot(self, milliseconds: int) -> None:
        """Add what both windows show now; it stays for so long."""
        width, height = (round(side * SHARP) for side in (HALF["width"], HALF["height"]))
        frame = Image.new("RGB", (2 * width + GAP, height), GROUND)
        for left, page in ((0, self.owner), (width + GAP, self.guest)):
            if page is not None:
                shot = Image.open(BytesIO(await page.screenshot()))
                frame.paste(shot, (left, 0))
        self.frames.append(frame)
        self.lasts.append(milliseconds)

    def save(self, path: Path) -> None:
        """Write the film, which begins again when it ends: few colours, and nothing else lost."""
        width, height = self.frames[0].size
        sheet = Image.new("RGB", (width, height * len(self.frames)))
        for at, frame in enumerate(self.frames):
            sheet.paste(frame, (0, at * height))
        sheet = sheet.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        sheet = sheet.convert("RGB")
        first, *rest = [
            sheet.crop((0, at * height, width, (at + 1) * height)) for at in range(len(self.frames))
        ]
        first.save(
            path,
            save_all=True,
            append_images=rest,
            duration=self.lasts,
            loop=0,
            lossless=True,
            method=6,
        )


async def asks(film: Film, page: Page, text: str) -> None:
    """Write a question into a window's field, take a picture, and send it."""
    await page.locator("textarea").first.fill(text)
    await film.shoot(1000)
    await page.keyboard.press("Enter")


async def two_people(browser: Browser, gateway: Gateway, story: Story) -> Film:
    """Film the owner and a guest, who ask about two things at the same time."""
    context = await browser.new_context(
        viewport=HALF, device_scale_factor=SHARP, reduced_motion="reduce", locale="en-GB"
    )
    owner = await enter(context, gateway.url, "Ann")
    film = Film(owner)
    await owner.locator("#menu-summary").click()
    await owner.get_by_role("button", name="Try as a guest").hover()
    await film.shoot(1500)
    async with context.expect_page() as opened:
        await owner.get_by_role("button", name="Try as a guest").click()
    film.guest = guest = await opened.value
    await owner.mouse.move(1, 1)
    await expect(guest.get_by_text("connected", exact=True)).to_be_visible()
    await film.shoot(1000)
    await asks(film, owner, TRAIN)
    await asks(film, guest, SOUP)
    await expect(guest.locator("[data-role=agent]")).to_have_count(2)
    answers = owner.locator("[data-role=agent]:not(.draft)")
    for _ in range(4):
        for asked in (TRAIN, SOUP):
            story.write(asked, 5)
        await owner.wait_for_timeout(500)
        await film.shoot(600)
    for number, asked in enumerate((TRAIN, SOUP), 1):
        story.write(asked)
        await expect(answers).to_have_count(number)
    await owner.wait_for_timeout(500)
    await film.shoot(2500)
    await asks(film, owner, BACK)
    await expect(owner.locator("[data-role=agent].draft")).to_have_count(1)
    for words in (5, 1_000):
        await owner.wait_for_timeout(500)
        await film.shoot(500)
        story.write(BACK, words)
    await expect(answers).to_have_count(3)
    await owner.wait_for_timeout(500)
    await film.shoot(2500)
    await answers.last.locator(".why").click()
    await expect(owner.get_by_label("Why this answer")).to_be_visible()
    await owner.wait_for_timeout(500)
    await film.shoot(5000)
    await context.close()
    return film


async def room(browser: Browser, gateway: Gateway, story: Story) -> None:
    """Take a room in which the agent has answered one person and answers another."""
    async with browsing(browser) as opened:
        own = await opened.new_context(viewport=SIZE, device_scale_factor=SHARP, locale="en-GB")
        ann = await own.new_page()
        await ann.goto(f"{gateway.url}?room=releases&as=Ann")
        await expect(ann.get_by_text("connected", exact=True)).to_be_visible()
        ben = await guest_page(opened)
        await ben.goto(await invitation(ann))
        await ann.keyboard.press("Escape")
        await ben.get_by_role("textbox", name="Your name").fill("Ben")
        await ben.keyboard.press("Enter")
        story.write(DEPLOY)
        await say(ann, DEPLOY)
        await expect(ann.locator("[data-role=agent]:not(.draft)")).to_have_count(1)
        await say(ben, RELEASE)
        await expect(ann.get_by_text("notes are drafted")).to_be_visible()
        await ann.mouse.move(1, 1)
        await ann.wait_for_timeout(1000)
        await ann.screenshot(path=IMAGES / "room.png")


async def main() -> None:
    story = Story()
    with TemporaryDirectory() as folder, running_chromium() as address:
        async with (
            FakeOpenAI(default=story.answer) as model,
            gateway_of(Path(folder), model, **PRICES) as gateway,
            connected(address) as browser,
        ):
            film = await two_people(browser, gateway, story)
            film.save(IMAGES / "room.webp")
            await room(browser, gateway, story)


if __name__ == "__main__":
    asyncio.run(main())
