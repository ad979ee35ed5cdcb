"""Sessions and lanes: which question runs when.

Lanes of one session run side by side, up to a bound; within a lane questions run in order. A
question for a lane whose turn runs waits, goes into that turn, or ends it (`turn.overlap`). The
mailboxes hold references: what is lost with the process is in the inbox.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import anyio

from gateway.buffer import Spawn
from gateway.logs import get_log
from gateway.turn import Asked, Turn

Overlap = Literal["follow_up", "steer", "interrupt"]
INTERRUPTED: Final = {"why": "interrupted"}


class Runs(Protocol):
    """Who answers a question; see `TurnRunner.run`."""

    def __call__(
        self, asked: Asked, waiting: set[int], started: Callable[[Turn], None]
    ) -> Awaitable[None]:
        """Answer a question."""
        ...


@dataclass(slots=True)
class _Lane:
    queue: deque[Asked] = field(default_factory=deque)
    turn: Turn | None = None
    scope: anyio.CancelScope | None = None
    busy: bool = False


@dataclass(slots=True)
class _Session:
    lanes: dict[str | None, _Lane] = field(default_factory=dict)
    running: int = 0


class Sessions:
    """Schedules questions; `waiting_of` adds the entries that are still being collected."""

    def __init__(
        self,
        run: Runs,
        spawn: Spawn,
        most_lanes: int,
        waiting_of: Callable[[str], set[int]],
    ) -> None:
        self._run = run
        self._spawn = spawn
        self._most_lanes = most_lanes
        self._waiting_of = waiting_of
        self._sessions: dict[str, _Session] = {}
        self._open = True
        self._freed = anyio.Event()

    def submit(self, asked: Asked, overlap: Overlap = "follow_up") -> None:
        """Put a question into its lane, and start it when it may run."""
        session = self._sessions.setdefault(asked.session_id, _Session())
        lane = session.lanes.setdefault(asked.lane, _Lane())
        if lane.turn is not None and overlap == "steer" and _same_author(lane.turn, asked):
            lane.turn.steered.append(asked)
            return
        lane.queue.append(asked)
        if lane.busy and overlap == "interrupt":
            self._cancel(lane, dict(INTERRUPTED))
        self._start(asked.session_id, session)

    def waiting(self, session_id: str) -> int:
        """Return how many questions of a session wait."""
        session = self._sessions.get(session_id)
        return sum(len(lane.queue) for lane in session.lanes.values()) if session else 0

    def stop(
        self, session_id: str, wanted: Callable[[Asked], bool], stopped_by: dict[str, Any]
    ) -> list[Asked]:
        """End the turns of a session whose question is wanted; returns those that only waited."""
        session = self._sessions.get(session_id)
        dropped: list[Asked] = []
        for lane in list(session.lanes.values()) if session else ():
            dropped += [asked for asked in lane.queue if wanted(asked)]
            lane.queue = deque(asked for asked in lane.queue if not wanted(asked))
            if lane.turn is not None and wanted(lane.turn.asked):
                dropped += lane.turn.steered
                lane.turn.steered.clear()
                self._cancel(lane, stopped_by)
        return dropped

    def stops_anything(self, session_id: str, wanted: Callable[[Asked], bool]) -> bool:
        """Tell whether a turn that is wanted runs."""
        session = self._sessions.get(session_id)
        lanes = session.lanes.values() if session else ()
        return any(lane.turn is not None and wanted(lane.turn.asked) for lane in lanes)

    def close(self) -> None:
        """Start no more turns; what runs may end."""
        self._open = False

    async def idle(self) -> None:
        """Wait until no turn runs."""
        while any(session.running for session in self._sessions.values()):
            await self._freed.wait()

    def _cancel(self, lane: _Lane, stopped_by: dict[str, Any]) -> None:
        if lane.turn is not None and lane.scope is not None:
            lane.turn.stopped_by = stopped_by
            lane.scope.cancel()

    def _start(self, session_id: str, session: _Session) -> None:
        for key, lane in session.lanes.items():
            if not self._open or session.running >= self._most_lanes:
                return
            if lane.queue and not lane.busy:
                lane.busy = True
                session.running += 1
                asked = lane.queue.popleft()
                self._spawn("turn", self._work(session_id, session, key, lane, asked))

    def _work(
        self, session_id: str, session: _Session, key: str | None, lane: _Lane, asked: Asked
    ) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            try:
                with anyio.CancelScope() as scope:
                    lane.scope = scope
                    await self._run(
                        asked, self._entries(session_id), lambda turn: _begun(lane, turn)
                    )
            finally:
                self._finished(session_id, session, key, lane)

        return work

    def _finished(self, session_id: str, session: _Session, key: str | None, lane: _Lane) -> None:
        if lane.turn is not None:
            lane.queue.extendleft(reversed(lane.turn.steered))
        lane.turn, lane.scope, lane.busy = None, None, False
        session.running -= 1
        self._freed.set()
        self._freed = anyio.Event()
        if not lane.queue:
            del session.lanes[key]
        elif self._most_lanes <= len(session.lanes):
            # The lane goes to the end of the row: lanes that wait for a place come first.
            session.lanes[key] = session.lanes.pop(key)
        if session.lanes:
            self._start(session_id, session)
        elif session.running == 0:
            del self._sessions[session_id]
        get_log().debug("lane.free", session=session_id, lane=key)

    def _entries(self, session_id: str) -> set[int]:
        """Return the entries of a session that wait for turns of their own."""
        session = self._sessions[session_id]
        queued = {
            number
            for lane in session.lanes.values()
            for asked in lane.queue
            for number in asked.entry_ids
        }
        return queued | self._waiting_of(session_id)


def _begun(lane: _Lane, turn: Turn) -> None:
    lane.turn = turn


def _same_author(turn: Turn, asked: Asked) -> bool:
    return turn.message.sender.id == asked.message.sender.id
