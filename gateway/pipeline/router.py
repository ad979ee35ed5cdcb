"""Route events and outbound messages to their channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.events import AgentEvent
from channels.base import Channel
from channels.message import InboundMessage, OutboundMessage, Receipt
from gateway.hooks.messages import field_of
from gateway.logs import get_log


@dataclass(frozen=True, slots=True)
class OutboundChannelRouter:
    """Routes events and messages; `channels` maps names to running channels."""

    channels: Mapping[str, Channel]

    async def dispatch_event(self, event: Any, message: Any) -> None:
        """Pass an event to the channel of a message; log an error that the channel raises."""
        if isinstance(message, InboundMessage):
            name = message.output_channel or message.channel
        else:
            name = field_of(message, "output_channel") or field_of(message, "channel", "")
        channel = self.channels.get(name)
        if channel is None:
            return
        try:
            await channel.on_event(event, message)
        except Exception as cause:
            get_log().error("channel.on_event_failed", channel=name, exc_info=cause)

    async def end_without_answer(self, message: InboundMessage, *, silent: bool) -> None:
        """End the display of a running answer; unless the end is `silent`, a notice follows."""
        data = {"message": "ended without an answer", "silent": silent}
        await self.dispatch_event(AgentEvent("error", data), message)

    async def end_all(self, messages: Sequence[InboundMessage], *, silent: bool) -> None:
        """End what is shown for the messages of one question; the notice is about the newest."""
        for message in messages[:-1]:
            await self.end_without_answer(message, silent=True)
        await self.end_without_answer(messages[-1], silent=silent)

    async def abandon(self, *messages: InboundMessage) -> None:
        """Leave what is shown of a running answer as it is: another process goes on with it."""
        for message in messages:
            await self.dispatch_event(AgentEvent("abandoned"), message)

    def taped(self, message: InboundMessage) -> None:
        """Pass on to a message's channel that the message is on its tape."""
        channel = self.channels.get(message.channel)
        if channel is not None:
            channel.taped(message)

    async def dispatch(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message now; return its receipts, or none if its channel is not running."""
        channel = self.channels.get(message.channel)
        if channel is None:
            get_log().warning("router.no_channel", channel=message.channel)
            return []
        return await channel.send(message)
