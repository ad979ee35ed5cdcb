"""Channels of our own: rooms without a platform, shown by the gateway's page or a terminal.

A room's past is read from the host (its tape), its present is in the hub. A message of ours has
the key of its send as its id, so that a second send shows the same message: sending is idempotent.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Final

import anyio

from channels.base import Capability, Channel, Traits
from channels.draft import DraftReference
from channels.host import ChannelEvent
from channels.message import InboundMessage, OutboundMessage, Receipt, ShownMessage
from channels.room.hub import Hub, Json

HISTORY: Final = 200
"""So many messages are shown to somebody who comes in."""


class RoomChannel(Channel):
    """The base of the web page's and the terminal's channel."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"edit", "typing", "native_stream", "idempotent_send", "routes"}
    )
    traits: Traits = Traits(edit_interval=0.06)

    def __init__(self) -> None:
        super().__init__()
        self.hub = Hub()
        self._stopping = anyio.Event()

    async def run(self) -> None:
        """A room needs no connection: be there until stopped."""
        self.host.ready()
        await self._stopping.wait()

    async def stop(self) -> None:
        """Let the listeners go and end."""
        self._stopping.set()
        self.hub.close()

    async def submit(self, message: InboundMessage) -> None:
        """Take a person's message: on the disk first, then shown to the room."""
        if message.ext_id in await self.host.accept([message]):
            self.hub.message(message.chat_id, self.as_json(shown_inbound(message)))

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Show a finished message."""
        self.hub.message(message.chat_id, self.as_json(self._shown_outbound(message)))
        return [Receipt(message.idem)]

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str:
        """Show partial text in the place of the answer."""
        draft = ShownMessage(
            id=place.idem,
            role="agent",
            author_id="agent",
            author=self.host.agent_name,
            text=text,
            date=message.date,
            reply_to=message.message_id,
        )
        self.hub.draft(message.chat_id, self.as_json(draft))
        return place.idem

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        """Show that an answer for this person is on its way."""
        self.hub.typing(message.chat_id, message.sender.id, on)

    async def remove_draft(self, message: InboundMessage, place: DraftReference) -> None:
        """Take partial text off the room."""
        self.hub.drop_draft(message.chat_id, place.idem)

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        """Take an event; that nothing will be said at all is told to whoever waits for it."""
        await super().on_event(event, message)
        if event.kind == "error" and event.data.get("silent"):
            self.hub.publish(message.chat_id, {"type": "silent", "reply_to": message.message_id})

    async def opening(self, room: str) -> list[Json]:
        """Return the events that show a room to somebody who comes in."""
        history = await self.host.history(self.name, room, HISTORY)
        hello: Json = {
            "type": "hello",
            "room": room,
            "agent": self.host.agent_name,
            "offline": self.host.hint is not None,
            "hint": self.host.hint,
        }
        past: Json = {"type": "history", "messages": [self.as_json(shown) for shown in history]}
        people: Json = {"type": "people", "people": self.hub.people(room)}
        return [hello, past, people, *self.hub.going_on(room)]

    @abstractmethod
    def to_html(self, text: str) -> str:
        """Return a message's text as the page shows it."""

    def as_json(self, shown: ShownMessage) -> Json:
        """Return a message as the page and the terminal read it."""
        return {
            "id": shown.id,
            "role": shown.role,
            "author": {"id": shown.author_id, "name": shown.author},
            "html": self.to_html(shown.text),
            "text": shown.text,
            "date": shown.date,
            "reply_to": shown.reply_to,
            "to_agent": shown.addressed,
        }

    def _shown_outbound(self, message: OutboundMessage) -> ShownMessage:
        return ShownMessage(
            id=message.idem,
            role="agent" if message.kind == "answer" else "notice",
            author_id="agent",
            author=self.host.agent_name,
            text=message.text,
            date=message.date,
            reply_to=message.reply_to,
        )


def shown_inbound(message: InboundMessage) -> ShownMessage:
    """Return a person's message as a room shows it."""
    return ShownMessage(
        id=message.message_id,
        role="person",
        author_id=message.sender.id,
        author=message.sender.name,
        text=message.text,
        date=message.date,
        reply_to=message.reply_to,
        addressed=message.addressed,
    )
