"""A door that holds messages back before they are on a tape, and what waits behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from channels.message import InboundMessage
from gateway.hooks.specs import hookimpl
from tape.entry import Entry
from tests.kit.chats import GroupChat
from tests.kit.plain_channels import MESSAGE

FIRST = replace(MESSAGE, chat_id="-1", ext_id="-1/1", addressed=False, text="the first of all")


@dataclass
class Door:
    """A plugin that admits nothing while it is closed, and notes what it has admitted."""

    opened: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    texts: list[str] = field(default_factory=list)

    @hookimpl
    async def admit_message(self, message: InboundMessage) -> None:
        self.came.set()
        await self.opened.wait()
        self.texts.append(message.text)


def talk(chat: str, numbers: Sequence[int], **change: object) -> list[InboundMessage]:
    """Return what is said in a chat to nobody in particular."""
    plain = replace(MESSAGE, chat_id=chat, addressed=False, why="", **change)  # type: ignore[arg-type]
    return [
        replace(plain, ext_id=f"{chat}/{n}", message_id=str(n), text=f"{chat} no {n}")
        for n in numbers
    ]


def texts_of(entries: Sequence[Entry]) -> list[str]:
    """Return the texts of messages, in the order of the tape."""
    return [
        entry.meta["text"] for entry in entries if entry.kind == "message" and "text" in entry.meta
    ]


async def held(group: GroupChat, door: Door, *said: InboundMessage) -> None:
    """Have a first message wait in the door, and others behind it."""
    await group.accept(FIRST)
    await door.came.wait()
    await group.accept(*said)
