"""Partial text and what its chat is to be sent before it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import anyio

from channels.host import ChannelEvent
from channels.message import InboundMessage, OutboundMessage, Receipt
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import settle
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform
from tests.kit.gateways import gateway_of, settled
from tests.kit.plain_channels import Brings


class SlowChannel(EditingChannel):
    """Its first send is under way for as long as the test wants."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform)
        self.sending = anyio.Event()
        self.heard = anyio.Event()
        self.arrives = anyio.Event()

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        await super().on_event(event, message)
        if event.kind == "text" and message.message_id == "2":
            self.heard.set()

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        self.sending.set()
        await self.arrives.wait()
        return await super().deliver(message)


async def test_partial_text_does_not_stand_before_an_answer_that_is_still_under_way(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    platform, gate = Platform(), asyncio.Event()
    channel = SlowChannel(platform)
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        model.enqueue(Text(("the second ", "answer"), gate=gate))
        await channel.host.accept([replace(QUESTION, text=",help")])
        await channel.sending.wait()
        await channel.host.accept([replace(QUESTION, ext_id="1/2", message_id="2")])
        await channel.heard.wait()
        with anyio.move_on_after(0.05):
            await channel.showing.wait()
        assert platform.messages == {}
        channel.arrives.set()
        await platform.shows("the second ")
        gate.set()
        await settled(gateway, "editing:1")
    assert list(platform.messages) == ["m1", "m2"]
    assert platform.messages["m2"] == "the second answer"


async def test_an_answer_that_is_done_before_its_partial_text_could_be_shown_is_sent(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    platform = Platform()
    channel = SlowChannel(platform)
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        model.enqueue(Text(("the second ", "answer")))
        await channel.host.accept([replace(QUESTION, text=",help")])
        await channel.sending.wait()
        await channel.host.accept([replace(QUESTION, ext_id="1/2", message_id="2")])
        await channel.heard.wait()
        await settle()
        channel.arrives.set()
        await settled(gateway, "editing:1")
    assert list(platform.messages) == ["m1", "m2"]
    assert platform.messages["m2"] == "the second answer"
