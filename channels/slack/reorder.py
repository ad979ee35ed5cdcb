"""Restores the order of messages: each message waits briefly for messages sent before it.

Slack delivers events in any order, and each must be acknowledged within three seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from channels.clock import Clock, wait_at_most
from channels.errors import ChannelDown
from channels.message import InboundMessage

MAX_HELD: Final = 1_000
"""Maximum messages held back at once; further messages are stored without delay."""

Stamp = tuple[int, int]


@dataclass(slots=True, eq=False)
class _Held:
    message: InboundMessage
    key: tuple[Stamp, int]
    due: float
    stored: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def chat(self) -> tuple[str, str]:
        return self.message.account, self.message.chat_id


class ReorderBuffer:
    """Holds back messages for some seconds, then passes each chat's to `store` in order."""

    def __init__(
        self, seconds: float, clock: Clock, store: Callable[[list[InboundMessage]], Awaitable[Any]]
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._store = store
        self._waiting: list[_Held] = []
        self._order = 0
        self._storing = asyncio.Lock()

    async def put(self, message: InboundMessage, ts: str) -> None:
        """Hold back a message until it is stored in its order; raises what `store` raises."""
        seconds = self._seconds if ts and len(self._waiting) < MAX_HELD else 0.0
        self._order += 1
        own = _Held(message, (stamp_of(ts), self._order), self._clock.monotonic() + seconds)
        self._waiting.append(own)
        try:
            if seconds:
                await wait_at_most(self._clock, seconds, lambda: asyncio.wait([own.stored]))
            else:
                for _turn in range(3):  # lets in the messages that arrived at the same time
                    await asyncio.sleep(0)
            if not own.stored.done():
                await self._release(own)
            await own.stored
        finally:
            if own in self._waiting:
                self._waiting.remove(own)
            if own.stored.done() and not own.stored.cancelled():
                own.stored.exception()  # otherwise asyncio warns that the error was never retrieved

    async def _release(self, own: _Held) -> None:
        """Store the messages whose time has come, after earlier messages of the same chats."""
        async with self._storing:
            if own.stored.done():
                return
            now = self._clock.monotonic()
            latest: dict[tuple[str, str], Stamp] = {}
            for one in self._waiting:
                if one.due <= now:
                    latest[one.chat] = max(latest.get(one.chat, one.key[0]), one.key[0])
            # With a mention goes its other event, which has the same timestamp.
            ready = [one for one in self._waiting if one.key[0] <= latest.get(one.chat, (-1, 0))]
            ready.sort(key=lambda one: one.key)
            taken = set(ready)
            self._waiting = [one for one in self._waiting if one not in taken]
            try:
                await self._store([one.message for one in ready])
            except BaseException as cause:
                error = cause if isinstance(cause, Exception) else ChannelDown("the channel ends")
                for one in ready:
                    if not one.stored.done():
                        one.stored.set_exception(error)
                raise
            for one in ready:
                one.stored.set_result(None)


def stamp_of(ts: str) -> Stamp:
    """Return a timestamp as two numbers to sort by, or (0, 0) if it is malformed."""
    seconds, _, rest = ts.partition(".")
    return (int(seconds), int(rest.ljust(6, "0")[:6] or 0)) if seconds.isdigit() else (0, 0)
