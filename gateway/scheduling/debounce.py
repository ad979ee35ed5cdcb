"""Debounce questions: several quick messages of one author (a burst) become one question.

A question is ready `debounce` seconds after its last message, but at most `longest` seconds after
its first. Bursts of different authors, threads and sessions are independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import anyio

from channels.message import InboundMessage
from gateway.background import Spawn
from gateway.clock import Clock
from gateway.pipeline.turn import BurstKey, Question
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.entry import parse_date


def debounce_seconds(services: Services, message: InboundMessage) -> float:
    """Return the debounce time of a message's channel, or the setting if it has none."""
    channel = services.router.channels.get(message.channel)
    own = channel.traits.debounce if channel else None
    return services.settings.buffer.debounce if own is None else own


def debounce_left(services: Services, row: InboxRow) -> float:
    """Return the debounce time that is left of a message, whose author had the wait for parts."""
    debounce = debounce_seconds(services, row.message)
    if not row.message.joins or row.message.backlog or row.replayed or not row.received_at:
        return debounce
    waited = services.clock.now() - parse_date(row.received_at)
    return min(debounce, max(0.0, debounce - waited.total_seconds()))


def adds_to_waiting(services: Services, message: InboundMessage) -> bool:
    """Return whether a question is asked with its author's one before it that still waits."""
    channel = services.router.channels.get(message.channel)
    return channel is not None and channel.traits.adds_to_waiting


@dataclass(slots=True)
class _Burst:
    question: Question
    since: float
    until: float


@dataclass(slots=True)
class Debouncer:
    """Collects the messages of each burst, then passes them to `_flush` as one question."""

    _clock: Clock
    _longest: float
    _flush: Callable[[Question], None]
    _spawn: Spawn
    _bursts: dict[BurstKey, _Burst] = field(default_factory=dict)
    _expected: dict[tuple[str | None, ...], float] = field(default_factory=dict)
    _freed: anyio.Event = field(default_factory=anyio.Event)

    def add(self, question: Question, debounce: float) -> None:
        """Add a question to its burst; pass a new one on at once if `debounce` is 0."""
        key = question.burst_key
        now = self._clock.monotonic()
        until = self._until(question.message, debounce)
        burst = self._bursts.get(key)
        if burst is not None and _much_later(question, burst.question, debounce):
            self._flush(self._take(key))
            burst = None
        if burst is not None:
            rows = (*burst.question.rows, *question.rows)
            role = min(burst.question.role, question.role)
            burst.question = replace(burst.question, rows=rows, role=role)
            self._move(key, burst, until)
            return
        if debounce <= 0:
            self._flush(question)
            return
        burst = _Burst(question, now, min(until, now + self._longest))
        self._bursts[key] = burst
        self._spawn("buffer", lambda: self._wait(key, burst))

    def heard(self, message: InboundMessage, debounce: float) -> None:
        """Wait longer with a burst, since its author has said something else in its place."""
        self._wait_for(message, self._until(message, debounce))

    def expect(self, message: InboundMessage, seconds: float) -> None:
        """Wait with a burst, now or soon to come, for a message whose parts are here in part."""
        now = self._clock.monotonic()
        self._expected = {place: at for place, at in self._expected.items() if at > now}
        self._expected[_place(message)] = now + seconds
        self._wait_for(message, now + seconds)

    def _until(self, message: InboundMessage, debounce: float) -> float:
        """Return until when to wait after a message, which may be the one that was expected."""
        expected = 0.0
        if message.joins:
            self._expected.pop(_place(message), None)
        else:
            expected = self._expected.get(_place(message), 0.0)
        return max(self._clock.monotonic() + debounce, expected)

    def _wait_for(self, message: InboundMessage, until: float) -> None:
        for key, burst in self._bursts.items():
            if _place(burst.question.message) == _place(message):
                self._move(key, burst, until)

    def _move(self, key: BurstKey, burst: _Burst, until: float) -> None:
        """Have a burst wait until another time, which may be earlier."""
        was, burst.until = burst.until, min(until, burst.since + self._longest)
        if burst.until < was:
            self._spawn("buffer", lambda: self._wait(key, burst))

    def lane_of(self, key: BurstKey) -> str | None:
        burst = self._bursts.get(key)
        return burst.question.lane if burst else None

    def holds(self, session_id: str, lane: str | None) -> bool:
        """Return whether a question of this lane is being debounced."""
        return any(
            (burst.question.session_id, burst.question.lane) == (session_id, lane)
            for burst in self._bursts.values()
        )

    def edited(self, row: InboxRow) -> None:
        """Replace the text of a debounced message that was edited."""
        for burst in self._bursts.values():
            burst.question = burst.question.edited(row)

    def forget(self, inbox_id: int) -> InboxRow | None:
        """Remove a message from its burst; return its row, or None if no burst contains it."""
        for key, burst in list(self._bursts.items()):
            left, removed = burst.question.without(inbox_id)
            if removed is not None:
                if left is not None:
                    burst.question = left
                else:
                    self._take(key)
                return removed
        return None

    def questions(self, session_id: str) -> list[Question]:
        held = [burst.question for burst in self._bursts.values()]
        return [question for question in held if question.session_id == session_id]

    def take_away(self, wanted: Callable[[Question], bool]) -> list[Question]:
        keys = [key for key, burst in self._bursts.items() if wanted(burst.question)]
        return [self._take(key) for key in keys]

    async def idle(self) -> None:
        while self._bursts:
            await self._freed.wait()

    def _take(self, key: BurstKey) -> Question:
        question = self._bursts.pop(key).question
        self._freed.set()
        self._freed = anyio.Event()
        return question

    async def _wait(self, key: BurstKey, burst: _Burst) -> None:
        while (left := burst.until - self._clock.monotonic()) > 0:
            await self._clock.sleep(left)
        if self._bursts.get(key) is burst:
            self._flush(self._take(key))


def _place(message: InboundMessage) -> tuple[str | None, ...]:
    said = (message.channel, message.account, message.chat_id, message.thread_id)
    return (*said, message.sender.id)


def _much_later(question: Question, burst: Question, debounce: float) -> bool:
    if not question.message.backlog:  # other messages arrive as they are written
        return False
    gap = parse_date(question.message.date) - parse_date(burst.message.date)
    return gap.total_seconds() > debounce
