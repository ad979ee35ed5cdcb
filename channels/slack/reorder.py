"""The order in which things were said, restored: each waits a moment for what was said before it.

Slack hands events out in no order; what is asked of it is an acknowledgement within three seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from channels.errors import ChannelDown
from channels.message import InboundMessage
from channels.pacing import Clock
from channels.slack.race import either

MOST: Final = 1_000
"""So many are held at once; beyond, nothing waits."""

Stamp = tuple[int, int]


@dataclass(slots=True, eq=False)
class _Held:
    chat: str
    stamp: Stamp
    order: int
    due: float
    read: Callable[[], InboundMessage]
    kept: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class ReorderBuffer:
    """Holds what came until it is its turn; `keep` puts it on the disk."""

    def __init__(
        self, seconds: float, clock: Clock, keep: Callable[[list[InboundMessage]], Awaitable[Any]]
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._keep = keep
        self._waiting: list[_Held] = []
        self._order = 0
        self._keeping = asyncio.Lock()

    async def put(self, chat: str, ts: str, read: Callable[[], InboundMessage]) -> None:
        """Hold what came, and return when it is on the disk; raises what `keep` raises.

        `read` is called at the end, when names are known that were not at first.
        """
        seconds = self._seconds if ts and len(self._waiting) < MOST else 0.0
        self._order += 1
        due = self._clock.monotonic() + seconds
        own = _Held(chat, stamp_of(ts), self._order, due, read)
        self._waiting.append(own)
        try:
            if seconds:
                await either(lambda: asyncio.wait([own.kept]), lambda: self._clock.sleep(seconds))
            else:
                await _moment()
            if not own.kept.done():
                await self._release(own)
            await own.kept
        finally:
            if own in self._waiting:
                self._waiting.remove(own)
            if own.kept.done() and not own.kept.cancelled():
                own.kept.exception()  # somebody has asked: nobody need warn of it

    async def _release(self, own: _Held) -> None:
        """Keep what is due, of each chat in its order; what a chat said before goes along."""
        async with self._keeping:
            if own.kept.done():
                return
            now = self._clock.monotonic()
            latest: dict[str, tuple[Stamp, int]] = {}
            for one in self._waiting:
                if one.due <= now:
                    latest[one.chat] = max(latest.get(one.chat, _key(one)), _key(one))
            ready = [
                one for one in self._waiting if _key(one) <= latest.get(one.chat, ((-1, 0), 0))
            ]
            ready.sort(key=lambda one: (one.stamp, one.order))
            taken = set(ready)
            self._waiting = [one for one in self._waiting if one not in taken]
            try:
                await self._keep([one.read() for one in ready])
            except BaseException as cause:
                _fail(ready, cause)
                raise
            for one in ready:
                one.kept.set_result(None)


def _fail(ready: list[_Held], cause: BaseException) -> None:
    """Tell everybody that theirs is not on the disk."""
    told = cause if isinstance(cause, Exception) else ChannelDown("the channel ends")
    for one in ready:
        if not one.kept.done():
            one.kept.set_exception(told)


def _key(one: _Held) -> tuple[Stamp, int]:
    return one.stamp, one.order


def stamp_of(ts: str) -> Stamp:
    """Return the numbers of a message's stamp, to order by; what has none goes first."""
    seconds, _, rest = ts.partition(".")
    return (int(seconds), int(rest.ljust(6, "0")[:6] or 0)) if seconds.isdigit() else (0, 0)


async def _moment() -> None:
    """Let what has come at the same time be put, too."""
    for _turn in range(3):
        await asyncio.sleep(0)
