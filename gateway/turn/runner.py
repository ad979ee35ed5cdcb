"""Running turns: begin, the pipeline, one of three ends; or none, and the next start resumes."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

import anyio
import structlog

from agent.errors import AgentError
from agent.events import AgentEvent
from channels.message import InboundMessage, OutboundMessage
from gateway.context.images import load_images
from gateway.context.retrieval import find_nearby
from gateway.context.room_memory import RoomMemories
from gateway.context.selection import Nearby, Selection, select_messages
from gateway.hooks.messages import address_of
from gateway.keyed_queue import Spawn
from gateway.logs import get_log
from gateway.pipeline.turn import Question, Turn
from gateway.services import Services
from gateway.storage.ledger.leases import LEASE_SECONDS
from gateway.storage.ledger.ledger import MOST_ATTEMPTS
from gateway.storage.ledger.rows import OutboxRow, idem_key
from gateway.turn.transactions import (
    begin,
    begun_before,
    commit_again,
    commit_done,
    commit_failed,
    commit_stopped,
)
from tape.errors import AppendRefused, StoreUnavailable, TapeError, UnitFailed

RENEW_SECONDS: Final = LEASE_SECONDS / 3
STOPPED: Final = "Stopped."
_LETTERS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

Deliver = Callable[[list[OutboxRow]], None]
"""Takes what a commit has put into the outbox."""


class TurnRunner:
    """Runs one question at a time for whoever schedules them; knows the turns that run."""

    def __init__(
        self,
        services: Services,
        running: dict[str, Turn],
        rooms: RoomMemories,
        deliver: Deliver,
        spawn: Spawn,
    ) -> None:
        self._services = services
        self._running = running
        self._rooms = rooms
        self._deliver = deliver
        self._spawn = spawn
        self._renewing = False

    async def run(self, asked: Question, started: Callable[[Turn], None]) -> None:
        """Answer a question.

        Cancelled without `stopped_by`, the turn stays open and is resumed at the next start.
        """
        again: Question | None = asked
        steered: list[Question] = []
        while again is not None:
            again = await self._attempt(again, steered, started)

    async def _attempt(
        self, asked: Question, steered: list[Question], started: Callable[[Turn], None]
    ) -> Question | None:
        """Run a turn; returns what is asked again because the database was lost meanwhile."""
        try:
            turn = await self._services.persist.retrying("turn", lambda: self._begin(asked))
        except UnitFailed:
            left = await self._services.ledger.inbox.still_open(asked.rows)
            if left == asked.rows:
                await self._tell_end(asked.message, silent=True)
                raise
            return replace(asked, rows=left) if left else None  # others were deleted meanwhile
        except Exception:
            await self._tell_end(asked.message, silent=True)
            raise
        turn.steered = steered
        structlog.contextvars.bind_contextvars(
            session=turn.session_id, turn=turn.id, channel=turn.message.channel
        )
        self._running[turn.id] = turn
        if not self._renewing:
            self._renewing = True
            self._spawn("leases", self._renew)
        started(turn)
        try:
            return await self._answer(turn)
        finally:
            del self._running[turn.id]
            structlog.contextvars.clear_contextvars()

    async def _answer(self, turn: Turn) -> Question | None:
        try:
            if await self._finished(turn):
                return None
            with anyio.fail_after(self._services.settings.turn.deadline):
                await load_images(self._services, turn)
                result = await self._services.pipeline.process_inbound(turn.message, turn)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._cancelled(turn)
            raise
        except Exception as cause:
            if _store_was_lost(cause) and turn.took[0].attempts + 1 < MOST_ATTEMPTS:
                get_log().error("turn.lost", turn=turn.id, why=str(cause))
                begins_again = AgentEvent("reset", {"why": "the database was away"})
                await self._services.router.dispatch_event(begins_again, turn.message)
                rows = tuple(replace(row, attempts=row.attempts + 1) for row in turn.took)
                return replace(turn.asked, turn_id=turn.id, rows=rows)
            if isinstance(cause, TimeoutError):
                await self._services.hooks.notify_error("turn", cause, turn.message)
            with anyio.CancelScope(shield=True):
                await self._failed(turn, cause)
        else:
            with anyio.CancelScope(shield=True):
                await self._done(turn, result.model_output)
        return None

    async def _renew(self) -> None:
        """Keep the sessions of the turns that run; ends when none does."""
        try:
            while self._running:
                await self._services.clock.sleep(RENEW_SECONDS)
                held = {turn.session_id for turn in self._running.values()}
                if held:
                    await self._services.persist.retrying(
                        "lease",
                        lambda held=held: self._services.ledger.leases.renew(held),  # type: ignore[misc]
                    )
        finally:
            self._renewing = False

    async def _finished(self, turn: Turn) -> bool:
        """End a turn whose end is on the tape already, as it stands there; else it is to be run."""
        rows = await commit_again(self._services, turn)
        if rows is None:
            return False
        self._deliver(rows)
        await self._tell_end(turn.message, silent=True)
        return True

    async def _begin(self, asked: Question) -> Turn:
        tape = self._services.tapes.tape(asked.tape)
        if not asked.turn_id and not self._services.store.one_transaction:
            asked = replace(asked, turn_id=await begun_before(tape, asked))
        if asked.turn_id:
            return await begin(self._services, asked, Selection())
        waiting = await self._services.ledger.inbox.waiting_entries(asked.session_id)
        budget = self._services.settings.context.takes
        known = await self._near(asked)
        takes = await select_messages(tape, asked.lane, asked.entry_ids, waiting, budget, known)
        return await begin(self._services, asked, takes)

    async def _near(self, asked: Question) -> Nearby:
        """Return what is known of a question beside its lane."""
        if asked.lane is None:
            return Nearby()
        name = self._services.settings.agent.name.casefold()
        words = " ".join(row.message.text for row in asked.rows).split()
        text = " ".join(word for word in words if not _calls(word, name))
        tape = self._services.tapes.tape(asked.tape)
        most = self._services.settings.context.evidence
        try:
            return await find_nearby(
                self._rooms, tape, asked.message, asked.rows[-1].id, text, most
            )
        except StoreUnavailable:
            raise
        except Exception as cause:  # a question is answered also without
            get_log().error("turn.nothing_near", exc_info=cause)
            return Nearby(thread=asked.message.thread_id)

    async def _done(self, turn: Turn, output: str) -> None:
        try:
            rows = await self._end(turn, lambda: commit_done(self._services, turn, output))
        except AppendRefused as cause:  # what was said cannot be written down
            await self._failed(turn, cause)
            return
        if rows is None:
            return
        get_log().info("turn.done", characters=len(output))
        said = turn.final_text if turn.final_text is not None else output
        if said.strip():
            now = self._services.clock.now().timestamp()
            self._rooms.answered(turn.asked.tape, turn.lane, turn.id, said, now)
        in_place = [row for row in rows if row.message.part == 0]
        if not any(row.message.answers == turn.message.ext_id for row in in_place):
            await self._tell_end(turn.message, silent=True)

    async def _end(
        self, turn: Turn, commit: Callable[[], Awaitable[list[OutboxRow]]]
    ) -> list[OutboxRow] | None:
        """Write a turn's end and send what it says.

        A turn that is no longer ours ends silently: None.
        """
        try:
            rows = await self._services.persist.retrying("turn's end", commit)
        except AppendRefused:
            raise
        except TapeError as lost:
            get_log().error("turn.end_refused", turn=turn.id, exc_info=lost)
            await self._tell_end(turn.message, silent=True)
            return None
        self._deliver(rows)
        for row in turn.took:
            if row.message.ext_id != turn.message.ext_id:  # answered in the newest one's answer
                await self._tell_end(row.message, silent=True)
        return rows

    async def _failed(self, turn: Turn, cause: Exception) -> None:
        error_id = new_error_id()
        get_log().error("turn.failed", error_id=error_id, exc_info=cause)
        told = answer_to(turn.message, error_sentence(cause, error_id), turn.id)
        reason = {"error_id": error_id, "error": f"{type(cause).__name__}: {cause}"[:2000]}
        await self._tell_end(turn.message)
        await self._end(turn, lambda: commit_failed(self._services, turn, told, reason))

    async def _cancelled(self, turn: Turn) -> None:
        if turn.stopped_by is None:
            try:
                await self._services.ledger.inbox.hand_over(turn.id)
            except TapeError as lost:
                get_log().error("turn.hand_over_not_recorded", turn=turn.id, why=str(lost))
            get_log().info("turn.handed_over")
            return
        silent = turn.stopped_by.get("why") == "interrupted"
        told = None if silent else answer_to(turn.message, STOPPED, turn.id)
        await self._tell_end(turn.message, silent=silent)
        await self._end(turn, lambda: commit_stopped(self._services, turn, told))
        get_log().info("turn.stopped", by=turn.stopped_by)

    async def _tell_end(self, message: InboundMessage, *, silent: bool = False) -> None:
        """Let the channel end what it shows of a turn; `silent`: nothing at all will be said."""
        ended = AgentEvent("error", {"message": "ended without an answer", "silent": silent})
        await self._services.router.dispatch_event(ended, message)


def _calls(word: str, name: str) -> bool:
    """Tell whether a word only says who is asked."""
    return word.startswith("@") or word.strip(",:;.!?").casefold() == name


def _store_was_lost(cause: Exception) -> bool:
    if isinstance(cause, ExceptionGroup):
        return any(_store_was_lost(inner) for inner in cause.exceptions)
    return isinstance(cause, StoreUnavailable)


def answer_to(message: InboundMessage, text: str, turn_id: str) -> OutboundMessage:
    """Return a notice in the place of a turn's answer."""
    return OutboundMessage(
        **address_of(message), text=text, kind="notice", turn=turn_id, idem=idem_key(turn_id, 0)
    )


def new_error_id() -> str:
    """Return an id by which a person's sentence is found in the log."""
    return "E-" + "".join(secrets.choice(_LETTERS) for _ in range(6))


def error_sentence(cause: BaseException, error_id: str) -> str:
    """Return the one sentence that a person reads of an error."""
    if isinstance(cause, TimeoutError):
        reason = "it took too long"
    elif isinstance(cause, AgentError):
        reason = cause.sentence
    else:
        reason = "something went wrong on my side"
    return f"Sorry, I could not answer: {reason}. (Error {error_id}, for whoever runs me.)"
