"""The outbound router: events and messages to the channel that they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from channels.base import Channel
from channels.message import OutboundMessage, Receipt
from gateway.hooks.messages import field_of
from gateway.logs import get_log


class OutboundChannelRouter:
    """Knows the running channels by name."""

    def __init__(self, channels: Mapping[str, Channel]) -> None:
        self._channels = channels

    def channel(self, name: str) -> Channel | None:
        """Return a channel; None where there is none of that name."""
        return self._channels.get(name)

    async def dispatch_event(self, event: Any, message: Any) -> None:
        """Give an event to the channel of the message; what it raises is logged, not passed on."""
        name = field_of(message, "output_channel") or field_of(message, "channel", "")
        channel = self._channels.get(name)
        if channel is None:
            return
        try:
            await channel.on_event(event, message)
        except Exception as cause:
            get_log().error("channel.on_event_failed", channel=name, exc_info=cause)

    async def dispatch(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message at once; a channel that is not there has no receipts."""
        channel = self._channels.get(message.channel)
        if channel is None:
            get_log().warning("router.no_channel", channel=message.channel)
            return []
        return await channel.send(message)
