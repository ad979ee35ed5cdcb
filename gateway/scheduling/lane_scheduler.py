"""Sessions and lanes: which question runs when.

Lanes of one session run side by side, up to a bound; within a lane questions run in order. So many
turns run at once in all, and sessions take their places in turn: one with thousands of questions
keeps nobody else waiting for more than one of them. A question for a lane whose turn runs waits,
goes into that turn, or ends it (`turn.overlap`); one of another person than whom the turn answers
always waits. The mailboxes hold references: what is lost with the process is in the inbox.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, MutableSequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import anyio

from gateway.keyed_queue import Spawn
from gateway.pipeline.turn import Question, Turn
from gateway.storage.ledger.rows import InboxRow

Overlap = Literal["follow_up", "steer", "interrupt"]
INTERRUPTED: Final = {"why": "interrupted"}


class Runs(Protocol):
    """Who answers a question; see `TurnRunner.run`."""

    def __call__(self, asked: Question, started: Callable[[Turn], None], /) -> Awaitable[None]:
        """Answer a question; `started` is told the turn once it has begun."""
        ...


@dataclass(slots=True)
class _Lane:
    """One conversation: what waits, and what runs (`asked` from the start, `turn` once begun)."""

    queue: deque[Question] = field(default_factory=deque)
    asked: Question | None = None
    turn: Turn | None = None
    scope: anyio.CancelScope | None = None
    stopped_by: dict[str, Any] | None = None


@dataclass(slots=True)
class _Session:
    lanes: dict[str | None, _Lane] = field(default_factory=dict)
    running: int = 0


class LaneScheduler:
    """Schedules questions."""

    def __init__(self, run: Runs, spawn: Spawn, most_lanes: int, most_turns: int) -> None:
        self._run = run
        self._spawn = spawn
        self._most_lanes = most_lanes
        self._most_turns = most_turns
        self._sessions: dict[str, _Session] = {}
        self._next: dict[str, None] = {}
        self._running = 0
        self._open = True
        self._freed = anyio.Event()

    def submit(self, asked: Question, overlap: Overlap = "follow_up") -> None:
        """Put a question into its lane, and start it when it may run."""
        session = self._sessions.setdefault(asked.session_id, _Session())
        lane = session.lanes.setdefault(asked.lane, _Lane())
        own = lane.asked is not None and _same_author(lane.asked, asked)
        if lane.turn is not None and overlap == "steer" and own:
            lane.turn.steered.append(asked)
            return
        lane.queue.append(asked)
        if overlap == "interrupt" and own:
            _cancel(lane, dict(INTERRUPTED))
        self._start(asked.session_id)

    def edited(self, row: InboxRow) -> None:
        """Let a message that waits for its turn read as it does now."""
        session = self._sessions.get(row.session_id or "")
        for lane in session.lanes.values() if session else ():
            lane.queue = deque(asked.reading(row) for asked in lane.queue)
            if lane.turn is not None:
                lane.turn.steered[:] = [asked.reading(row) for asked in lane.turn.steered]

    def busy(self, session_id: str, lane: str) -> bool:
        """Tell whether a question of a lane runs or waits."""
        session = self._sessions.get(session_id)
        return session is not None and lane in session.lanes

    def waiting(self, session_id: str) -> int:
        """Return how many questions of a session wait."""
        session = self._sessions.get(session_id)
        return sum(len(lane.queue) for lane in session.lanes.values()) if session else 0

    def forget(self, inbox_id: int) -> InboxRow | None:
        """Take a message out that waits, from where it stands; what runs goes on."""
        for session in self._sessions.values():
            for lane in session.lanes.values():
                waiting = [lane.queue, lane.turn.steered] if lane.turn else [lane.queue]
                for questions in waiting:
                    gone = _take_out(questions, inbox_id)
                    if gone is not None:
                        return gone
        return None

    def stop(
        self, session_id: str, wanted: Callable[[Question], bool], stopped_by: dict[str, Any]
    ) -> tuple[int, list[Question]]:
        """End what is wanted; returns how many turns are being ended, and what only waited."""
        session = self._sessions.get(session_id)
        if session is None:
            return 0, []
        dropped: list[Question] = []
        ended = 0
        for key, lane in list(session.lanes.items()):
            dropped += [asked for asked in lane.queue if wanted(asked)]
            lane.queue = deque(asked for asked in lane.queue if not wanted(asked))
            if lane.asked is not None and wanted(lane.asked):
                if lane.turn is not None:
                    dropped += lane.turn.steered
                    lane.turn.steered.clear()
                _cancel(lane, stopped_by)
                ended += 1
            elif lane.asked is None and not lane.queue:
                del session.lanes[key]
        return ended, dropped

    def close(self) -> None:
        """Start no more turns; what runs may end."""
        self._open = False

    async def idle(self) -> None:
        """Wait until no turn runs."""
        while self._running:
            await self._freed.wait()

    def _start(self, session_id: str) -> None:
        """Let a session stand in the row for places, and fill those that are free."""
        self._next.setdefault(session_id)
        while self._open and self._next and self._running < self._most_turns:
            first = next(iter(self._next))
            del self._next[first]
            if self._start_one(first):
                self._next[first] = None  # it may have more, behind those that wait

    def _start_one(self, session_id: str) -> bool:
        """Start the first lane of a session that can run; tells whether there was one."""
        session = self._sessions.get(session_id)
        if session is None or session.running >= self._most_lanes:
            return False
        for key, lane in session.lanes.items():
            if lane.queue and lane.asked is None:
                lane.asked = lane.queue.popleft()
                session.running += 1
                self._running += 1
                self._spawn("turn", self._work(session_id, session, key, lane, lane.asked))
                return True
        return False

    def _work(
        self, session_id: str, session: _Session, key: str | None, lane: _Lane, asked: Question
    ) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            try:
                with anyio.CancelScope() as scope:
                    lane.scope = scope
                    await self._run(asked, lambda turn: _begun(lane, turn))
            except anyio.get_cancelled_exc_class():
                # The process ends: a turn that began now would stand inside the one handed over.
                self.close()
                raise
            finally:
                self._finished(session_id, session, key, lane)

        return work

    def _finished(self, session_id: str, session: _Session, key: str | None, lane: _Lane) -> None:
        if lane.turn is not None:
            lane.queue.extendleft(reversed(lane.turn.steered))
        lane.asked, lane.turn, lane.scope, lane.stopped_by = None, None, None, None
        session.running -= 1
        self._running -= 1
        self._freed.set()
        self._freed = anyio.Event()
        # The lane goes to the end of the row: lanes that wait for a place come first.
        del session.lanes[key]
        if lane.queue:
            session.lanes[key] = lane
        if not session.lanes and session.running == 0:
            self._sessions.pop(session_id, None)
        self._start(session_id)


def _take_out(questions: MutableSequence[Question], inbox_id: int) -> InboxRow | None:
    for position, asked in enumerate(questions):
        left, gone = asked.without(inbox_id)
        if gone is not None:
            if left is not None:
                questions[position] = left
            else:
                del questions[position]
            return gone
    return None


def _cancel(lane: _Lane, stopped_by: dict[str, Any]) -> None:
    """End what runs in a lane; a turn that has not begun yet ends as soon as it has."""
    lane.stopped_by = stopped_by
    if lane.turn is not None:
        _end(lane, lane.turn)


def _begun(lane: _Lane, turn: Turn) -> None:
    lane.turn = turn
    _end(lane, turn)


def _end(lane: _Lane, turn: Turn) -> None:
    if lane.stopped_by is not None and lane.scope is not None:
        turn.stopped_by = lane.stopped_by
        lane.scope.cancel()


def _same_author(running: Question, asked: Question) -> bool:
    return running.message.sender.id == asked.message.sender.id
