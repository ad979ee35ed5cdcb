"""A Slack channel that runs against the fake without a gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio
import httpx2
from starlette.applications import Starlette

from channels.host import Cursors
from channels.slack.adapter import SlackChannel
from channels.slack.settings import SlackSettings
from tests.channels.telegram.hosts import Host
from tests.clock import ManualClock
from tests.fakes.slack.server import FakeSlack


class SlackHost(Host):
    """Takes every message once; `known` are the marks that it has."""

    known = Cursors()
    caught: int = 0

    async def cursors(self) -> Cursors:
        return self.known

    def gap_closed(self, marks: Cursors | None = None) -> None:
        self.caught += 1
        self._tell()

    def down(self, why: str) -> None:
        super().down(why)
        self._tell()

    def warn(self, text: str) -> None:
        super().warn(text)
        self._tell()


class Running:
    """A channel that runs against the fake, and how it ended."""

    def __init__(self, channel: SlackChannel, host: SlackHost, fake: FakeSlack) -> None:
        self.channel = channel
        self.host = host
        self.fake = fake
        self.ended: Exception | None = None
        self.end = anyio.Event()

    async def run(self) -> None:
        try:
            await self.channel.start(self.host)
        except Exception as cause:
            self.ended = cause
        self.end.set()

    async def error(self) -> Exception:
        """Wait for the end, and return why it came."""
        with anyio.fail_after(10):
            await self.end.wait()
        assert self.ended is not None
        return self.ended

    async def ready(self) -> None:
        await self.host.until(lambda: self.host.times_ready > 0)

    async def heard(self, count: int) -> None:
        """Wait until so much was accepted."""
        await self.host.until(lambda: len(self.host.accepted) >= count)

    @property
    def clock(self) -> ManualClock:
        assert isinstance(self.host.clock, ManualClock)
        return self.host.clock

    @asynccontextmanager
    async def web(self) -> AsyncIterator[httpx2.AsyncClient]:
        """Speak to the channel's routes."""
        transport = httpx2.ASGITransport(app=Starlette(routes=list(self.channel.routes())))
        async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as client:
            yield client


def slack(clock: ManualClock | None = None) -> FakeSlack:
    """Return a fake Slack; with a clock its times are those of the channel."""
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
    marks: Cursors | None = None,
    refuses: Sequence[Exception] = (),
    **more: object,
) -> AsyncIterator[Running]:
    """Run a channel against a fake for as long as the block runs."""
    values: dict[str, object] = {
        "bot_token": fake.bot_token,
        "app_token": "" if http else fake.app_token,
        "signing_secret": fake.signing_secret,
        "base_url": fake.base_url,
        "hold": 0,
        **more,
    }
    channel = SlackChannel(SlackSettings.model_validate(values))
    async with anyio.create_task_group() as group:
        host = SlackHost(group, clock or ManualClock(datetime.now(UTC)))
        host.refuses = list(refuses)
        host.known = marks or Cursors()
        found = Running(channel, host, fake)
        group.start_soon(found.run)
        try:
            yield found
        finally:
            with anyio.CancelScope(shield=True):
                await channel.stop()
                await found.end.wait()
                await channel.close()
            group.cancel_scope.cancel()
