"""Passes a model's reasoning on to a room's listeners, in pieces that they can follow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from channels.clock import Clock
from channels.host import ChannelEvent
from channels.message import InboundMessage
from channels.room.hub import OWNERS, RoomHub

PIECE_SECONDS: Final = 0.2
"""Minimum seconds between two pieces, since a listener that lags is disconnected."""


@dataclass(slots=True)
class _Waiting:
    text: str = ""
    next_at: float = 0.0


@dataclass(slots=True)
class ReasoningFeed:
    """The reasoning of running turns, for owners; none of it is kept once a turn has ended."""

    _hub: RoomHub
    _clock: Clock
    _turns: dict[str, _Waiting] = field(default_factory=dict)

    def take(self, event: ChannelEvent, message: InboundMessage) -> None:
        """Publish what an event adds, or what the events before it left."""
        key, now = message.message_id, self._clock.monotonic()
        if event.kind == "reasoning":
            waiting = self._turns.setdefault(key, _Waiting())
            waiting.text += str(event.data.get("delta", ""))
            if now >= waiting.next_at:
                waiting.next_at = now + PIECE_SECONDS
                self._publish(message, waiting)
        elif event.kind == "reset":
            self._turns.pop(key, None)
            self._send(message, reset=True)
        elif key in self._turns:
            self._publish(message, self._turns[key])
            if event.kind in ("final", "error"):
                del self._turns[key]

    def _publish(self, message: InboundMessage, waiting: _Waiting) -> None:
        if waiting.text:
            self._send(message, delta=waiting.text)
            waiting.text = ""

    def _send(self, message: InboundMessage, **data: object) -> None:
        event = {"type": "reasoning", "reply_to": message.message_id, **data}
        self._hub.publish(message.chat_id, event, OWNERS)
