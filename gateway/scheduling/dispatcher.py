"""Route each message that is on its tape to a notice, a command, or a turn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from agent.events import AgentEvent
from agent.tool import Role
from channels.message import InboundMessage
from gateway.access.access import BEFORE, Decision
from gateway.background import KeyedQueue
from gateway.context.lane_assignment import Pending
from gateway.intake.entry_meta import closed_command, is_command, word_of
from gateway.intake.placing.sink import IntakeSink
from gateway.pipeline.turn import BurstKey, Question
from gateway.scheduling.commands import Commands
from gateway.scheduling.debounce import Debouncer, debounce_left, debounce_seconds
from gateway.scheduling.lane_scheduler import LaneScheduler
from gateway.scheduling.notices import Notices
from gateway.scheduling.opening.pairer import Pairer
from gateway.scheduling.presses import Presses
from gateway.services import Services
from gateway.storage.ledger.ledger import MAX_CRASHES
from gateway.storage.ledger.rows import InboxRow
from gateway.turn.stopped import LOST
from tape.errors import SessionLost, UnitFailed
from tape.unit_of_work import Unit


@dataclass(eq=False)
class Dispatcher(IntakeSink, Pending):
    """Routes the messages of all chats, and says which lanes are busy."""

    _services: Services
    _debouncer: Debouncer
    _scheduler: LaneScheduler
    _commands: Commands
    _notices: Notices
    _presses: Presses
    _pairer: Pairer
    _closed: bool = False

    def __post_init__(self) -> None:
        self._running_commands: KeyedQueue[str] = KeyedQueue("command", self._services.spawn)

    def close(self) -> None:
        """Start no more turns; running turns continue."""
        self._closed = True
        self._scheduler.close()

    @property
    def is_answering(self) -> bool:
        """Whether a turn or a command runs."""
        return self._scheduler.is_running or self._running_commands.is_busy

    async def idle(self) -> None:
        """Wait until nothing runs and, unless the dispatcher is closed, no question waits."""
        await self._running_commands.idle()
        if not self._closed:
            await self._debouncer.idle()
        await self._scheduler.idle()

    async def taken(self, question: Question, decision: Decision, *, stale: bool = False) -> None:
        message = question.message
        if self._services.ledger.held.concerns(question.rows[0]):
            await self._services.router.end_without_answer(message, silent=True)
            return
        if message.kind == "change":
            await self._notices.greet(question, decision)
            return
        if question.rows[0].status == "refused":
            if message.addressed and not decision.allowed and decision.rule != BEFORE:
                await self._notices.refuse(question)
            await self._services.router.end_without_answer(message, silent=decision.allowed)
            return
        if stale:
            self._notices.stale(question)
        if not message.addressed:
            self._debouncer.heard(message, debounce_left(self._services, question.rows[-1]))
            return
        if is_command(message):
            await self._command(question)
            return
        if self._is_full(question):
            await self._notices.full(question)
            return
        await self._services.router.dispatch_event(AgentEvent("accepted"), message)
        self._debouncer.add(question, debounce_left(self._services, question.rows[-1]))

    def expects(self, row: InboxRow, seconds: float) -> None:
        debounce = debounce_seconds(self._services, row.message)
        self._debouncer.expect(row.message, seconds + debounce)

    def edited(self, row: InboxRow) -> None:
        self._debouncer.edited(row)
        self._scheduler.edited(row)

    def deleted(self, row: InboxRow) -> None:
        self.forget(row.id)

    async def pressed(self, row: InboxRow) -> None:
        await self._presses.pressed(row)

    async def paired(self, row: InboxRow) -> None:
        await self._pairer.paired(row)

    async def failed(self, row: InboxRow) -> None:
        await self._notices.failed(row)

    def lane_of(self, burst: BurstKey) -> str | None:
        return self._debouncer.lane_of(burst)

    def is_busy(self, session_id: str, lane: str | None) -> bool:
        return self._debouncer.holds(session_id, lane) or self._scheduler.busy(session_id, lane)

    def will_collect(self, message: InboundMessage) -> bool:
        return not is_command(message) and debounce_seconds(self._services, message) > 0

    async def resume(self, question: Question) -> None:
        """Queue a question of an earlier process, or give up if its turn causes crashes."""
        if question.crashes >= MAX_CRASHES:
            await self._notices.given_up(question)
        elif is_command(question.message):
            await self._command(question)
        else:
            self.ask_again(question)

    def hold_suspects(self, seconds: float) -> None:
        """Start no turn that may cause crashes for some seconds."""

        async def release() -> None:
            await self._services.clock.sleep(seconds)
            self._scheduler.release_suspects()

        self._scheduler.hold_suspects()
        self._services.spawn("suspects", release)

    def ask_again(self, question: Question) -> None:
        """Queue a question that is already on its tape, if it is this process's business."""
        if not self._services.claims.holds(question.session_id):
            return
        if is_command(question.message):
            self._submit_command(question)
        else:
            self._scheduler.submit(question)

    def has_room(self) -> bool:
        """Return whether another turn could begin now."""
        return self._scheduler.has_room()

    async def room(self) -> None:
        """Wait until another session could begin a turn, or its turn has come in rotation."""
        await self._scheduler.room()

    def has_suspect(self, session_id: str) -> bool:
        """Return whether a turn that may cause crashes runs or waits in a session."""
        running = [question for question, _turn in self._scheduler.running(session_id)]
        return any(one.is_suspect for one in (*running, *self._scheduler.queued(session_id)))

    async def abandon(self, session_id: str) -> None:
        """Drop the questions and turns of a session that another process works on now."""
        waiting = self._debouncer.take_away(lambda one: one.session_id == session_id)
        _running, queued = self._scheduler.stop(session_id, lambda _question: True, LOST)
        for question in [*waiting, *queued]:
            await self._services.router.abandon(*question.messages)

    def forget(self, inbox_id: int) -> None:
        """Remove a waiting question; the ledger records separately that it was dropped."""
        removed = self._scheduler.forget(inbox_id) or self._debouncer.forget(inbox_id)
        if removed is not None:
            end = partial(self._services.router.end_without_answer, removed.message, silent=True)
            self._services.spawn("forget", end)

    def _is_full(self, question: Question) -> bool:
        """Return whether too many questions wait; others' questions don't shut the owner out."""
        waiting = self._scheduler.queued(question.session_id)
        if question.role >= Role.OWNER:
            waiting = [one for one in waiting if one.asker == question.asker]
        return len(waiting) >= self._services.settings.turn.queue_per_chat

    async def _command(self, question: Question) -> None:
        if word_of(question.message) == "stop":
            await self._run_command(question)
        else:
            self._submit_command(question)

    def _submit_command(self, question: Question) -> None:
        self._running_commands.submit(question.session_id, lambda: self._run_command(question))

    async def _run_command(self, question: Question) -> None:
        try:
            await self._services.guard.retrying("command", lambda: self._begin_command(question))
        except UnitFailed:  # it was deleted, or edited into something else, while it waited
            await self._services.router.end_without_answer(question.message, silent=True)
            return
        except SessionLost:
            await self._services.router.abandon(question.message)
            return
        text = await self._commands.run_as_author(question)
        command = closed_command(question.message)
        if text or not command:
            await self._notices.answer_command(question, text)
        else:  # a closed chat gets a sentence a day
            await self._notices.refuse(question, command)

    async def _begin_command(self, question: Question) -> None:
        unit = Unit(works_on={question.session_id})
        self._services.ledger.inbox.begin_command(unit, question.rows[0])
        await self._services.store.commit(unit)
