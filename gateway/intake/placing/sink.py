"""What receives the messages that were placed on their tapes."""

from __future__ import annotations

from typing import Protocol

from gateway.access.access import Decision
from gateway.pipeline.turn import Question
from gateway.storage.ledger.rows import InboxRow


class IntakeSink(Protocol):
    """Receives each message that the intake has written to its tape."""

    def expects(self, row: InboxRow, seconds: float) -> None:
        """Know that a part of a message is here, and may wait so many seconds for the others."""

    @property
    def is_answering(self) -> bool:
        """Whether a turn or a command runs."""
        ...

    async def taken(self, question: Question, decision: Decision, *, stale: bool = False) -> None:
        """Route a message that is on its tape; a `stale` message is too old to be answered."""

    def edited(self, row: InboxRow) -> None:
        """Replace the text of a waiting question that was edited."""

    def deleted(self, row: InboxRow) -> None:
        """Remove a waiting question whose message was deleted."""

    async def pressed(self, row: InboxRow) -> None:
        """Handle a press of a button, and end its row."""

    async def paired(self, row: InboxRow) -> None:
        """Handle an attempt to pair, and end its row."""

    async def failed(self, row: InboxRow) -> None:
        """Notify the author of a message that could not be taken in."""
