"""Keep two bots from answering each other forever."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final, Literal

from channels.message import InboundMessage
from gateway.clock import Clock

MAX_ANSWERS: Final = 20
"""Maximum messages of one bot that are answered within WINDOW_SECONDS."""

WINDOW_SECONDS: Final = 60.0


class BotGuard:
    """Decides whether a bot gets an answer; people always do."""

    def __init__(self, clock: Clock, bots: Literal["ignore", "answer"]) -> None:
        self._clock = clock
        self._answers = bots == "answer"
        self.answered: dict[tuple[str, str, str], deque[float]] = {}

    def judge(self, message: InboundMessage) -> InboundMessage:
        """Return the message, no longer addressed if it must not be answered."""
        if not message.sender.is_bot or not message.addressed:
            return message
        if not self._answers:
            return replace(message, addressed=False, why="said by a bot")
        now = self._clock.monotonic()
        pair = (message.channel, message.account, message.sender.id)
        times = self.answered.setdefault(pair, deque())
        while times and now - times[0] >= WINDOW_SECONDS:
            times.popleft()
        if len(times) >= MAX_ANSWERS:
            return replace(message, addressed=False, why="said by a bot, too often in a minute")
        times.append(now)
        self.answered = {
            key: at for key, at in self.answered.items() if now - at[-1] < WINDOW_SECONDS
        }
        return message
