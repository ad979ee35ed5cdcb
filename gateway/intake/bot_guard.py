"""The guard against two bots that answer each other for ever."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final, Literal

from channels.message import InboundMessage
from gateway.clock import Clock

MOST: Final = 20
"""So many messages of one bot within WINDOW are answered."""

WINDOW: Final = 60.0


class BotGuard:
    """Decides whether what a bot says asks the agent; people are never concerned."""

    def __init__(self, clock: Clock, bots: Literal["ignore", "answer"]) -> None:
        self._clock = clock
        self._answers = bots == "answer"
        self._said: dict[tuple[str, str, str], deque[float]] = {}

    def judge(self, message: InboundMessage) -> InboundMessage:
        """Return the message; one that must not be answered is not addressed any more."""
        if not message.sender.is_bot or not message.addressed:
            return message
        if not self._answers:
            return replace(message, addressed=False, why="said by a bot")
        now = self._clock.monotonic()
        pair = (message.channel, message.account, message.sender.id)
        said = self._said.setdefault(pair, deque())
        while said and now - said[0] >= WINDOW:
            said.popleft()
        if len(said) >= MOST:
            return replace(message, addressed=False, why="said by a bot, too often in a minute")
        said.append(now)
        self._said = {key: at for key, at in self._said.items() if now - at[-1] < WINDOW}
        return message
