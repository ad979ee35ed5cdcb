"""Questions, and the turns that answer them."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from agent.tool import Role
from agent.turn_log import TurnLog
from channels.message import InboundMessage
from gateway.storage.ledger.rows import InboxRow
from tape.handle import Tape

BurstKey = tuple[str, str | None, str]
"""The session, thread and author of the messages that are debounced together."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that waits for its turn: one message, or a burst of one author's messages.

    lane      its conversation; None in a chat with only one
    admitted  the decision of a plugin's `admit_message`; empty if no plugin decided
    """

    session_id: str
    tape: str
    lane: str | None
    role: Role
    rows: tuple[InboxRow, ...]
    admitted: str = ""

    @property
    def message(self) -> InboundMessage:
        """The message that is answered: the newest one."""
        return self.rows[-1].message

    @property
    def turn_id(self) -> str:
        """The lost turn that is to be resumed; empty for a new question."""
        first = self.rows[0]
        return (first.turn_id or "") if first.status == "taken" else ""

    @property
    def burst_key(self) -> BurstKey:
        """The key of the burst that the question belongs to."""
        return (self.session_id, self.message.thread_id, self.message.sender.id)

    @property
    def entry_ids(self) -> tuple[int, ...]:
        """The entries of the messages."""
        return tuple(row.entry_id for row in self.rows if row.entry_id is not None)

    def edited(self, row: InboxRow) -> Question:
        """Return the question with the new text of one of its messages."""
        if all(own.id != row.id for own in self.rows):
            return self
        return replace(self, rows=tuple(row if own.id == row.id else own for own in self.rows))

    def without(self, inbox_id: int) -> tuple[Question | None, InboxRow | None]:
        """Return the question without a message (None if it was the only one), and its row."""
        removed = next((row for row in self.rows if row.id == inbox_id), None)
        if removed is None:
            return self, None
        left = tuple(row for row in self.rows if row.id != inbox_id)
        return (replace(self, rows=left) if left else None), removed

    def resuming(self, turn_id: str, attempts: int = 0) -> Question:
        """Return the question as one that resumes a turn, after this many further attempts."""
        return replace(
            self,
            rows=tuple(
                replace(row, status="taken", turn_id=turn_id, attempts=row.attempts + attempts)
                for row in self.rows
            ),
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """A running turn.

    pictured    the entries with images among those that a new turn shows
    took        the rows that it answers: the question's, and those of steered questions
    steered     the questions that it takes along at its next step
    stopped_by  who or what stopped it, as `turn.end` records it; empty while it runs
    """

    id: str
    question: Question
    tape: Tape
    log: TurnLog
    epoch: int = 0
    pictured: tuple[int, ...] = ()
    took: list[InboxRow] = field(default_factory=list)
    steered: list[Question] = field(default_factory=list)
    stopped_by: dict[str, Any] = field(default_factory=dict)

    @property
    def message(self) -> InboundMessage:
        """The message that is answered."""
        return self.question.message


current_turn: ContextVar[Turn | None] = ContextVar("current_turn", default=None)
"""The turn that the running pipeline belongs to; hooks get plain values only."""
