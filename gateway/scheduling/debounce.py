"""The debounce buffer: a burst of one person is one question.

A question is ready `debounce` seconds after its last message, and `longest` seconds after its first
at the latest. Several authors, threads and sessions do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from gateway.clock import Clock
from gateway.keyed_queue import Spawn
from gateway.pipeline.turn import Question
from gateway.storage.ledger.rows import InboxRow
from tape.entry import parse_date

Key = tuple[str, str | None, str]
"""Session, thread, author."""


def key_of(asked: Question) -> Key:
    """Return the burst that a question belongs to."""
    return (asked.session_id, asked.message.thread_id, asked.message.sender.id)


def _much_later(asked: Question, burst: Question, debounce: float) -> bool:
    """Tell whether a message that waited at the platform was said long after a burst."""
    if not asked.message.backlog:
        return False
    gap = parse_date(asked.message.date) - parse_date(burst.message.date)
    return gap.total_seconds() > debounce


@dataclass(slots=True)
class _Burst:
    asked: Question
    since: float
    until: float = field(default=0.0)


class Debouncer:
    """Collects bursts and hands each over once."""

    def __init__(
        self,
        clock: Clock,
        longest: float,
        flush: Callable[[Question], Awaitable[None]],
        spawn: Spawn,
    ) -> None:
        self._clock = clock
        self._longest = longest
        self._flush = flush
        self._spawn = spawn
        self._bursts: dict[Key, _Burst] = {}

    async def add(self, asked: Question, debounce: float) -> None:
        """Add a question to its burst; without a wait it goes on at once, the burst with it."""
        key = key_of(asked)
        now = self._clock.monotonic()
        burst = self._bursts.get(key)
        if burst is not None and _much_later(asked, burst.asked, debounce):
            del self._bursts[key]  # both waited at the platform; people did not say them together
            await self._flush(burst.asked)
            burst = None
        if burst is not None:
            burst.asked = replace(
                burst.asked, rows=(*burst.asked.rows, *asked.rows), role=asked.role
            )
            burst.until = min(now + debounce, burst.since + self._longest)
            return
        if debounce <= 0:
            await self._flush(asked)
            return
        burst = _Burst(asked, now, now + min(debounce, self._longest))
        self._bursts[key] = burst
        self._spawn("buffer", lambda: self._wait(key, burst))

    def lane_of(self, key: Key) -> str | None:
        """Return the lane of the burst that is being collected; None where there is none."""
        burst = self._bursts.get(key)
        return burst.asked.lane if burst else None

    def holds(self, session_id: str, lane: str) -> bool:
        """Tell whether questions of a lane are being collected."""
        bursts = [burst.asked for burst in self._bursts.values()]
        return any((asked.session_id, asked.lane) == (session_id, lane) for asked in bursts)

    def edited(self, row: InboxRow) -> None:
        """Let a message that is being collected read as it does now."""
        for burst in self._bursts.values():
            burst.asked = burst.asked.reading(row)

    def forget(self, inbox_id: int) -> InboxRow | None:
        """Take a message out of its burst, which is collected on."""
        for key, burst in list(self._bursts.items()):
            left, gone = burst.asked.without(inbox_id)
            if gone is not None:
                if left is not None:
                    burst.asked = left
                else:
                    del self._bursts[key]
                return gone
        return None

    def take_away(self, wanted: Callable[[Question], bool]) -> list[Question]:
        """Take bursts out that will not be asked."""
        keys = [key for key, burst in self._bursts.items() if wanted(burst.asked)]
        return [self._bursts.pop(key).asked for key in keys]

    async def _wait(self, key: Key, burst: _Burst) -> None:
        while (left := burst.until - self._clock.monotonic()) > 0:
            await self._clock.sleep(left)
        if self._bursts.get(key) is burst:
            del self._bursts[key]
            await self._flush(burst.asked)
