"""Put open rows of the ledger back to work: after a restart, or on the operator's request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway.delivery.sender import OutboxSender
from gateway.intake.access import Access
from gateway.intake.entry_meta import is_command
from gateway.intake.intake import Intake
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.scheduling.debounce import debounce_seconds
from gateway.scheduling.dispatcher import Dispatcher
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow, OutboxRow
from tape.entry import parse_date
from tape.errors import StoreUnavailable


@dataclass(frozen=True, slots=True)
class Backlog:
    """The open rows of the previous process, oldest first.

    sends     messages in the outbox
    taken     messages whose turn was lost
    waiting   questions that had no turn yet
    accepted  messages that are not on their tapes yet
    """

    sends: tuple[OutboxRow, ...]
    taken: tuple[InboxRow, ...]
    waiting: tuple[InboxRow, ...]
    accepted: tuple[InboxRow, ...]


class Recovery:
    """Reads the backlog before the channels start, and resumes it once they are connected."""

    def __init__(
        self,
        services: Services,
        access: Access,
        dispatcher: Dispatcher,
        sender: OutboxSender,
        intake: Intake,
    ) -> None:
        self._services = services
        self._access = access
        self._dispatcher = dispatcher
        self._sender = sender
        self._intake = intake

    async def read(self) -> Backlog:
        """Read the backlog; to be called before anything new is accepted."""
        try:
            # We hold the lock of the instance directory: no other process is alive.
            await self._services.ledger.leases.end_others()
        except StoreUnavailable as away:  # the leases expire by themselves
            get_log().error("ledger.leases_not_ended", why=str(away))
        here = self._services.router.channels
        sends = await self._services.ledger.outbox.open_rows()
        # Rows of a channel that does not run now (`tapeway run`) stay for the next gateway.
        rows = [
            row
            for row in await self._services.ledger.inbox.open_rows()
            if (row.message.output_channel or row.message.channel) in here
        ]
        return Backlog(
            tuple(row for row in sends if row.message.channel in here),
            *(
                tuple(row for row in rows if row.status == status)
                for status in ("taken", "waiting", "accepted")
            ),
        )

    async def resume(self, backlog: Backlog) -> None:
        """Resume sends, turns and questions, in this order; then start the intake."""
        self._sender.enqueue(backlog.sends)
        await self._resume_turns(backlog.taken)
        for question in self._bursts(backlog.waiting):
            await self._dispatcher.resume(question)
        self._intake.start([replace(row, replayed=True) for row in backlog.accepted])
        count = len(backlog.taken) + len(backlog.waiting) + len(backlog.accepted)
        if count:
            get_log().info("gateway.resumed", messages=count)

    async def _resume_turns(self, rows: Sequence[InboxRow]) -> None:
        by_turn: dict[str, list[InboxRow]] = {}
        for row in rows:
            by_turn.setdefault(row.turn_id or "", []).append(row)
        for own in by_turn.values():
            await self._dispatcher.resume(self._question(own))

    def _bursts(self, rows: Sequence[InboxRow]) -> list[Question]:
        """Rebuild the bursts that were being debounced when the process ended."""
        bursts: list[Question] = []
        for row in rows:
            question = self._question([row])
            if bursts and self._belongs(question, bursts[-1]):
                bursts[-1] = replace(bursts[-1], rows=(*bursts[-1].rows, row))
            else:
                bursts.append(question)
        return bursts

    def _belongs(self, question: Question, burst: Question) -> bool:
        """Return whether a message was being debounced with a burst.

        Otherwise both only waited for their turns, and stay separate questions.
        """
        if is_command(question.message) or is_command(burst.message):
            return False
        if burst.burst_key != question.burst_key or burst.lane != question.lane:
            return False
        gap = parse_date(question.message.date) - parse_date(burst.message.date)
        return gap.total_seconds() < debounce_seconds(self._services, question.message)

    def _question(self, rows: Sequence[InboxRow]) -> Question:
        # The role is computed again: the access settings may have changed since.
        session_id = rows[0].session_id or ""
        role = self._access.decide(rows[-1].message).role
        tape = self._services.tapes.session_tape(session_id).name
        return Question(session_id, tape, rows[0].lane, role, tuple(rows))

    def ask_again(self, row: InboxRow) -> None:
        """Take a message in, or ask it, whose row is open again."""
        if row.status == "accepted":
            self._intake.again(row)
        else:
            self._dispatcher.ask_again(self._question([row]))

    def send_again(self, row: OutboxRow) -> None:
        """Send a message whose row is open again."""
        self._sender.enqueue([row])

    def forget_question(self, row_id: int) -> None:
        """Remove a waiting question, which the ledger records as dropped."""
        self._dispatcher.forget(row_id)

    def forget_send(self, row_id: int) -> None:
        """Skip a waiting send, which the ledger records as dropped."""
        self._sender.forget(row_id)
