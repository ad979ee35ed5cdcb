"""The base of channels without a platform: rooms on the gateway's page, or in a terminal.

The host keeps a room's past messages; the hub keeps what happens now. A sent message uses its key
as its id, so sending it again replaces it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import ClassVar, Final

import anyio

from channels.base import Channel
from channels.capabilities import Capability
from channels.draft import DraftReference
from channels.host import ChannelEvent
from channels.message import InboundMessage, OutboundMessage, Receipt, ShownMessage
from channels.room.hub import Hub, Json, RoomHub
from channels.room.session import PageSession
from channels.traits import Traits

CUT_OFF: Final = "*(The answer was cut off here"
"""How the mark begins that the agent puts under an answer which its provider cut off."""

MARKS: Final = (CUT_OFF, "*Stopped")  # how the last line begins that the gateway puts there

MAX_HISTORY: Final = 200  # maximum number of past messages shown to a person who joins


class RoomChannel(Channel):
    """The base class of the web channel and the terminal channel."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"edit", "typing", "native_stream", "idempotent_send", "routes", "commands"}
    )
    runs_everywhere: ClassVar[bool] = True
    traits: Traits = Traits(edit_interval=0.06, edit_rest=5.0)

    def __init__(self) -> None:
        super().__init__()
        self.hub: RoomHub = Hub()
        self._stopping = anyio.Event()

    async def run(self) -> None:
        self.host.ready()
        await self._stopping.wait()

    async def stop(self) -> None:
        self._stopping.set()
        self.hub.close()

    async def submit(self, message: InboundMessage) -> bool:
        """Store a person's message, then show it to everybody in the room; return if it is new."""
        await self.draw_ahead([message.text])
        is_new = message.ext_id in await self.host.accept([message])
        if is_new:
            self.hub.accepted(message.chat_id, self.as_json(shown_inbound(message)))
        return is_new

    def taped(self, message: InboundMessage) -> None:
        self.hub.taped(message.chat_id)

    def command_hint(self, name: str, place: InboundMessage | None = None) -> str:
        del place
        return f"/{name}"

    def erased(self, room: str) -> None:
        """Hear that messages of a room were erased, in the process that erased them."""
        del room

    async def news(self, room: str, after: int | None) -> tuple[int, list[Json]]:
        """Return the messages on a room's tape after an entry, and the id of the newest entry.

        After None, there are none.
        """
        newest, messages = await self.host.news(self.name, room, after)
        await self.draw_ahead(shown.text for shown in messages)
        return newest, [self.as_json(shown) for shown in messages]

    async def draw_ahead(self, texts: Iterable[str], *, growing: bool = False) -> None:
        """Make ready what will be shown, where that would hold the event loop for too long."""
        del texts, growing

    def admits(self, session: PageSession, room: str) -> bool:
        """Return whether a session may use a room of this channel."""
        del room
        return session.owner

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        shown = self._shown_outbound(message)
        await self.draw_ahead([message.text])
        self.hub.message(message.chat_id, self.as_json(shown), message.idem)
        return [Receipt(shown.id)]

    async def show(self, message: InboundMessage, reference: DraftReference, text: str) -> str:
        draft = OutboundMessage(
            self.name,
            message.chat_id,
            text,
            idem=reference.idem,
            reply_to=message.message_id,
            date=message.date,
        )
        await self.draw_ahead([text], growing=True)
        shown = self.as_json(self._shown_outbound(draft), growing=True)
        self.hub.draft(message.chat_id, shown)
        return reference.idem

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        self.hub.typing(message.chat_id, message.message_id, on)

    async def remove_draft(self, message: InboundMessage, reference: DraftReference) -> None:
        self.hub.drop_draft(message.chat_id, reference.idem)

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        await super().on_event(event, message)
        if event.kind == "error" and event.data.get("silent"):
            self.hub.publish(message.chat_id, {"type": "silent", "reply_to": message.message_id})

    async def opening(self, room: str, session: PageSession) -> list[Json]:
        """Return the events that show a room to a person who joins."""
        history = await self.host.history(self.name, room, MAX_HISTORY)
        await self.draw_ahead(shown.text for shown in history)
        title, titled_at = await self.host.title(self.name, room)
        hello: Json = {
            "type": "hello",
            "room": room,
            "title": title,
            "titled_at": titled_at,
            "you": {"id": session.person, "owner": session.owner},
            "agent": self.host.agent_name,
            "hint": self.host.hint if session.owner else None,
        }
        messages = [
            self.as_json(shown) | {"mine": shown.reactions.by.get(session.person, "")}
            for shown in history
        ]
        past: Json = {"type": "history", "messages": messages}
        known = {shown.id for shown in history}
        people: Json = {"type": "people", "people": await self.hub.people(room)}
        ongoing = [
            event
            for event in self.hub.ongoing(room)
            if event["type"] != "draft" or event["message"]["id"] not in known
        ]
        return [hello, past, people, *ongoing]

    @abstractmethod
    def to_html(self, text: str) -> str:
        """Render the text of a message as HTML for the page."""

    def settled(self, text: str) -> str:
        """Return what the page draws of a text that is still being written."""
        return text

    def as_json(self, shown: ShownMessage, *, growing: bool = False) -> Json:
        """Return a message as the JSON object that the page and the terminal expect."""
        return {
            "id": shown.id,
            "role": shown.role,
            "author": {"id": shown.author_id, "name": shown.author},
            "html": self.to_html(self.settled(shown.text) if growing else shown.text),
            "text": shown.text,
            "date": shown.date,
            "reply_to": shown.reply_to,
            "to_agent": shown.addressed,
            "cut": shown.role == "agent" and shown.text.rpartition("\n")[2].startswith(CUT_OFF),
            "buttons": [asdict(button) for button in shown.buttons],
            "images": [image.name for image in shown.images],
            "reactions": shown.reactions.counts(),
        }

    def as_said(self, event: Json, say: Callable[[str], str]) -> Json:
        """Return an event with what the gateway wrote in it as `say` says that."""
        if event["type"] == "pressed":
            return {**event, "text": say(event["text"])}
        if event["type"] == "history":
            return {**event, "messages": [self._said(one, say) for one in event["messages"]]}
        return (
            {**event, "message": self._said(event["message"], say)} if "message" in event else event
        )

    def _said(self, message: Json, say: Callable[[str], str]) -> Json:
        text = message["text"]
        if message["role"] == "notice":
            said = _notice(text, say)
        else:
            above, line, last = text.rpartition("\n")
            ours = message["role"] == "agent" and last.startswith(MARKS)
            said = f"{above}{line}{say(last)}" if ours else text
        buttons = [{**button, "label": say(button["label"])} for button in message["buttons"]]
        if said == text and buttons == message["buttons"]:
            return message
        return {**message, "text": said, "html": self.to_html(said), "buttons": buttons}

    def _shown_outbound(self, message: OutboundMessage) -> ShownMessage:
        return ShownMessage(
            id=message.edits or message.idem,
            role="agent" if message.kind == "answer" else "notice",
            author_id="agent",
            author=self.host.agent_name,
            text=message.text,
            date=message.date,
            reply_to=message.reply_to,
            buttons=message.buttons,
        )


def _notice(text: str, say: Callable[[str], str]) -> str:
    """Return a notice as `say` says it; what it quotes stands between two paragraphs."""
    if (said := say(text)) != text:
        return said
    first, *rest = text.split("\n\n")
    if rest:
        rest[-1] = say(rest[-1])
    return "\n\n".join([say(first), *rest])


def shown_inbound(message: InboundMessage) -> ShownMessage:
    return ShownMessage(
        id=message.message_id,
        role="person",
        author_id=message.sender.id,
        author=message.sender.name,
        text=message.text,
        date=message.date,
        reply_to=message.reply_to,
        addressed=message.addressed,
        images=tuple(media for media in message.media if media.kind == "image"),
    )
