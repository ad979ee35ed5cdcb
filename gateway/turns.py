"""Running turns: begin, the pipeline, one of three ends; or none, and the next start resumes."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from typing import Final

import anyio
import structlog

from agent.errors import AgentError
from agent.events import AgentEvent
from channels.message import InboundMessage, OutboundMessage
from gateway.accessors import address_of
from gateway.core import Core
from gateway.ledger.rows import OutboxRow, idem_key
from gateway.logs import get_log
from gateway.takes import choose_takes
from gateway.turn import Asked, Turn
from gateway.turn_record import begin, commit_done, commit_failed, commit_stopped
from tape.errors import TapeError
from tape.handle import Tape

STOPPED: Final = "Stopped."
_LETTERS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

Deliver = Callable[[list[OutboxRow]], None]
"""Takes what a commit has put into the outbox."""


class TurnRunner:
    """Runs one question at a time for whoever schedules them; knows the turns that run."""

    def __init__(self, core: Core, running: dict[str, Turn], deliver: Deliver) -> None:
        self._core = core
        self._running = running
        self._deliver = deliver

    async def run(
        self, asked: Asked, waiting: Collection[int], started: Callable[[Turn], None]
    ) -> None:
        """Answer a question; `waiting` are the entries that wait for turns of their own.

        Cancelled without `stopped_by`, the turn stays open and is resumed at the next start.
        """
        turn = await begin(self._core, asked, await self._takes(asked, waiting))
        structlog.contextvars.bind_contextvars(
            session=turn.session_id, turn=turn.id, channel=turn.message.channel
        )
        self._running[turn.id] = turn
        started(turn)
        try:
            await self._answer(turn)
        finally:
            del self._running[turn.id]
            structlog.contextvars.clear_contextvars()

    async def _answer(self, turn: Turn) -> None:
        try:
            with anyio.fail_after(self._core.settings.turn.deadline):
                result = await self._core.framework.process_inbound(turn.message, turn)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._cancelled(turn)
            raise
        except Exception as cause:
            await self._failed(turn, cause)
        else:
            self._deliver(await commit_done(self._core, turn, result.model_output))
            get_log().info("turn.done", characters=len(result.model_output))

    async def _takes(self, asked: Asked, waiting: Collection[int]) -> list[int]:
        if asked.turn_id:
            return []
        tape = Tape(self._core.tapes.store, asked.tape)
        budget = self._core.settings.context.takes
        return await choose_takes(tape, asked.lane, asked.entry_ids, waiting, budget)

    async def _failed(self, turn: Turn, cause: Exception) -> None:
        error_id = new_error_id()
        get_log().error("turn.failed", error_id=error_id, exc_info=cause)
        told = answer_to(turn.message, error_sentence(cause, error_id), turn.id)
        reason = {"error_id": error_id, "error": f"{type(cause).__name__}: {cause}"[:2000]}
        try:
            rows = await commit_failed(self._core, turn, told, reason)
        except TapeError as lost:
            get_log().error("turn.end_not_recorded", exc_info=lost)
            return
        await self._tell_end(turn)
        self._deliver(rows)

    async def _cancelled(self, turn: Turn) -> None:
        if turn.stopped_by is None:
            get_log().info("turn.handed_over")
            return
        silent = turn.stopped_by.get("why") == "interrupted"
        told = None if silent else answer_to(turn.message, STOPPED, turn.id)
        rows = await commit_stopped(self._core, turn, told)
        await self._tell_end(turn)
        self._deliver(rows)
        get_log().info("turn.stopped", by=turn.stopped_by)

    async def _tell_end(self, turn: Turn) -> None:
        """Let the channel end what it shows of the turn."""
        ended = AgentEvent("error", {"message": "the turn has ended without an answer"})
        await self._core.router.dispatch_event(ended, turn.message)


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
