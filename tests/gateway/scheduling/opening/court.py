"""A platform with buttons, administrators and private chats, for tests of access."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import ClassVar

import anyio

from channels.capabilities import Capability
from channels.errors import ChannelDown, SendRefused
from channels.message import Author, InboundMessage, OutboundMessage, Receipt
from gateway.app import Gateway
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import PATIENT, gateway_of, over
from tests.kit.mortal import MortalStore
from tests.kit.plain_channels import MESSAGE, Brings, PairedChannel

NUMBERS = count(1)
GROUP = replace(MESSAGE, chat_title="Team", server_id="500")


class CourtChannel(PairedChannel):
    """A platform on which buttons are pressed; person N writes in private in the chat `dm-N`."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"buttons", "admins"})

    def __init__(self) -> None:
        super().__init__()
        self.admins: set[str] = set()
        self.asked: list[str] = []
        self.shown: list[tuple[str, str]] = []
        self.away = False
        self.cut_off = False
        self.delivered = anyio.Event()

    async def administers(self, message: InboundMessage) -> bool:
        self.asked.append(message.sender.id)
        if self.away:
            raise ChannelDown("the platform is away")
        return message.sender.id in self.admins

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        self.shown.append((press.sender.id, text))

    async def private_chat(self, person_id: str, account: str = "") -> str:
        if person_id == "unreachable":
            raise SendRefused("no private chat")
        return f"dm-{person_id}"

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        if self.cut_off:
            raise ChannelDown("its gateway was killed")
        receipts = await super().deliver(message)
        self.delivered.set()
        self.delivered = anyio.Event()
        return receipts


@dataclass(frozen=True)
class Court:
    """The gateway of a group whose admin may let the bot in, and what people do there."""

    gateway: Gateway
    channel: CourtChannel

    @property
    def posts(self) -> list[OutboundMessage]:
        return self.channel.posts

    async def accept(self, *said: InboundMessage) -> None:
        await self.channel.host.accept(list(said))

    # -- what people do

    async def say(self, text: str, person: str = "7", **more: object) -> None:
        """Say something, in the group unless `more` says otherwise, and wait for the end of it."""
        number = next(NUMBERS)
        said = replace(GROUP, text=text, sender=Author(person, f"Person {person}"))
        place = {"message_id": f"m{number}", "ext_id": f"e{number}", **more}
        said = replace(said, **place)  # type: ignore[arg-type]
        await self.accept(said)
        await self.gateway.idle()

    async def whisper(self, text: str, person: str = "7") -> None:
        """Say something in private."""
        place = {"chat_kind": "private", "chat_id": f"dm-{person}", "server_id": ""}
        await self.say(text, person, chat_title="", **place)

    async def pair(self, person: str = "1") -> None:
        """Make somebody an owner."""
        await self.whisper(f"pair {self.gateway.parts.pairing.new_code()}", person)

    def press_of(self, label: str, person: str = "1") -> InboundMessage:
        """Return the press of a button of the newest message to a person that has buttons."""
        card = [post for post in self.to(person) if post.buttons][-1]
        (token,) = [button.token for button in card.buttons if button.label == label]
        return replace(
            GROUP,
            kind="press",
            press=token,
            chat_kind="private",
            chat_id=card.chat_id,
            message_id=str(self.posts.index(card) + 1),
            ext_id=f"press/{next(NUMBERS)}",
            sender=Author(person, f"Person {person}"),
        )

    async def press(self, label: str, person: str = "1") -> None:
        await self.accept(self.press_of(label, person))
        await self.gateway.idle()

    # -- what people see

    def to(self, person: str) -> list[OutboundMessage]:
        return [post for post in self.posts if post.chat_id == f"dm-{person}"]

    async def until_written_to(self, person: str) -> None:
        while not self.to(person):
            await self.channel.delivered.wait()

    def in_group(self, chat_id: str = "-100") -> list[str]:
        return [post.text for post in self.posts if post.chat_id == chat_id]


@asynccontextmanager
async def court_of(
    home: Path, store: MortalStore | None = None, **more: str
) -> AsyncIterator[Court]:
    """Run a gateway that is closed by default, in the given store or in one of its own."""
    channel = CourtChannel()
    internals = PATIENT if store is None else over(store)
    plugin, given = Brings(channel), {"ACCESS__MODE": "paired", **more}
    async with (
        FakeOpenAI() as server,
        gateway_of(home, server, plugin, internals=internals, **given) as gateway,
    ):
        yield Court(gateway, channel)
