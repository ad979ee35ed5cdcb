"""Takes the pictures of the console in the documentation, of a gateway with a Telegram of our own.

Run `python -m tests.gateway.console.pictures`, or `make picture`. Chromium has to be installed, and
a font that has Chinese characters.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from playwright.async_api import Page, ViewportSize

from gateway.app import Gateway
from gateway.console.chats import key_of
from tape.entry import NewEntry, anchor, bootstrap, event, message, tool_call
from tests.fakes.openai.script import Call, Failure, Reply, Request, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.gateway.console.scene import until
from tests.kit.browser import connected, running_chromium
from tests.kit.gateways import ROOT, gateway_of, tape_of

IMAGES: Final = ROOT / "docs" / "images"
SIZE: Final = ViewportSize(width=1280, height=800)
GROUPS: Final = ("Pottery club", "Platform team", "Allotment 7", "Team")
FIRST: Final = -1001000000001
PEOPLE: Final = ("Ana", "Ben", "Cleo", "Dora", "Eve", "Finn", "Hanna", "Ivo")
QUIET: Final = (6, 15)  # hours ago between which nobody wrote

# Seconds ago, the conversation, who wrote what, and what the agent answered.
TALK: Final = (
    (760, "glaze", "Ben", "Who took the blue glaze?", ""),
    (735, "kiln", "Ana", "What did we fire the last batch at?", "At 1222 °C, which is cone 6."),
    (702, "glaze", "Cleo", "I did, it is on shelf 3.", ""),
    (655, "kiln", "Ana", "And how long did it soak?", "15 minutes, as Dora wrote on Tuesday."),
    (640, "lunch", "Ben", "Unrelated: lunch at 12?", ""),
    (610, "lunch", "Cleo", "Yes, the noodle place", ""),
    (560, "lunch", "Ben", "How long is it open?", "Until 15:00, says its page."),
    (530, "clay", "Dora", "Does anybody know when the clay comes?", ""),
    (420, "kiln", "Dora", "I can bring the bowls on Friday", ""),
    (365, "lunch", "Ana", "Keep me a seat", ""),
    (330, "clay", "Cleo", "Thursday, they wrote", ""),
    (250, "kiln", "Ana", "So what is the plan for Friday?", "Bisque the bowls, then cone 6."),
    (190, "lunch", "Ben", "Table for three it is", ""),
    (110, "glaze", "Ben", "Which cone was the blue one for?", "Cone 6. Cleo tested it in May."),
)
WITH_TOOL: Final = "How long is it open?"
LINES: Final = ("Morning!", "Thanks", "See you at six", "That worked", "I will look", "On my way")


def history(now: datetime, seed: int, rate: float, talk: Any = ()) -> Iterator[NewEntry]:
    """Yield what was written in a chat in the last day, each entry with its date."""
    random, number = Random(seed), 900_000 * seed
    begin = now - timedelta(hours=23)
    yield from (_at(begin, new) for new in bootstrap())
    for minute in range(0, 22 * 60, 10):
        ago = 23 - minute / 60
        if QUIET[0] < ago < QUIET[1] or random.random() > rate:
            continue
        number += 1
        lane, who = f"{seed}:{minute // 90}", random.choice(PEOPLE)
        date = begin + timedelta(minutes=minute, seconds=random.random() * 400)
        yield _said(date, number, lane, who, random.choice(LINES))
        if random.random() < 0.4:
            yield from _answered(date, number, lane, "Done, it is on the tape.")
    for place, (ago, lane, who, text, answer) in enumerate(talk):
        number += 1
        if place == 3:
            yield _at(now - timedelta(seconds=ago + 20), anchor("Glaze tests", {"summary": "blue"}))
        date = now - timedelta(seconds=ago)
        yield _said(date, number, f"{seed}:{lane}", who, text)
        if answer:
            tool = text == WITH_TOOL
            yield from _answered(date, number, f"{seed}:{lane}", answer, tool=tool)


def _said(date: datetime, number: int, lane: str, who: str, text: str) -> NewEntry:
    own: dict[str, Any] = {"inbox": number, "author": who.lower(), "name": who, "lane": lane}
    own |= {"said_at": date.isoformat(), "message_id": str(number)}
    return _at(date, message("user", text, **own, text=text))


def _answered(
    date: datetime, number: int, lane: str, text: str, *, tool: bool = False
) -> Iterator[NewEntry]:
    how = {"lane": lane, "turn": f"t-{number:020x}"}
    ask = {"id": "1", "function": {"name": "web.fetch", "arguments": "{}"}}
    takes = {"turn": how["turn"], "takes": []}
    yield _at(date + timedelta(seconds=1), event("turn.start", takes, **how))
    if tool:
        yield _at(date + timedelta(seconds=5), tool_call([ask], **how))
    said = date + timedelta(seconds=14 if tool else 8)
    yield _at(said, message("assistant", text, final=True, **how))
    ended = {"turn": how["turn"], "status": "done"}
    yield _at(said + timedelta(seconds=1), event("turn.end", ended, **how))


def _at(date: datetime, new: NewEntry) -> NewEntry:
    return NewEntry(new.kind, new.payload, new.meta, date.isoformat(timespec="microseconds"))


def answer(request: Request) -> Reply:
    """Answer as the story goes: look the glaze up, and fail at the deploy."""
    texts = [str(one.get("content")) for one in request.body["messages"]]
    asked = next(text for text in reversed(texts) if "glaze" in text or "deploy" in text)
    if "deploy" in asked:
        return Failure(400, "no")
    if request.body["messages"][-1]["role"] == "tool":
        return Text(("Cleo took it: ", "it is on shelf 3."))
    return ToolCalls((Call("a", "tape_search", '{"query":"blue glaze"}'),))


@asynccontextmanager
async def talking(home: Path) -> AsyncIterator[Gateway]:
    """Run a gateway whose groups have written for a day; one of them waits to be opened."""
    async with FakeTelegram() as telegram, FakeOpenAI() as model:
        model.default = answer
        groups = [telegram.group(FIRST - at, title) for at, title in enumerate(GROUPS)]
        people = {name: telegram.user(10 + at, name) for at, name in enumerate(PEOPLE)}
        settings = {
            "TELEGRAM__TOKEN": telegram.token,
            "TELEGRAM__BASE_URL": telegram.base_url,
            "ACCESS__ALLOW": ",".join(f"telegram:{one.id}" for one in groups[:3]),
            "AGENT__PRICE_INPUT": "0.25",
            "AGENT__PRICE_OUTPUT": "2",
        }
        async with gateway_of(home, model, **settings) as gateway:
            now = datetime.now(UTC)
            for at, rate in enumerate((0.5, 0.3, 0.15)):
                tape = tape_of(gateway, f"telegram:{groups[at].id}")
                await tape.append(*history(now, at + 1, rate, TALK if at == 0 else ()))
            telegram.say(groups[2], people["Hanna"], "Slugs again, all over the lettuce")
            telegram.say(groups[1], people["Eve"], "@tapeway_bot what happened with the deploy?")
            telegram.say(groups[3], people["Finn"], "@tapeway_bot hello, can you help the team?")
            telegram.say(groups[0], people["Ben"], "@tapeway_bot so who took the blue glaze?")
            await until(lambda: _asked(gateway))
            await gateway.taken_in()
            await gateway.idle()
            await gateway.services.store.indexed()  # type: ignore[attr-defined]
            yield gateway


async def _asked(gateway: Gateway) -> bool:
    """Return whether all four messages have been received."""
    return bool(await gateway.services.store.select("ledger.inbox_row", {"id": 4}))


async def take(page: Page, gateway: Gateway) -> None:
    """Take the pictures, each once everything on it is drawn."""
    pottery = key_of(f"telegram:{FIRST}")
    found = await page.request.get(f"{gateway.url}api/console/messages?chat={pottery}")
    question = next(one["id"] for one in (await found.json())["messages"] if one["turn"])
    for name, screen, sign in (
        ("deck", "deck", ".strip.wants"),
        ("timeline", f"tape/{pottery}", ".entry[aria-current]"),
        ("why", f"why/inbox/{question}", ".joint"),
    ):
        await page.goto("about:blank")
        await page.goto(f"{gateway.url}console#/{screen}")
        await page.locator(sign).first.wait_for()
        if name == "timeline":
            for _ in range(7):
                await page.keyboard.press("k")
            await page.locator(".tape-screen ul.sr-only li").nth(3).wait_for(state="attached")
        await page.wait_for_timeout(1000)
        await page.screenshot(path=IMAGES / f"console-{name}.png")


async def main() -> None:
    with TemporaryDirectory() as folder, running_chromium() as address:
        async with connected(address) as browser, talking(Path(folder)) as gateway:
            page = await (await browser.new_context(viewport=SIZE, locale="en-GB")).new_page()
            await take(page, gateway)


if __name__ == "__main__":
    asyncio.run(main())
