"""Two processes of one gateway on a stage: one listens to the platform, the other only attaches."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from channels.base import Channel
from channels.facts import OwnFacts
from channels.message import InboundMessage, OutboundMessage
from channels.registry import make_channel
from channels.testing import FakeHost, run_channel
from tests.kit.clock import RestingClock
from tests.kit.gateways import make_settings
from tests.kit.stages.registry import STAGES, OpenStage


@dataclass
class Pair:
    """Two processes of one gateway: one listens, and `sender` is attached in the other.

    Each has a host; the facts are those of both.
    """

    stage: OpenStage
    clock: RestingClock
    host: FakeHost
    other: FakeHost
    listener: Channel
    sender: Channel

    async def heard(self, text: str) -> InboundMessage:
        """Return the message with some text, which the listening process has accepted."""
        await self.clock.run(self.host.until(lambda: any(text in it for it in self.host.texts())))
        return next(one for one in self.host.accepted if text in one.text)


@asynccontextmanager
async def attached(
    name: str, home: Path, stage: OpenStage, clock: RestingClock, facts: OwnFacts
) -> AsyncIterator[tuple[Channel, FakeHost]]:
    """Attach a channel, in a process that does not run it."""
    channel = make_channel(name, getattr(make_settings(home, None, **stage.settings()), name))
    host = FakeHost(clock)
    host.facts = facts
    async with attached_to(channel, host):
        await clock.run(channel.attach(host))
        yield channel, host


@asynccontextmanager
async def attached_to(channel: Channel, host: FakeHost) -> AsyncIterator[None]:
    """Stop and close a channel at the end, whose background work runs meanwhile."""
    async with anyio.create_task_group() as group:
        host.open(group)
        try:
            yield
        finally:
            await channel.stop()
            await channel.close()
            group.cancel_scope.cancel()


@asynccontextmanager
async def pair(name: str, home: Path) -> AsyncIterator[Pair]:
    clock = RestingClock()
    host, facts = FakeHost(clock), OwnFacts(clock, shared=True)
    host.facts = facts
    async with STAGES[name](clock) as stage:
        own = getattr(make_settings(home, None, **stage.settings()), name)
        listener = make_channel(name, own)
        async with run_channel(listener, host):
            await clock.run(host.until(lambda: host.times_ready > 0))
            async with attached(name, home, stage, clock, facts) as (sender, other):
                yield Pair(stage, clock, host, other, listener, sender)


def answer(said: InboundMessage, text: str, edits: str | None = None) -> OutboundMessage:
    return OutboundMessage(
        said.channel,
        said.chat_id,
        text,
        idem=f"{said.ext_id}:0",
        account=said.account,
        thread_id=said.thread_id,
        reply_to=said.message_id,
        answers=said.ext_id,
        edits=edits,
        turn="t-1",
        date=said.date,
    )
