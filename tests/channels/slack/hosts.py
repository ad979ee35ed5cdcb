"""A Slack channel that runs against the fake, on a host without a gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio
import httpx2
from starlette.applications import Starlette

from channels.host import Cursors
from channels.slack.adapter import SlackChannel
from channels.slack.settings import SlackSettings
from channels.testing import ChannelRun, FakeHost, run_channel
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock
from tests.kit.play import Play
from tests.kit.stages.slack import SlackStage


@dataclass
class Running:
    """A channel that runs against the fake."""

    channel: SlackChannel
    host: FakeHost
    clock: ManualClock
    fake: FakeSlack
    run: ChannelRun

    async def error(self) -> Exception:
        """Wait until the channel fails, and return its error."""
        return await self.run.error()

    async def ready(self) -> None:
        await self.host.until(lambda: self.host.times_ready > 0)

    async def heard(self, count: int) -> None:
        """Wait until `count` messages have been accepted."""
        await self.host.until(lambda: len(self.host.accepted) >= count)

    @asynccontextmanager
    async def web(self) -> AsyncIterator[httpx2.AsyncClient]:
        """Return a client of the channel's routes."""
        transport = httpx2.ASGITransport(app=Starlette(routes=list(self.channel.routes())))
        async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as client:
            yield client


def slack(clock: ManualClock | None = None) -> FakeSlack:
    """Return a fake Slack, with the channel's clock if one is given."""
    if clock is None:
        return FakeSlack()
    fake = FakeSlack(clock=clock.monotonic, sleep=clock.sleep)
    fake.epoch = clock.now().timestamp() - clock.monotonic()
    return fake


@asynccontextmanager
async def running(
    fake: FakeSlack,
    *,
    clock: ManualClock | None = None,
    http: bool = False,
    cursors: Cursors | None = None,
    refusals: Sequence[Exception] = (),
    **more: object,
) -> AsyncIterator[Running]:
    """Run a channel against a fake for as long as the block runs; an error ends the test."""
    values: dict[str, object] = {
        "bot_token": fake.bot_token,
        "app_token": "" if http else fake.app_token,
        "signing_secret": fake.signing_secret,
        "base_url": fake.base_url,
        "reorder_seconds": 0,
        **more,
    }
    channel = SlackChannel(SlackSettings.model_validate(values))
    clock = clock or ManualClock(datetime.now(UTC))
    host = FakeHost(clock, ("Tapeway", "Robin"))
    host.known, host.refusals = cursors or Cursors(), list(refusals)
    async with run_channel(channel, host) as run:
        yield Running(channel, host, clock, fake, run)


async def all_delivered(fake: FakeSlack) -> None:
    """Wait until Slack has delivered every event."""
    with anyio.fail_after(30):
        await fake.wait_for(lambda it: not it.deliveries.pending)


def fake_of(slack: Play) -> FakeSlack:
    """Return the Slack of a whole gateway's play."""
    assert isinstance(slack.stage, SlackStage)
    return slack.stage.fake
