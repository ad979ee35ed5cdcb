"""The turns that run now."""

from __future__ import annotations

from channels.message import InboundMessage
from gateway.pipeline.turn import Turn

_Key = tuple[str, str, str]


class RunningTurns:
    """Running turns by the message that they answer; a message has one turn at a time."""

    def __init__(self) -> None:
        self._turns: dict[_Key, Turn] = {}

    def add(self, turn: Turn) -> None:
        self._turns[_key(turn.message)] = turn

    def remove(self, turn: Turn) -> None:
        del self._turns[_key(turn.message)]

    def by_message(self, message: InboundMessage) -> Turn | None:
        """Return the running turn that answers a message."""
        return self._turns.get(_key(message))

    def sessions(self) -> set[str]:
        """Return the sessions that have a running turn."""
        return {turn.question.session_id for turn in self._turns.values()}


def _key(message: InboundMessage) -> _Key:
    return (message.channel, message.account, message.ext_id)
