"""A channel of twelve lines runs on the published host."""

from __future__ import annotations

import anyio
import pytest

from channels import Author, Channel, ChannelDown, InboundMessage, OutboundMessage, Receipt
from channels.testing import FakeHost, run_channel
from tests.kit.clock import ManualClock


class Echo(Channel):
    name = "echo"

    async def run(self) -> None:
        self.stopping, self.sent = anyio.Event(), list[str]()
        await self.host.accept([HELLO])
        self.host.ready()
        await self.stopping.wait()

    async def stop(self) -> None:
        self.stopping.set()

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        self.sent.append(message.text)
        return [Receipt(str(len(self.sent)))]


HELLO = InboundMessage("echo", "1", "1/1", "1", Author("7", "Ada"), "hello", "2026-01-02")
ANSWER = OutboundMessage("echo", "1", "hello back")


async def test_a_channel_of_a_few_lines_runs_on_the_fake_host() -> None:
    channel, host = Echo(), FakeHost()
    async with run_channel(channel, host):
        await host.until(lambda: host.times_ready == 1)
        assert host.texts() == ["hello"]
        assert await channel.send(ANSWER) == [Receipt("1")]
    assert channel.sent == ["hello back"]


async def test_a_message_is_accepted_once() -> None:
    host = FakeHost()
    assert await host.accept([HELLO, HELLO]) == {"1/1"}
    assert await host.accept([HELLO]) == set()
    assert host.accepted == [HELLO]


async def test_an_error_that_nobody_looks_at_ends_the_block() -> None:
    host = FakeHost(ManualClock())
    host.refusals = [ChannelDown("the disk is full")]
    channel = Echo()
    with pytest.raises(ChannelDown, match="the disk is full"):
        async with run_channel(channel, host):
            await host.until(lambda: not host.refusals)


async def test_a_failed_channel_can_be_started_again() -> None:
    host = FakeHost(ManualClock())
    host.refusals = [ChannelDown("the disk is full")]
    async with run_channel(Echo(), host) as run:
        assert str(await run.error()) == "the disk is full"
        run.start()
        await host.until(lambda: host.times_ready == 1)
