"""A tool that asks before it acts, and the people who answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import orjson

from agent.tool import Role, Tool, ToolContext
from agent.tool_decorator import tool
from channels.capabilities import Capability
from channels.message import Author, InboundMessage, OutboundMessage, Receipt
from channels.testing import Chat
from gateway.app import Gateway
from gateway.hooks.specs import hookimpl
from tape.entry import Entry
from tests.fakes.openai.script import Call, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform
from tests.kit.gateways import gateway_of, over, settled
from tests.kit.mortal import MortalStore
from tests.kit.plain_channels import Brings
from tests.kit.play import House
from tests.kit.stages.telegram import TelegramStage

ALICE, BOB = Author("7", "Alice"), Author("8", "Bob")


class Launcher:
    """A plugin whose tool has side effects; it counts its runs."""

    def __init__(self, role: Role = Role.MEMBER) -> None:
        self.ran: list[str] = []
        self.role = role

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        @tool(name="launch", role=self.role, side_effects=True, first=True)
        async def launch(context: ToolContext, where: str) -> object:
            """Launch it."""
            self.ran.append(where)
            return f"launched to {where}"

        return [launch]


class ButtonChannel(EditingChannel):
    """A platform with buttons, where somebody is shown something alone."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"edit", "buttons"})

    def __init__(self) -> None:
        super().__init__(Platform())
        self.sent: list[OutboundMessage] = []
        self.shown: list[tuple[str, str]] = []

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        self.sent.append(message)
        return await super().deliver(message)

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        self.shown.append((press.sender.id, text))

    async def private_chat(self, person_id: str, account: str = "") -> str:
        del account
        return f"p{person_id}"


@dataclass
class Scene:
    """A group with Alice and Bob, a launcher, and a model that calls it."""

    gateway: Gateway
    channel: ButtonChannel
    server: FakeOpenAI
    launcher: Launcher
    asked: int = field(default=0)

    async def says(self, author: Author, text: str, **more: Any) -> list[Entry]:
        """Say something in the group, and wait until it is answered."""
        self.asked += 1
        number = f"s{self.asked}"
        said = replace(
            QUESTION,
            sender=author,
            text=text,
            ext_id=f"1/{number}",
            message_id=number,
            chat_kind="group",
            owner=False,
        )
        return await self._accept(replace(said, **more))

    async def presses(self, author: Author, choice: str, **more: Any) -> list[Entry]:
        """Press a button of the last card."""
        (token,) = {one.token for one in self.card.buttons if one.token.endswith(f":{choice}")}
        self.asked += 1
        press = replace(
            QUESTION, sender=author, kind="press", ext_id=f"press/{self.asked}", press=token
        )
        press = replace(press, text="", chat_kind="group", owner=False, addressed=False)
        return await self._accept(replace(press, **more))

    @property
    def card(self) -> OutboundMessage:
        return next(message for message in reversed(self.channel.sent) if message.buttons)

    async def _accept(self, message: InboundMessage) -> list[Entry]:
        await self.channel.host.accept([message])
        return await settled(self.gateway, "editing:1")


def launching(where: str = "mars") -> ToolCalls:
    arguments = orjson.dumps({"where": where}).decode()
    return ToolCalls((Call("call_1", "launch", arguments),))


@asynccontextmanager
async def scene(
    home: Path,
    allow: str = "editing:1",
    role: Role = Role.MEMBER,
    store: MortalStore | None = None,
    channel: ButtonChannel | None = None,
    **more: Any,
) -> AsyncIterator[Scene]:
    channel, launcher = channel or ButtonChannel(), Launcher(role)
    more = {"ACCESS__ALLOW": allow, **more}
    if store is not None:
        more = {"TAPE__URL": "memory:", "internals": over(store), **more}
    async with FakeOpenAI() as server:
        plugins = (Brings(channel), launcher)
        async with gateway_of(home, server, *plugins, **more) as gateway:
            yield Scene(gateway, channel, server, launcher)


def allow(house: House, chat: Chat) -> None:
    """Have Alice press the button that allows the call."""
    assert isinstance(house.stage, TelegramStage)
    fake = house.stage.fake
    shown = fake.chat(int(chat.id)).messages
    (card,) = [number for number, one in shown.items() if one.buttons]
    (alice,) = [user for user in fake.world.users.values() if user.first_name == "Alice"]
    fake.press(int(chat.id), alice, card, "Allow")
