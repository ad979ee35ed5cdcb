"""Restore the order of messages: each one waits a moment for those sent before it.

Slack delivers events in any order, and wants each acknowledged within three seconds.
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
"""Maximum messages held at once; any more are stored without a wait."""

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
    """Holds each message for some seconds; `store` then gets those of a chat in their order."""

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
        """Hold a message with this stamp until it is stored; raises what `store` raises."""
        seconds = self._seconds if ts and len(self._waiting) < MAX_HELD else 0.0
        self._order += 1
        own = _Held(message, (stamp_of(ts), self._order), self._clock.monotonic() + seconds)
        self._waiting.append(own)
        try:
            if seconds:
                await wait_at_most(self._clock, seconds, lambda: asyncio.wait([own.stored]))
            else:
                for _turn in range(3):  # messages that arrived at the same time are put as well
                    await asyncio.sleep(0)
            if not own.stored.done():
                await self._release(own)
            await own.stored
        finally:
            if own in self._waiting:
                self._waiting.remove(own)
            if own.stored.done() and not own.stored.cancelled():
                own.stored.exception()  # else asyncio warns that it was never retrieved

    async def _release(self, own: _Held) -> None:
        """Store the messages that are due, with the earlier ones of their chats."""
        async with self._storing:
            if own.stored.done():
                return
            now = self._clock.monotonic()
            latest: dict[tuple[str, str], tuple[Stamp, int]] = {}
            for one in self._waiting:
                if one.due <= now:
                    latest[one.chat] = max(latest.get(one.chat, one.key), one.key)
            ready = [one for one in self._waiting if one.key <= latest.get(one.chat, ((-1, 0), 0))]
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
    """Return a message's stamp as numbers to sort by; (0, 0) if it is not a stamp."""
    seconds, _, rest = ts.partition(".")
    return (int(seconds), int(rest.ljust(6, "0")[:6] or 0)) if seconds.isdigit() else (0, 0)
