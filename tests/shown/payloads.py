"""Prints one answer on every target as a Markdown table: what is sent, and what people see.

    python -m tests.shown.payloads [FOLDER]

The answers go through the fakes. With a folder, pictures of the page and of the terminal are drawn
there.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from playwright.async_api import Page

from channels.message import OutboundMessage
from channels.telegram.api import BotApi
from channels.telegram.outbound import TelegramSender
from channels.telegram.settings import TelegramSettings
from channels.web.format import to_html
from tests.channels.discord.hosts import discord_bot
from tests.channels.slack.hosts import running
from tests.fakes.discord import reader as discord_reader
from tests.fakes.openai.script import Text
from tests.fakes.slack import reader as slack_reader
from tests.fakes.slack.server import FakeSlack
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.clock import ManualClock
from tests.shown.page import on_page
from tests.shown.run import one_page
from tests.shown.terminal import drawn

ANSWER: Final = r"""## What `load_all` does

It reads C:\data\_old\tea.csv in 100*100/400 = 25 parts (see \(x^2 + y_1\)), in __init__.py:

| part | type |
|:--|--:|
| size | `int | None` |
| **name** | str |

```python
def load_all(*paths):
    return [open(path) for path in paths]
```

- [x] The [guide](https://docs.python.org/3/library/csv.html) has more;
- so have https://peps.python.org/pep-0305/ and [this page](https://example.org/a_(b)?c=1).
"""
GROUP: Final = -100


class Row(NamedTuple):
    """A target, what it is sent, and what people see there."""

    target: str
    sent: str
    seen: str


async def on_telegram(answer: str) -> Row:
    """Return what Telegram is sent."""
    async with FakeTelegram() as fake:
        fake.group(GROUP)
        values = {"token": fake.token, "base_url": fake.base_url}
        api = BotApi(TelegramSettings.model_validate(values))
        await api.open()
        await TelegramSender(api).deliver(OutboundMessage("telegram", str(GROUP), answer))
        await api.close()
        (message,) = fake.messages(GROUP)
        sent = json.dumps({"text": message.text, "entities": message.entities}, ensure_ascii=False)
        targets = [one["url"] for one in message.entities if "url" in one]
        return Row("Telegram", sent, _with_targets(message.text, targets))


async def on_discord(answer: str) -> Row:
    """Return what Discord is sent."""
    with TemporaryDirectory() as home:
        async with discord_bot(Path(home)) as bot:
            bot.model.enqueue(Text((answer,)))
            await bot.ask("What does it do?")
            sent = "\n".join(bot.texts())
    found = discord_reader.read(sent)
    return Row("Discord", sent, _with_targets(found.text, found.targets))


async def on_slack(answer: str) -> Row:
    """Return what Slack is sent."""
    clock = ManualClock()
    fake = FakeSlack(clock=clock.monotonic, sleep=clock.sleep)
    fake.epoch = clock.now().timestamp() - clock.monotonic()
    async with fake, running(fake, clock=clock) as app:
        await app.ready()
        ada, place = fake.user("Ada"), fake.channel()
        fake.say(place, ada, "@tapeway hello")
        await app.heard(1)
        question = app.host.accepted[0]
        await app.channel.deliver(
            OutboundMessage(
                "slack",
                place.id,
                answer,
                idem="t-1:0",
                answers=question.ext_id,
                reply_to=question.message_id,
                turn="t-1",
                date=question.date,
            )
        )
        sent = str(fake.calls_of("chat.postMessage")[0].params["markdown_text"])
    found = slack_reader.read(sent)
    return Row("Slack", sent, _with_targets(found.text, found.targets))


def _with_targets(text: str, targets: list[str]) -> str:
    return f"{text.strip()}\n\n(links: {', '.join(targets)})"


async def on_the_page(answer: str, page: Page, folder: Path | None) -> Row:
    """Return what the page is sent, and draw a picture of it."""
    (shown,) = await on_page(page, [answer])
    if folder:
        await page.set_viewport_size({"width": 760, "height": 620})
        await page.evaluate("(html) => read([html], false)", to_html(answer))
        await page.screenshot(path=folder / "page.png", full_page=True)
    return Row("page", to_html(answer), _with_targets(shown.text, list(shown.targets)))


async def on_a_terminal(answer: str, page: Page, folder: Path | None) -> Row:
    """Return what a terminal shows, and draw a picture of it."""
    seen = drawn(answer)
    if folder:
        style = "font: 15px 'DejaVu Sans Mono', monospace; background: #0d1117; color: #e6edf3"
        await page.set_content(f'<pre style="{style}; padding: 1em">{escape(seen)}</pre>')
        await page.screenshot(path=folder / "terminal.png", full_page=True)
    return Row("terminal", answer, seen)


def table(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of a Markdown table; its cells have lines of their own."""
    yield "| Target | What is sent | What people see |"
    yield "|---|---|---|"
    for row in rows:
        yield f"| {row.target} | {_cell(row.sent)} | {_cell(row.seen)} |"


def _cell(text: str) -> str:
    lines = escape(text.strip(), quote=False).replace("|", "&#124;").replace("`", "&#96;")
    return "<code>" + "<br>".join(lines.split("\n")).replace("  ", "&nbsp; ") + "</code>"


async def rows(folder: Path | None = None) -> list[Row]:
    """Return a row for each target."""
    found = [await on_telegram(ANSWER), await on_discord(ANSWER), await on_slack(ANSWER)]
    async with one_page() as page:
        found.append(await on_the_page(ANSWER, page, folder))
        found.append(await on_a_terminal(ANSWER, page, folder))
    return found


if __name__ == "__main__":
    print(*table(asyncio.run(rows(Path(sys.argv[1]) if sys.argv[1:] else None))), sep="\n")
