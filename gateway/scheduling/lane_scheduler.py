"""Decide which question runs when.

The lanes of a session run in parallel, up to a limit; the questions in a lane run in order. The
total number of running turns is limited too. Sessions start turns in rotation, so that a busy one
cannot starve the others. If a lane has a running turn, its author's next question waits, steers
that turn or interrupts it (`turn.overlap`); other authors' questions always wait. The queues are
only in memory: after a crash, the inbox still has every question. Turns suspected of causing
crashes run one at a time, beside all others, so that the next crash can be laid to one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, MutableSequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, get_args

import anyio

from agent.tool import Role
from channels.message import InboundMessage
from gateway.background import Spawn
from gateway.pipeline.turn import Question, Turn
from gateway.settings.sections import TurnSettings
from gateway.storage.ledger.rows import InboxRow

Overlap = Literal["follow_up", "steer", "interrupt"]
OVERLAPS: Final[dict[str, Overlap]] = {name: name for name in get_args(Overlap)}
INTERRUPTED: Final = {"why": "interrupted"}


RunQuestion = Callable[[Question, Callable[[Turn | None], None]], Awaitable[None]]
"""Answers a question; once its turn has begun, calls the given function with that turn.

If the turn is lost and has to begin again, the function is called with None in between.
"""


@dataclass(slots=True)
class _Session:
    id: str
    lanes: dict[str | None, _Lane] = field(default_factory=dict)
    running: int = 0
    begun: bool = False  # whether it has had a turn


@dataclass(slots=True)
class _Lane:
    """A conversation's waiting questions, its running one, and the turn once that has begun.

    A turn that waits to begin again is still `turn`, but not `begun`: it cannot be cancelled yet.
    """

    session: _Session
    key: str | None
    queue: list[Question] = field(default_factory=list)
    running: Question | None = None
    turn: Turn | None = None
    begun: bool = False
    scope: anyio.CancelScope | None = None
    stopped_by: dict[str, Any] | None = None


@dataclass(slots=True)
class LaneScheduler:
    """Queues questions in lanes and starts `_run` for each."""

    _run: RunQuestion
    _spawn: Spawn
    _settings: TurnSettings
    _most: int = 0  # maximum running turns of one person, except the owner; 0 is no limit
    _adds: Callable[[InboundMessage], bool] = lambda _message: False
    sessions: dict[str, _Session] = field(default_factory=dict, init=False)
    _next: dict[str, None] = field(default_factory=dict, init=False)
    _running: int = field(default=0, init=False)
    _of_person: Counter[str] = field(default_factory=Counter, init=False)
    _suspect: Question | None = field(default=None, init=False)  # the one that runs
    _held: bool = field(default=False, init=False)  # whether no suspect may run yet
    _open: bool = field(default=True, init=False)
    _freed: anyio.Event = field(default_factory=anyio.Event, init=False)

    def ask(self, question: Question) -> None:
        """Submit a new question; a plugin's decision about overlap overrides the setting.

        Where a channel wants that (`adds_to_waiting`), it is asked with its author's question
        before it, unless that has begun or others have asked since.
        """
        overlap = OVERLAPS.get(question.admitted, self._settings.overlap)
        if overlap != "follow_up" or question.admitted or not self._add(question):
            self.submit(question, overlap)

    def _add(self, question: Question) -> bool:
        """Add a question to the one that waits at the end of its lane, if they belong together."""
        session = self.sessions.get(question.session_id)
        lane = session.lanes.get(question.lane) if session is not None else None
        if lane is None or not lane.queue or not self._adds(question.message):
            return False
        both = lane.queue[-1].with_added(question)
        if both is None or not both.may_be_asked_at_once:
            return False
        lane.queue[-1] = both
        return True

    def submit(self, question: Question, overlap: Overlap = "follow_up") -> None:
        """Queue a question in its lane, or steer the running turn with the question."""
        session = self.sessions.setdefault(question.session_id, _Session(question.session_id))
        lane = session.lanes.setdefault(question.lane, _Lane(session, question.lane))
        author = question.message.sender.id
        own = lane.running is not None and lane.running.message.sender.id == author
        if lane.turn is not None and overlap == "steer" and own:
            lane.turn.steered.append(question)
            return
        lane.queue.append(question)
        if overlap == "interrupt" and own:
            _cancel(lane, INTERRUPTED)
        self._start(question.session_id)

    def edited(self, row: InboxRow) -> None:
        """Replace the text of a waiting message that was edited."""
        session = self.sessions.get(row.session_id or "")
        for lane in session.lanes.values() if session else ():
            lane.queue = [question.edited(row) for question in lane.queue]
            if lane.turn is not None:
                lane.turn.steered[:] = [question.edited(row) for question in lane.turn.steered]

    def has_room(self) -> bool:
        """Return whether another turn could begin now."""
        return self._open and self._running < self._settings.parallel_total

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return self._running > 0

    async def room(self) -> None:
        """Wait until another turn could begin, or another session's turn has come in rotation."""
        while not self.has_room() and not all(one.begun for one in self.sessions.values()):
            await self._freed.wait()

    def busy(self, session_id: str, lane: str | None) -> bool:
        session = self.sessions.get(session_id)
        return session is not None and lane in session.lanes

    def running(self, session_id: str) -> list[tuple[Question, str]]:
        """Return a session's running questions, each with the id of its turn, if that has begun."""
        session = self.sessions.get(session_id)
        return [
            (lane.running, lane.turn.id if lane.turn else "")
            for lane in (session.lanes.values() if session else ())
            if lane.running is not None
        ]

    def queued(self, session_id: str) -> list[Question]:
        session = self.sessions.get(session_id)
        return [q for lane in session.lanes.values() for q in lane.queue] if session else []

    def forget(self, inbox_id: int) -> InboxRow | None:
        """Remove a waiting message and return its row, or None; running turns are not affected."""
        for session in self.sessions.values():
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
        """Stop all `wanted` questions; return the number of running ones, and the waiting ones."""
        session = self.sessions.get(session_id)
        if session is None:
            return 0, []
        dropped: list[Question] = []
        ended = 0
        for key, lane in list(session.lanes.items()):
            dropped += [question for question in lane.queue if wanted(question)]
            lane.queue = [question for question in lane.queue if not wanted(question)]
            if lane.running is not None and wanted(lane.running):
                if lane.turn is not None:
                    dropped += lane.turn.steered
                    lane.turn.steered.clear()
                _cancel(lane, stopped_by)
                ended += 1
            elif lane.running is None and not lane.queue:
                del session.lanes[key]
        return ended, dropped

    def hold_suspects(self) -> None:
        """Start no suspect until `release_suspects`."""
        self._held = True

    def release_suspects(self) -> None:
        self._held = False
        self._free()
        self._start(*self.sessions)

    def close(self) -> None:
        """Start no more turns; running turns continue."""
        self._open = False

    async def idle(self) -> None:
        """Wait until no turn runs and, unless the scheduler is closed, no question waits."""
        while self._running or (self._held and self._open):
            await self._freed.wait()

    async def outlast(self, session_id: str) -> None:
        """Wait until the turns that run in a session now have ended."""
        begun = {id(question) for question, _turn_id in self.running(session_id)}
        while any(id(question) in begun for question, _turn_id in self.running(session_id)):
            await self._freed.wait()

    def _start(self, *session_ids: str) -> None:
        self._next.update(dict.fromkeys(session_ids))
        while self._open and self._next and self._running < self._settings.parallel_total:
            first = next(iter(self._next))
            del self._next[first]
            if self._start_one(first):
                self._next[first] = None  # the session's other lanes wait for other sessions

    def _start_one(self, session_id: str) -> bool:
        """Start a lane of a session that is ready to run; return whether there was one."""
        session = self.sessions.get(session_id)
        if session is None or session.running >= self._settings.parallel_per_chat:
            return False
        ready = [lane for lane in session.lanes.values() if self._may_start(lane)]
        if not ready:
            return False
        # Whoever has the fewest turns running is next, so nobody's many questions shut others out.
        lane = min(ready, key=lambda one: self._of_person[one.queue[0].asker])
        lane.running = lane.queue.pop(0)
        if lane.running.is_suspect:
            self._suspect = lane.running
        session.running += 1
        session.begun = True
        self._running += 1
        self._of_person[lane.running.asker] += 1
        self._spawn("turn", partial(self._work, lane, lane.running))
        return True

    def _may_start(self, lane: _Lane) -> bool:
        if not lane.queue or lane.running is not None or self._is_full(lane.queue[0]):
            return False
        return not (lane.queue[0].is_suspect and (self._held or self._suspect is not None))

    def _is_full(self, question: Question) -> bool:
        """Return whether a person has as many running turns as one may have."""
        limited = self._most > 0 and question.role < Role.OWNER
        return limited and self._of_person[question.asker] >= self._most

    async def _work(self, lane: _Lane, question: Question) -> None:
        try:
            with anyio.CancelScope() as scope:
                lane.scope = scope
                await self._run(question, partial(_begun, lane))
        except anyio.get_cancelled_exc_class():
            # The process is ending: start no other turn while this one is handed over.
            self.close()
            raise
        finally:
            self._finished(lane, question)

    def _finished(self, lane: _Lane, question: Question) -> None:
        session = lane.session
        was_full = self._is_full(question)
        self._of_person[question.asker] -= 1
        self._of_person += Counter()  # forget people without any
        if lane.turn is not None:
            lane.queue[:0] = lane.turn.steered
        was_suspect = lane.running is self._suspect
        lane.running, lane.turn, lane.scope, lane.stopped_by = None, None, None, None
        lane.begun = False
        session.running -= 1
        self._running -= 1
        self._free()
        # Put this lane behind the session's other lanes.
        del session.lanes[lane.key]
        if lane.queue:
            session.lanes[lane.key] = lane
        if not session.lanes and session.running == 0:
            self.sessions.pop(session.id, None)
        self._start(session.id)
        if was_suspect:
            self._suspect = None
        if was_suspect or was_full:
            self._start(*self.sessions)  # another suspect, or another turn of the person, may run

    def _free(self) -> None:
        self._freed.set()
        self._freed = anyio.Event()


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
    """Stop a lane's running question; if its turn has not begun yet, the turn stops once it has."""
    lane.stopped_by = stopped_by
    _end_if_stopped(lane)


def _begun(lane: _Lane, turn: Turn | None) -> None:
    lane.begun = turn is not None
    lane.turn = turn or lane.turn
    _end_if_stopped(lane)


def _end_if_stopped(lane: _Lane) -> None:
    if lane.stopped_by is None or not lane.begun:
        return
    if lane.turn is not None and lane.scope is not None:
        lane.turn.stopped_by.update(lane.stopped_by)
        lane.scope.cancel()
