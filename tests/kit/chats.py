"""A chat with what stands around it: the gateway that hears it, the model, the channel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from channels.message import InboundMessage, OutboundMessage
from gateway.app import Gateway
from tape.entry import Entry
from tape.handle import Tape
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.editing_channel import EditingChannel, Platform, ask
from tests.kit.gateways import gateway_of, settled, tape_of
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel


@dataclass(frozen=True)
class GroupChat:
    """The group in which `MESSAGE` was said, on a channel that only posts."""

    gateway: Gateway
    channel: PlainChannel
    asked: FakeOpenAI | None = None
    session: str = f"plain:{MESSAGE.chat_id}"

    @property
    def model(self) -> FakeOpenAI:
        assert self.asked is not None, "this group was opened without a model"
        return self.asked

    @property
    def posts(self) -> list[OutboundMessage]:
        return self.channel.posts

    @property
    def tape(self) -> Tape:
        return tape_of(self.gateway, self.session)

    async def accept(self, *said: InboundMessage) -> None:
        """Hand messages over, and wait for nothing."""
        await self.channel.host.accept(list(said))

    async def hear(self, *said: InboundMessage) -> list[Entry]:
        """Say something, and wait until no turn runs; returns the tape of the group."""
        await self.accept(*said)
        return await self.settled()

    async def hear_each(self, *said: InboundMessage) -> list[Entry]:
        """Say one thing after another, each once no turn runs; returns the tape of the group."""
        for one in said:
            await self.hear(one)
        return await self.settled()

    async def settled(self) -> list[Entry]:
        return await settled(self.gateway, self.session)


@dataclass(frozen=True)
class PrivateChat:
    """The owner's chat in which `QUESTION` was asked, on a channel that edits its posts."""

    gateway: Gateway
    model: FakeOpenAI
    channel: EditingChannel
    session: str = "editing:1"

    @property
    def platform(self) -> Platform:
        return self.channel.platform

    @property
    def tape(self) -> Tape:
        return tape_of(self.gateway, self.session)

    async def accept(self, *said: InboundMessage) -> None:
        """Hand messages over, and wait for nothing."""
        await self.channel.host.accept(list(said))

    async def ask(self, **change: str) -> list[str]:
        """Ask `QUESTION`, changed like that; returns the names of what is on the tape then."""
        return await ask(self.gateway, self.channel, **change)

    async def settled(self) -> list[Entry]:
        return await settled(self.gateway, self.session)


@asynccontextmanager
async def open_group(
    home: Path,
    model: FakeOpenAI | None = None,
    /,
    *plugins: object,
    channel: Any = None,  # a PlainChannel, and a Clock: but callers pass `**dict[str, str]`
    clock: Any = None,
    **more: str,
) -> AsyncIterator[GroupChat]:
    """Run a gateway of one's own, with a group that is open to everybody.

    The fixture `group` does it for a test that needs one gateway, and no plugin.
    """
    channel = channel or PlainChannel()
    plugins = (Brings(channel), *plugins)
    settings = {"ACCESS__MODE": "open", **more}
    async with gateway_of(home, model, *plugins, clock=clock, **settings) as gateway:
        yield GroupChat(gateway, channel, model)
