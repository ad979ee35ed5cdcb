"""Who may talk to the agent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from channels.base import Channel
from channels.message import Author, InboundMessage, OutboundMessage, Receipt
from gateway.hooks.specs import hookimpl
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import gateway_of, names, settled

MESSAGE = InboundMessage(
    channel="plain",
    chat_id="-100",
    chat_kind="group",
    ext_id="-100/1",
    message_id="1",
    sender=Author("7", "123456789"),
    text="a secret question",
    date="2026-01-01T00:00:00+00:00",
    addressed=True,
    why="mention",
)


class PlainChannel(Channel):
    """A platform that posts and nothing else; each post is a message of its own."""

    name: ClassVar[str] = "plain"

    def __init__(self) -> None:
        super().__init__()
        self.posts: list[OutboundMessage] = []

    async def run(self) -> None:
        self.host.ready()
        await self.host.clock.sleep(1e9)

    async def stop(self) -> None:
        """The task is cancelled with the gateway."""

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        self.posts.append(message)
        return [Receipt(str(len(self.posts)))]


class Brings:
    """A plugin that brings a channel."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    @hookimpl
    def provide_channels(self) -> list[Channel]:
        return [self.channel]


@pytest.mark.anyio
async def test_b7_a_closed_chat_is_refused_once_a_day_and_its_text_is_not_kept(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    async with FakeOpenAI() as server, gateway_of(tmp_path, server, Brings(channel)) as gateway:
        await channel.host.accept([MESSAGE, replace(MESSAGE, ext_id="-100/2", message_id="2")])
        await channel.host.accept([replace(MESSAGE, ext_id="-100/3", addressed=False)])
        await gateway.taken_in()
        entries = await settled(gateway, "plain:-100")
    assert server.requests == []
    (post,) = channel.posts
    assert post.text.startswith("I'm not enabled in this chat yet (`plain:-100`).")
    assert "`,open`" in post.text
    assert "TAPEWAY" not in post.text
    assert names(entries).count("access.refused") == 3
    assert "secret question" not in str([entry.payload for entry in entries])
    assert "secret question" not in str([entry.meta for entry in entries])


@pytest.mark.anyio
async def test_an_open_chat_is_answered_to_the_asking_message(tmp_path: Path) -> None:
    channel = PlainChannel()
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server, Brings(channel), ACCESS__MODE="open") as gateway,
    ):
        await channel.host.accept([MESSAGE])
        await gateway.taken_in()
        await settled(gateway, "plain:-100")
    (post,) = channel.posts
    assert (post.chat_id, post.reply_to) == ("-100", "1")
    assert "a secret question" in post.text
