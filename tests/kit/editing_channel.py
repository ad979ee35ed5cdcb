"""A channel that posts and edits, and its platform: what people see of drafts and answers."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import ClassVar

import anyio

from channels.base import Channel
from channels.capabilities import Capability
from channels.draft import DraftReference
from channels.message import Author, InboundMessage, OutboundMessage, Receipt
from channels.traits import Traits
from gateway.app import Gateway
from tests.kit.gateways import names, settled

QUESTION = InboundMessage(
    channel="editing",
    chat_id="1",
    ext_id="1/1",
    message_id="1",
    sender=Author("7", "Alice"),
    text="what is it?",
    date="2026-01-01T00:00:00+00:00",
    addressed=True,
    why="private chat",
    owner=True,
)


class Platform:
    """What the people of the platform see: its messages by id; survives the gateway."""

    def __init__(self) -> None:
        self.messages: dict[str, str] = {}
        self.changed = anyio.Event()

    def put(self, message_id: str | None, text: str) -> str:
        fresh = (f"m{number}" for number in itertools.count(len(self.messages) + 1))
        message_id = message_id or next(one for one in fresh if one not in self.messages)
        self.messages[message_id] = text
        self.changed.set()
        self.changed = anyio.Event()
        return message_id

    async def shows(self, text: str) -> None:
        while text not in self.messages.values():
            await self.changed.wait()


class EditingChannel(Channel):
    """Posts and edits; `faults` are raised by the next finals, after the platform has them."""

    name: ClassVar[str] = "editing"
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"edit"})
    traits: Traits = Traits(edit_interval=0.0)

    def __init__(self, platform: Platform, *, streams: bool = True) -> None:
        super().__init__()
        if not streams:
            self.capabilities = frozenset()  # type: ignore[misc]
        self.platform = platform
        self.before: list[Exception] = []
        self.after: list[Exception] = []
        self.hang = False
        self.slow: anyio.Event | None = None
        self.showing = anyio.Event()

    async def run(self) -> None:
        self.host.ready()
        await anyio.sleep_forever()

    async def stop(self) -> None:
        """The task is cancelled with the gateway."""

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str:
        self.showing.set()
        if self.slow is not None:
            await self.slow.wait()
        return self.platform.put(place.platform_id, text)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        if self.before:
            raise self.before.pop(0)
        receipt = Receipt(self.platform.put(message.edits, message.text))
        if self.hang:
            await anyio.sleep_forever()
        if self.after:
            raise self.after.pop(0)
        return [receipt]


async def ask(gateway: Gateway, channel: EditingChannel, **change: str) -> list[str]:
    await channel.host.accept([replace(QUESTION, **change)])  # type: ignore[arg-type]
    await gateway.taken_in()
    return names(await settled(gateway, "editing:1"))
