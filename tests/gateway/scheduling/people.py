"""A group of people and the agent, on a platform with buttons."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from channels.capabilities import Capability
from channels.message import Author, InboundMessage, OutboundMessage
from gateway.app import Gateway
from gateway.storage.ledger.access import AccessRule
from tape.entry import Entry
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled, tape_of
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel

OWNER = "1"  # writes as the owner; everybody else is a member of the group
ADMIN = "2"  # by a rule of the owner's


class ButtonChannel(PlainChannel):
    """A platform that posts, with buttons; it keeps what was shown to the pressers."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"buttons"})

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        self.shown.append(text)


class Group:
    """The people of the group `plain:-100`."""

    def __init__(
        self, gateway: Gateway, channel: ButtonChannel, server: FakeOpenAI, first: int
    ) -> None:
        self.gateway = gateway
        self.channel = channel
        self.server = server
        self.tape = tape_of(gateway, "plain:-100")
        self._count = first

    def message(self, person: str, text: str, **more: Any) -> InboundMessage:
        self._count += 1
        return replace(
            MESSAGE,
            sender=Author(person, f"P{person}"),
            owner=person == OWNER,
            text=text,
            message_id=f"m{self._count}",
            ext_id=f"-100/m{self._count}",
            **more,
        )

    async def accept(self, *messages: InboundMessage) -> None:
        await self.channel.host.accept(list(messages))

    async def say(self, person: str, text: str, **more: Any) -> InboundMessage:
        """Have a person say something, and wait until nothing is left to do."""
        said = self.message(person, text, **more)
        await self.accept(said)
        await self.entries()
        return said

    async def entries(self) -> list[Entry]:
        return await settled(self.gateway, "plain:-100")

    def replies(self, said: InboundMessage) -> list[str]:
        return [post.text for post in self.channel.posts if post.answers == said.ext_id]

    def press(self, person: str, card: OutboundMessage, label: str) -> InboundMessage:
        (token,) = [button.token for button in card.buttons if button.label == label]
        at = str(self.channel.posts.index(card) + 1)
        pressed = self.message(person, "", kind="press", press=token, addressed=False)
        return replace(pressed, message_id=at, ext_id=f"press/{pressed.message_id}")


@asynccontextmanager
async def group_of(
    home: Path, *plugins: object, first: Any = 0, clock: Any = None, **more: str
) -> AsyncIterator[Group]:
    """Run a gateway for the group, with an admin; its messages' ids begin after `first`."""
    channel = ButtonChannel()
    settings = {"ACCESS__ALLOW": "plain:-100", **more}
    async with (
        FakeOpenAI() as server,
        gateway_of(home, server, Brings(channel), *plugins, clock=clock, **settings) as gateway,
    ):
        access = gateway.parts.requests.openings.access
        access.put(AccessRule("plain", ADMIN, "admin"))
        yield Group(gateway, channel, server, first)
