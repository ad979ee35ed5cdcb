"""Route events and outbound messages to their channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.events import AgentEvent
from channels.base import Channel
from channels.message import InboundMessage, OutboundMessage, Receipt
from gateway.hooks.messages import field_of
from gateway.logs import get_log


class OutboundChannelRouter:
    """Routes to `channels`, the running channels by name."""

    def __init__(self, channels: Mapping[str, Channel]) -> None:
        self.channels = channels

    async def dispatch_event(self, event: Any, message: Any) -> None:
        """Pass an event to the channel of a message; an error of the channel is logged."""
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
        """End what the channel shows of a running answer.

        `silent`: no notice follows either.
        """
        data = {"message": "ended without an answer", "silent": silent}
        await self.dispatch_event(AgentEvent("error", data), message)

    async def dispatch(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message now; return no receipts if its channel is not running."""
        channel = self.channels.get(message.channel)
        if channel is None:
            get_log().warning("router.no_channel", channel=message.channel)
            return []
        return await channel.send(message)
