"""A Telegram channel that runs against the fake, on a host without a gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from channels.telegram.adapter import TelegramChannel
from channels.telegram.settings import TelegramSettings
from channels.testing import ChannelRun, FakeHost, run_channel
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.clock import ManualClock


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
