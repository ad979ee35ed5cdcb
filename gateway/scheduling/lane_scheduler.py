"""Decide which question runs when.

Lanes of a session run in parallel, up to a limit; the questions of a lane run in order. There is a
limit on all running turns, and sessions take their turns round-robin, so that a busy one cannot
starve the others. A question for a lane with a running turn waits, steers that turn, or interrupts
it (`turn.overlap`); if it is another author's, it always waits. Queues hold references only: after
a crash the inbox has every question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, MutableSequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import anyio

from gateway.background import Spawn
from gateway.pipeline.turn import Question, Turn
from gateway.settings.sections import TurnSettings
from gateway.storage.ledger.rows import InboxRow

Overlap = Literal["follow_up", "steer", "interrupt"]
OVERLAPS: Final[dict[str, Overlap]] = {
    "follow_up": "follow_up",
    "steer": "steer",
    "interrupt": "interrupt",
}
INTERRUPTED: Final = {"why": "interrupted"}


class RunQuestion(Protocol):
    """Answers a question; see `TurnRunner.run`."""

    def __call__(self, question: Question, started: Callable[[Turn], None], /) -> Awaitable[None]:
        """Answer a question; call `started` with its turn once that has begun."""


@dataclass(slots=True)
class _Lane:
    """One conversation: waiting questions, the running one, and its turn once that has begun."""

    queue: deque[Question] = field(default_factory=deque)
    running: Question | None = None
    turn: Turn | None = None
    scope: anyio.CancelScope | None = None
    stopped_by: dict[str, Any] | None = None


@dataclass(slots=True)
class _Session:
    lanes: dict[str | None, _Lane] = field(default_factory=dict)
    running: int = 0


class LaneScheduler:
    """Schedules questions; `run` answers one."""

    def __init__(self, run: RunQuestion, spawn: Spawn, settings: TurnSettings) -> None:
        self._run = run
        self._spawn = spawn
        self._settings = settings
        self._sessions: dict[str, _Session] = {}
        self._next: dict[str, None] = {}
        self._running = 0
        self._open = True
        self._freed = anyio.Event()

    def ask(self, question: Question) -> None:
        """Submit a new question; a plugin's decision about it goes before the setting."""
        self.submit(question, OVERLAPS.get(question.admitted, self._settings.overlap))

    def submit(self, question: Question, overlap: Overlap = "follow_up") -> None:
        """Queue a question in its lane, and start it once it may run."""
        session = self._sessions.setdefault(question.session_id, _Session())
        lane = session.lanes.setdefault(question.lane, _Lane())
        own = lane.running is not None and _same_author(lane.running, question)
        if lane.turn is not None and overlap == "steer" and own:
            lane.turn.steered.append(question)
            return
        lane.queue.append(question)
        if overlap == "interrupt" and own:
            _cancel(lane, INTERRUPTED)
        self._start(question.session_id)

    def edited(self, row: InboxRow) -> None:
        """Replace the text of a waiting message."""
        session = self._sessions.get(row.session_id or "")
        for lane in session.lanes.values() if session else ():
            lane.queue = deque(question.edited(row) for question in lane.queue)
            if lane.turn is not None:
                lane.turn.steered[:] = [question.edited(row) for question in lane.turn.steered]

    def busy(self, session_id: str, lane: str) -> bool:
        """Return whether a question of a lane runs or waits."""
        session = self._sessions.get(session_id)
        return session is not None and lane in session.lanes

    def waiting(self, session_id: str) -> int:
        """Return the number of waiting questions of a session."""
        session = self._sessions.get(session_id)
        return sum(len(lane.queue) for lane in session.lanes.values()) if session else 0

    def forget(self, inbox_id: int) -> InboxRow | None:
        """Remove a waiting message and return its row; a running turn is not affected."""
        for session in self._sessions.values():
            for lane in session.lanes.values():
                waiting = [lane.queue, lane.turn.steered] if lane.turn else [lane.queue]
                for questions in waiting:
                    removed = _remove(questions, inbox_id)
                    if removed is not None:
                        return removed
        return None

    def stop(
        self, session_id: str, wanted: Callable[[Question], bool], stopped_by: dict[str, Any]
    ) -> tuple[int, list[Question]]:
        """Stop the questions that match; return the number of running ones, and the others."""
        session = self._sessions.get(session_id)
        if session is None:
            return 0, []
        dropped: list[Question] = []
        ended = 0
        for key, lane in list(session.lanes.items()):
            dropped += [question for question in lane.queue if wanted(question)]
            lane.queue = deque(question for question in lane.queue if not wanted(question))
            if lane.running is not None and wanted(lane.running):
                if lane.turn is not None:
                    dropped += lane.turn.steered
                    lane.turn.steered.clear()
                _cancel(lane, stopped_by)
                ended += 1
            elif lane.running is None and not lane.queue:
                del session.lanes[key]
        return ended, dropped

    def close(self) -> None:
        """Start no more turns; running ones go on."""
        self._open = False

    async def idle(self) -> None:
        """Wait until no turn runs; unless `close` was called, none waits then either."""
        while self._running:
            await self._freed.wait()

    def _start(self, session_id: str) -> None:
        """Enqueue a session, and start turns while capacity is left."""
        self._next.setdefault(session_id)
        while self._open and self._next and self._running < self._settings.running:
            first = next(iter(self._next))
            del self._next[first]
            if self._start_one(first):
                self._next[first] = None  # its other lanes go behind those of the others

    def _start_one(self, session_id: str) -> bool:
        """Start the first lane of a session that can run; return whether there was one."""
        session = self._sessions.get(session_id)
        if session is None or session.running >= self._settings.lanes:
            return False
        for key, lane in session.lanes.items():
            if lane.queue and lane.running is None:
                lane.running = lane.queue.popleft()
                session.running += 1
                self._running += 1
                self._spawn("turn", self._work(session_id, session, key, lane, lane.running))
                return True
        return False

    def _work(
        self, session_id: str, session: _Session, key: str | None, lane: _Lane, question: Question
    ) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            try:
                with anyio.CancelScope() as scope:
                    lane.scope = scope
                    await self._run(question, lambda turn: _begun(lane, turn))
            except anyio.get_cancelled_exc_class():
                # The process ends: no turn may begin inside one that is handed over.
                self.close()
                raise
            finally:
                self._finished(session_id, session, key, lane)

        return work

    def _finished(self, session_id: str, session: _Session, key: str | None, lane: _Lane) -> None:
        if lane.turn is not None:
            lane.queue.extendleft(reversed(lane.turn.steered))
        lane.running, lane.turn, lane.scope, lane.stopped_by = None, None, None, None
        session.running -= 1
        self._running -= 1
        self._freed.set()
        self._freed = anyio.Event()
        # Other lanes of the session come first: this one goes to the end.
        del session.lanes[key]
        if lane.queue:
            session.lanes[key] = lane
        if not session.lanes and session.running == 0:
            self._sessions.pop(session_id, None)
        self._start(session_id)


def _remove(questions: MutableSequence[Question], inbox_id: int) -> InboxRow | None:
    for position, question in enumerate(questions):
        left, removed = question.without(inbox_id)
        if removed is not None:
            if left is not None:
                questions[position] = left
            else:
                del questions[position]
            return removed
    return None


def _cancel(lane: _Lane, stopped_by: dict[str, Any]) -> None:
    """Stop the running turn of a lane; one that has not begun yet stops once it has."""
    lane.stopped_by = stopped_by
    if lane.turn is not None:
        _end(lane, lane.turn)


def _begun(lane: _Lane, turn: Turn) -> None:
    lane.turn = turn
    _end(lane, turn)


def _end(lane: _Lane, turn: Turn) -> None:
    if lane.stopped_by is not None and lane.scope is not None:
        turn.stopped_by.update(lane.stopped_by)
        lane.scope.cancel()


def _same_author(running: Question, question: Question) -> bool:
    return running.message.sender.id == question.message.sender.id
