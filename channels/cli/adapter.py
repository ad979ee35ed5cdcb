"""The terminal channel: each terminal is a private chat of one person with the agent."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import ClassVar

from starlette.routing import Route

from channels.capabilities import Feature
from channels.cli.inbound import parse
from channels.cli.settings import CliSettings
from channels.host import ChannelEvent
from channels.message import InboundMessage
from channels.room.channel import RoomChannel
from channels.room.hub import OWNERS
from channels.room.reasoning import ReasoningFeed
from channels.room.routes import Post, room_routes
from channels.room.session import PageSession
from channels.traits import Traits


class CliChannel(RoomChannel):
    """The channel that `tapeway chat` and `tapeway run` use."""

    name: ClassVar[str] = "cli"
    features: ClassVar[frozenset[Feature]] = frozenset({"private"})
    # People send each line on purpose, so there is no burst to wait for.
    traits: Traits = Traits(edit_interval=0.03, debounce=0.0)

    def __init__(self, settings: CliSettings) -> None:
        super().__init__()
        self.settings = settings

    @cached_property
    def _reasoning(self) -> ReasoningFeed:
        return ReasoningFeed(self.hub, self.host.clock)

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        await super().on_event(event, message)
        # A message of another channel may be answered here, too.
        if not (message.owner and self.settings.reasoning):
            return
        self._reasoning.take(event, message)
        if event.kind in ("tool_call", "tool_result"):
            tool = {"type": "tool", "reply_to": message.message_id, **event.data}
            self.hub.publish(message.chat_id, tool, OWNERS)

    def to_html(self, _text: str) -> str:
        return ""

    def routes(self) -> list[Route]:
        return room_routes(self, "/api/terminal", self.read)

    async def read(self, chat: str, post: Post, session: PageSession) -> InboundMessage:
        """Turn a line in a terminal into a message."""
        date = datetime.now(UTC).isoformat(timespec="microseconds")
        return parse(chat, post, session, date)
