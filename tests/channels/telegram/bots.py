"""Telegram's channel against the fake, alone on a host or in a gateway; one clock for both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from channels.telegram.adapter import TelegramChannel
from channels.telegram.settings import TelegramSettings
from channels.testing import ChannelRun, FakeHost, run_channel
from gateway.app import Gateway
from tape.entry import Entry
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import User
from tests.kit import gateways
from tests.kit.clock import ManualClock
from tests.kit.gateways import make_settings, tape_of, with_plugins
from tests.kit.waiting import PATIENCE_SECONDS

GROUP = -1001
STEP = 0.1
"""So many seconds pass at once; between two steps the sockets have a moment."""


@dataclass
class Bot:
    """A bot in its gateway, and both sides that it talks to.

    `moment` is what the sockets and the disk have between two steps, seconds of the real clock:
    what counts how long a request is under way needs more of them.
    """

    gateway: Gateway
    fake: FakeTelegram
    model: FakeOpenAI
    clock: ManualClock
    moment: float = 0.002

    async def until(self, wanted: Callable[[], object]) -> None:
        """Advance the clock until a condition holds."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while not wanted():
                await self.pass_by(STEP)

    async def pass_by(self, seconds: float) -> None:
        """Let so much time pass, with a moment for the sockets at each step."""
        for _ in range(max(1, round(seconds / STEP))):
            await self.clock.advance(STEP)
            await anyio.sleep(self.moment)

    async def settled(self, chat: int) -> list[Entry]:
        """Wait until all that was said is answered and sent; returns the tape."""
        await self.until(lambda: not self.fake.updates.pending)
        async with anyio.create_task_group() as group:
            group.start_soon(self._tick)
            await self.gateway.idle()
            group.cancel_scope.cancel()
        return await tape_of(self.gateway, f"telegram:{chat}").read()

    async def _tick(self) -> None:
        while True:
            await self.pass_by(STEP)

    def prompts(self) -> list[str]:
        """Return what each call of the model was asked, as one text."""
        return [
            "\n".join(_text(message) for message in request.body["messages"])
            for request in self.model.requests
        ]

    def state(self) -> str:
        """Return how the channel is."""
        return self.gateway.status.states["telegram"].state


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(str(part.get("text", "[an image]")) for part in parts)


@asynccontextmanager
async def telegram_bot(
    home: Path,
    *plugins: object,
    fake: FakeTelegram | None = None,
    limits: bool = False,
    **more: str,
) -> AsyncIterator[Bot]:
    """Run a bot that is open to everybody; `more` are settings."""
    clock = ManualClock()
    async with (
        fake or FakeTelegram(limits=limits, clock=clock.monotonic) as telegram,
        FakeOpenAI() as model,
    ):
        more = {
            "TELEGRAM__TOKEN": telegram.token,
            "TELEGRAM__BASE_URL": telegram.base_url,
            "ACCESS__MODE": "open",
            "WEB__ENABLED": "false",
            **more,
        }
        settings = make_settings(home, model, **more)
        async with gateways.running(
            settings, plugins=with_plugins(*plugins), clock=clock
        ) as gateway:
            yield Bot(gateway, telegram, model, clock)


def in_group(bot: Bot) -> User:
    """Make a group and somebody in it."""
    bot.fake.group(GROUP, "Ops")
    return bot.fake.user(7, "Ada")


def in_private(bot: Bot) -> User:
    """Make somebody with a private chat."""
    ada = bot.fake.user(7, "Ada")
    bot.fake.private_chat(ada)
    return ada


@dataclass
class Running:
    """A channel that runs against the fake."""

    channel: TelegramChannel
    host: FakeHost
    clock: ManualClock
    fake: FakeTelegram
    run: ChannelRun

    async def error(self) -> Exception:
        """Wait until the channel fails, and return its error."""
        return await self.run.error()


@asynccontextmanager
async def running(
    fake: FakeTelegram, *, holds: bool = False, refuses: Sequence[Exception] = (), **more: object
) -> AsyncIterator[Running]:
    """Run a channel against a fake for as long as the block runs."""
    values = {"token": fake.token, "base_url": fake.base_url, **more}
    channel = TelegramChannel(TelegramSettings.model_validate(values))
    clock = ManualClock()
    host = FakeHost(clock, ("Tapeway", "Robin"))
    host.holds_unknown_outcomes = holds
    host.refusals = list(refuses)
    async with run_channel(channel, host) as run:
        yield Running(channel, host, clock, fake, run)
