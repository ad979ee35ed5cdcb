"""A platform with buttons, administrators and private chats, for tests of access."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import ClassVar

import anyio

from channels.base import Capability
from channels.errors import ChannelDown, SendRefused
from channels.message import Author, InboundMessage, OutboundMessage, Receipt
from gateway.app import Gateway
from tests.kit.plain_channels import MESSAGE, PairedChannel

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
        self._delivered = anyio.Event()

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
        self._delivered.set()
        self._delivered = anyio.Event()
        return receipts

    # -- what people do

    async def say(self, gateway: Gateway, text: str, person: str = "7", **more: object) -> None:
        """Say something, in the group unless `more` says otherwise, and wait for the end of it."""
        number = next(NUMBERS)
        said = replace(GROUP, text=text, sender=Author(person, f"Person {person}"))
        place = {"message_id": f"m{number}", "ext_id": f"e{number}", **more}
        said = replace(said, **place)  # type: ignore[arg-type]
        await self.host.accept([said])
        await gateway.idle()

    async def whisper(self, gateway: Gateway, text: str, person: str = "7") -> None:
        """Say something in private."""
        place = {"chat_kind": "private", "chat_id": f"dm-{person}", "server_id": ""}
        await self.say(gateway, text, person, chat_title="", **place)

    async def pair(self, gateway: Gateway, person: str = "1") -> None:
        """Make somebody an owner."""
        await self.whisper(gateway, f"pair {gateway.parts.pairing.new_code()}", person)

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

    async def press(self, gateway: Gateway, label: str, person: str = "1") -> None:
        await self.host.accept([self.press_of(label, person)])
        await gateway.idle()

    # -- what people see

    def to(self, person: str) -> list[OutboundMessage]:
        return [post for post in self.posts if post.chat_id == f"dm-{person}"]

    async def until_written_to(self, person: str) -> None:
        while not self.to(person):
            await self._delivered.wait()

    def in_group(self, chat_id: str = "-100") -> list[str]:
        return [post.text for post in self.posts if post.chat_id == chat_id]
