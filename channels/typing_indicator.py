"""Typing signs: shown again and again while somebody waits for an answer.

A sign of a platform lasts some seconds and is not charged; it stops while the chat's gate is
closed. Several questions of one place share its signs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import anyio

from channels.errors import ChannelError, SendDelayed, SendRefused
from channels.message import InboundMessage
from channels.pacing import Clock, Pacing

TYPING_EVERY: Final = 4.5
"""Seconds between two signs in one place; they last five on the strictest platform."""

Place = tuple[str, str | None]
"""Chat and thread."""

Spawn = Callable[[str, Callable[[], Awaitable[None]]], None]


@dataclass(slots=True)
class _Signs:
    waiting: set[str] = field(default_factory=set)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class TypingIndicator:
    """Who is waited for, by place; `show` sends one sign."""

    def __init__(
        self,
        show: Callable[[InboundMessage], Awaitable[None]],
        pacing: Pacing,
        clock: Clock,
        spawn: Spawn,
    ) -> None:
        self._show = show
        self._pacing = pacing
        self._clock = clock
        self._spawn = spawn
        self._places: dict[Place, _Signs] = {}

    def begin(self, message: InboundMessage) -> None:
        """Show signs from now on, until the answer of this message has come."""
        place = (message.chat_id, message.thread_id)
        signs = self._places.get(place)
        if signs is None:
            signs = self._places[place] = _Signs()
            self._spawn("typing", lambda: self._run(place, signs, message))
        signs.waiting.add(message.ext_id)

    def end(self, message: InboundMessage) -> None:
        """Show no more signs for this message."""
        place = (message.chat_id, message.thread_id)
        signs = self._places.get(place)
        if signs is None:
            return
        signs.waiting.discard(message.ext_id)
        if not signs.waiting:
            del self._places[place]
            signs.scope.cancel()

    async def _run(self, place: Place, signs: _Signs, message: InboundMessage) -> None:
        try:
            with signs.scope:
                while signs.waiting:
                    pause = TYPING_EVERY
                    if self._pacing.may_type(message.chat_id):
                        try:
                            await self._show(message)
                        except SendDelayed as delayed:
                            pause = max(pause, delayed.retry_after)
                        except SendRefused:
                            return  # the answer will tell
                        except ChannelError:
                            """One that is not shown is not missed."""
                    await self._clock.sleep(pause)
        finally:
            if self._places.get(place) is signs:
                del self._places[place]
