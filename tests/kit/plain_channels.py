"""Channels without a platform, the plugin that brings one, and a message of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

import anyio

from channels.base import Channel
from channels.message import Author, Excerpt, InboundMessage, OutboundMessage, Receipt
from gateway.access.pairing import Pairing
from gateway.hooks.specs import hookimpl
from tests.kit.clock import ManualClock

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


class LookingUp(PlainChannel):
    """A platform that gives the rest of a message when it is asked for it."""

    def __init__(self, *troubles: Callable[[], Exception]) -> None:
        super().__init__()
        self.troubles = list(troubles)
        self.asked: list[str] = []
        self.gate = anyio.Event()
        self.gate.set()

    async def complete(self, message: InboundMessage) -> InboundMessage:
        self.asked.append(message.message_id)
        await self.gate.wait()
        if self.troubles:
            trouble = self.troubles.pop(0)
            raise trouble()
        mail = Excerpt("mail", f"the mail of {message.message_id}", "Zed")
        return replace(message, excerpts=(mail,), ext_id="another", incomplete=False)


class Brings:
    """A plugin that brings a channel."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    @hookimpl
    def provide_channels(self) -> list[Channel]:
        return [self.channel]


PRIVATE = replace(MESSAGE, chat_kind="private", chat_id="7")


class PairedChannel(PlainChannel):
    """A platform on which somebody can become an owner."""

    def pairing_hint(self, code: str) -> str:
        return f"Send me: pair {code}"


def made(clock: ManualClock | None = None) -> tuple[Pairing, str]:
    channels: Mapping[str, Channel] = {"plain": PairedChannel()}
    pairing = Pairing(clock or ManualClock(), channels)
    return pairing, pairing.new_code()


def sent(text: str, number: int = 1, person: str = "7", **more: str) -> InboundMessage:
    said = replace(PRIVATE, text=text, ext_id=f"7/{number}", sender=Author(person, "Ann"))
    return replace(said, **more)  # type: ignore[arg-type]
