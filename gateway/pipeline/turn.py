"""One turn: what it answers, what it has said so far, what it will send."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from agent.tool import Role
from agent.turn_log import TurnLog
from channels.message import InboundMessage, OutboundMessage
from gateway.storage.ledger.rows import InboxRow
from tape.handle import Tape


@dataclass(frozen=True, slots=True)
class Question:
    """A question that waits for its turn: one message, or a burst of one person's.

    turn_id   the turn that had it before the process was lost; empty for a new one
    admitted  what a plugin decided about it; empty where none did
    replayed  it was accepted before this process began: it is never steered
    """

    session_id: str
    tape: str
    lane: str | None
    role: Role
    rows: tuple[InboxRow, ...]
    turn_id: str = ""
    admitted: str = ""
    replayed: bool = False

    @property
    def message(self) -> InboundMessage:
        """The message that is answered: the newest."""
        return self.rows[-1].message

    def reading(self, row: InboxRow) -> Question:
        """Return the question with a message as it reads now."""
        if all(own.id != row.id for own in self.rows):
            return self
        return replace(self, rows=tuple(row if own.id == row.id else own for own in self.rows))

    def without(self, inbox_id: int) -> tuple[Question | None, InboxRow | None]:
        """Return the question without a message (None: nothing is left), and the message's row."""
        gone = next((row for row in self.rows if row.id == inbox_id), None)
        if gone is None:
            return self, None
        left = tuple(row for row in self.rows if row.id != inbox_id)
        return (replace(self, rows=left) if left else None), gone

    @property
    def entry_ids(self) -> tuple[int, ...]:
        """The entries of the messages."""
        return tuple(row.entry_id for row in self.rows if row.entry_id is not None)


@dataclass(slots=True)
class Turn:
    """A turn that runs.

    final_text  what the model's last step said, where that is not the whole output
    outbound    what the commit will put into the outbox
    stopped_by  who ended it, as the tape will tell; None while nobody did
    pictured    the entries with images among those that a new turn shows
    steered     questions that go into this turn at its next step
    """

    id: str
    asked: Question
    tape: Tape
    log: TurnLog
    epoch: int = 0
    final_text: str | None = None
    outbound: list[OutboundMessage] = field(default_factory=list)
    stopped_by: dict[str, Any] | None = None
    steered: list[Question] = field(default_factory=list)
    took: list[InboxRow] = field(default_factory=list)
    pictured: tuple[int, ...] = ()

    @property
    def session_id(self) -> str:
        """The session."""
        return self.asked.session_id

    @property
    def lane(self) -> str | None:
        """The lane; None where the chat has one conversation."""
        return self.asked.lane

    @property
    def message(self) -> InboundMessage:
        """The message that is answered."""
        return self.asked.message


current_turn: ContextVar[Turn | None] = ContextVar("current_turn", default=None)
"""The turn that the running pipeline belongs to; the state of the hooks is kept plain."""
