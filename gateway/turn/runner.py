"""Run turns: each goes through the pipeline, then ends as done, failed or stopped.

A turn that is cut off before its end is resumed at the next start.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Final

import anyio

from agent.errors import AgentError, describe
from agent.events import AgentEvent
from channels.message import InboundMessage, OutboundMessage
from gateway.access.roles import Roles
from gateway.context.images import load_images
from gateway.context.retrieval import find_nearby, opened_on
from gateway.context.rooms.memories import RoomMemories
from gateway.context.selection import Nearby, Selection, select_messages
from gateway.delivery.sender import OutboxSender
from gateway.hooks.messages import address_of
from gateway.logs import get_log, logged_with
from gateway.metrics.catalog import TURNS
from gateway.pipeline.pipeline import TurnResult
from gateway.pipeline.turn import Question, RunningTurns, Turn
from gateway.services import Services
from gateway.storage.ledger.leases import LEASE_SECONDS
from gateway.storage.ledger.ledger import MAX_ATTEMPTS
from gateway.storage.ledger.rows import OutboxRow, idem_key, new_turn_id
from gateway.turn.budgets import check, is_used_up, refuse
from gateway.turn.stopped import LOST, STOPPED, mark_stopped
from gateway.turn.transactions import (
    begin,
    begun_before,
    commit_again,
    commit_done,
    commit_failed,
    commit_stopped,
)
from tape.errors import (
    AppendRefused,
    OutcomeUnknown,
    SessionLost,
    StoreUnavailable,
    TapeError,
    UnitFailed,
)
from tape.lanes import is_apart

RENEW_SECONDS: Final = LEASE_SECONDS / 3
SORRY: Final = "Sorry, I couldn't answer: "  # with which the notice of a failed turn begins
_LETTERS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(slots=True)
class TurnRunner:
    """Answers each question with a turn, and renews the leases of sessions with running turns."""

    _services: Services
    _turns: RunningTurns
    _memories: RoomMemories
    _sender: OutboxSender
    _roles: Roles
    _renewing: bool = False

    async def run(self, question: Question, started: Callable[[Turn | None], None]) -> None:
        """Answer a question; `started` gets its turn, and None once that has to begin again.

        A turn cancelled while `stopped_by` is empty stays open; the next start resumes it.
        """
        role = await self._roles.of(question.message)
        left: Question | None = replace(question, role=role)
        steered: list[Question] = []
        while left is not None:
            left = await self._attempt(left, steered, started)

    async def _attempt(
        self, question: Question, steered: list[Question], started: Callable[[Turn | None], None]
    ) -> Question | None:
        """Run a turn; if the database became unavailable, return the question, to be run again."""
        try:
            turn = await self._begin(question, steered)
        except UnitFailed as failed:
            if is_used_up(failed):
                await self._refused(question)
                return None
            left = await self._services.ledger.inbox.still_open(question.rows)
            if left == question.rows:
                await self._services.router.end_all(question.messages, silent=True)
                raise
            return replace(question, rows=left) if left else None  # the others were deleted
        except SessionLost:
            await self._services.router.abandon(*question.messages)
            return None
        except Exception:
            await self._services.router.end_all(question.messages, silent=True)
            raise
        session, channel = turn.question.session_id, turn.message.channel
        with logged_with(session=session, turn=turn.id, channel=channel):
            self._turns.add(turn)
            if not self._renewing and self._services.shared is None:
                self._renewing = True
                self._services.spawn("leases", self._renew)
            started(turn)
            try:
                return await self._answer(turn, started)
            finally:
                self._turns.remove(turn)

    async def _answer(self, turn: Turn, started: Callable[[Turn | None], None]) -> Question | None:
        try:
            if await self._ended_before(turn):
                return None
            with anyio.fail_after(self._services.settings.turn.deadline):
                await load_images(self._services, turn)
                result = await self._services.pipeline.process_inbound(turn.message, turn)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._cancelled(turn)
            raise
        except Exception as cause:
            if _is_in(cause, SessionLost):
                await self._abandoned(turn)
                return None
            again = turn.question.losses + 1 < MAX_ATTEMPTS and not turn.stopped_by
            if again and _is_in(cause, StoreUnavailable, OutcomeUnknown):
                started(None)
                return await self._lost(turn, cause)
            if isinstance(cause, TimeoutError):
                await self._services.hooks.notify_error("turn", cause, turn.message)
            with anyio.CancelScope(shield=True):
                await self._failed(turn, cause)
        else:
            with anyio.CancelScope(shield=True):
                await self._done(turn, result)
        return None

    async def _refused(self, question: Question) -> None:
        """End a question whose author's budget is used up."""
        owners = self._roles.owners(question.message)
        rows = await refuse(self._services, question, owners)
        self._sender.enqueue(rows)
        self._services.meters.add(TURNS, question.message.channel, "refused")
        for row in question.rows:
            silent = not rows or row.message.ext_id != question.message.ext_id
            await self._services.router.end_without_answer(row.message, silent=silent)

    async def _renew(self) -> None:
        """Renew the leases of the sessions with running turns until no turn runs."""
        leases = self._services.ledger.leases
        try:
            while self._turns.sessions():
                await self._services.clock.sleep(RENEW_SECONDS)
                sessions = self._turns.sessions()
                if sessions:
                    renew = partial(leases.renew, sessions)
                    await self._services.guard.retrying("lease", renew)
        finally:
            self._renewing = False

    async def _ended_before(self, turn: Turn) -> bool:
        rows = await commit_again(self._services, turn)
        if rows is None:
            return False
        self._sender.enqueue(rows)
        await self._services.router.end_all(turn.question.messages, silent=True)
        return True

    async def _begin(self, question: Question, steered: list[Question]) -> Turn:
        """Begin a turn once, however often the database does not answer."""
        with self._services.way:
            return await self._begun(question, steered)

    async def _begun(self, question: Question, steered: list[Question]) -> Turn:
        services = self._services
        selected = await services.guard.retrying("turn", lambda: self._select(question))
        turn_id, tries = selected[0].turn_id or new_turn_id(), count()

        def begun() -> Awaitable[Turn]:
            return begin(services, *selected, steered, turn_id, again=next(tries) > 0)

        return await services.guard.retrying("turn", begun)

    async def _select(self, question: Question) -> tuple[Question, Selection]:
        tape = self._services.tapes.tape(question.tape)
        if not question.turn_id and not self._services.store.one_transaction:
            lost = await begun_before(tape, question)
            question = question.resuming(lost) if lost else question
            if not lost:
                await check(self._services, question)
        if question.turn_id:
            return question, Selection()
        waiting = await self._waiting(question.session_id)
        budget = self._services.settings.context.new_tokens
        nearby = await self._nearby(question)
        selection = await select_messages(
            tape, question.lane, question.entry_ids, waiting, budget, nearby
        )
        return question, selection

    async def _waiting(self, session_id: str) -> frozenset[int]:
        shared = self._services.shared
        known = shared.held.waiting(session_id) if shared is not None else None
        if known is not None:
            return known
        return await self._services.ledger.inbox.waiting_entries(session_id)

    async def _nearby(self, question: Question) -> Nearby:
        if question.lane is None:
            return Nearby()
        if is_apart(question.lane):
            opened = await opened_on(self._services, question)
            return Nearby(thread=question.message.thread_id, apart=True, opened=opened)
        name = self._services.settings.agent.name.casefold()
        words = " ".join(row.message.text for row in question.rows).split()
        text = " ".join(word for word in words if not _is_address(word, name))
        tape = self._services.tapes.tape(question.tape)
        limit = self._services.settings.context.older_messages
        try:
            return await find_nearby(
                self._memories, tape, question.message, question.rows[-1].id, text, limit
            )
        except StoreUnavailable:
            raise
        except Exception as cause:  # the question can be answered without its context
            get_log().error("turn.nothing_near", exc_info=cause)
            return Nearby(thread=question.message.thread_id)

    async def _done(self, turn: Turn, result: TurnResult) -> None:
        try:
            rows = await self._end(turn, lambda: commit_done(self._services, turn, result))
        except AppendRefused as cause:  # the tape refuses the answer
            await self._failed(turn, cause)
            return
        if rows is None:
            return
        get_log().info("turn.done", characters=len(result.model_output))
        await self._answered(turn, rows)

    async def _answered(self, turn: Turn, rows: list[OutboxRow]) -> None:
        first_parts = [row for row in rows if row.message.part == 0]
        if not any(row.message.answers == turn.message.ext_id for row in first_parts):
            await self._services.router.end_without_answer(turn.message, silent=True)

    async def _end(
        self, turn: Turn, commit: Callable[[], Awaitable[list[OutboxRow]]]
    ) -> list[OutboxRow] | None:
        """Commit a turn's end, queue its messages for sending, and return their rows.

        Return None if another process has taken over the turn, which then ends silently here.
        """
        try:
            rows = await self._services.guard.retrying("turn's end", commit)
        except AppendRefused:
            raise
        except SessionLost:
            await self._abandoned(turn)
            return None
        except TapeError as lost:
            get_log().error("turn.end_refused", turn=turn.id, exc_info=lost)
            await self._services.router.end_all(turn.question.messages, silent=True)
            return None
        self._memories.answered(turn.question.tape, turn.wrote)
        self._sender.enqueue(rows)
        for row in turn.took:
            if row.message.ext_id != turn.message.ext_id:  # the newest message gets the answer
                await self._services.router.end_without_answer(row.message, silent=True)
        return rows

    async def _abandoned(self, turn: Turn) -> None:
        get_log().info("turn.abandoned", turn=turn.id)
        await self._services.router.abandon(*(row.message for row in turn.took))

    async def _lost(self, turn: Turn, cause: Exception) -> Question:
        get_log().error("turn.lost", turn=turn.id, why=str(cause))
        reset = AgentEvent("reset", {"why": "the database was unavailable"})
        await self._services.router.dispatch_event(reset, turn.message)
        return replace(turn.question, rows=tuple(turn.took)).resuming(turn.id, attempts=1)

    async def _failed(self, turn: Turn, cause: Exception) -> None:
        error_id = new_error_id()
        if isinstance(cause, AgentError):  # its words say it all
            get_log().error("turn.failed", error_id=error_id, why=describe(cause)[:2000])
            get_log().debug("turn.traceback", exc_info=cause)
        else:
            get_log().error("turn.failed", error_id=error_id, exc_info=cause)
        notice = answer_to(turn.message, error_sentence(cause, error_id), turn.id)
        reason = {"error_id": error_id, "error": describe(cause)[:2000]}
        await self._services.router.end_without_answer(turn.message, silent=False)
        await self._end(turn, lambda: commit_failed(self._services, turn, notice, reason))

    async def _cancelled(self, turn: Turn) -> None:
        if not turn.stopped_by:
            try:
                session_id = turn.question.session_id
                await self._services.ledger.inbox.hand_over(session_id, turn.id)
            except TapeError as lost:
                get_log().error("turn.hand_over_not_recorded", turn=turn.id, why=str(lost))
            get_log().info("turn.handed_over")
            return
        if turn.stopped_by == LOST:
            await self._abandoned(turn)
            return
        silent = turn.stopped_by.get("why") == "interrupted"
        kept = () if silent else turn.kept
        sends, final = await mark_stopped(kept, turn.said.of_step(), turn.stopped_by)
        if not (sends or silent):
            sends = [answer_to(turn.message, STOPPED, turn.id)]
        await self._services.router.end_without_answer(turn.message, silent=silent)
        try:
            rows = await self._end(turn, lambda: commit_stopped(self._services, turn, sends, final))
        except AppendRefused as cause:  # the tape refuses the text so far
            await self._failed(turn, cause)
            return
        if rows is not None and final is not None:
            await self._answered(turn, rows)
        get_log().info("turn.stopped", by=turn.stopped_by)


def _is_address(word: str, name: str) -> bool:
    return word.startswith("@") or word.strip(",:;.!?").casefold() == name


def _is_in(cause: Exception, *kinds: type[TapeError]) -> bool:
    if isinstance(cause, ExceptionGroup):
        return any(_is_in(inner, *kinds) for inner in cause.exceptions)
    return isinstance(cause, kinds)


def answer_to(message: InboundMessage, text: str, turn_id: str) -> OutboundMessage:
    """Return the notice that a chat gets instead of a turn's answer."""
    return OutboundMessage(
        **address_of(message), text=text, kind="notice", turn=turn_id, idem=idem_key(turn_id, 0)
    )


def new_error_id() -> str:
    """Return an id that a notice and the log share, so that the operator can find the error."""
    return "E-" + "".join(secrets.choice(_LETTERS) for _ in range(6))


def error_sentence(cause: BaseException, error_id: str) -> str:
    """Return the sentence with which the agent reports an error to a chat."""
    if isinstance(cause, TimeoutError):
        reason = "it took too long"
    elif isinstance(cause, AgentError):
        reason = cause.sentence
    else:
        reason = "something went wrong on my side"
    return f"{SORRY}{reason}. (Ref {error_id})"
