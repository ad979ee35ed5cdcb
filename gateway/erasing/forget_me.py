"""The command `,forget me`: a card asks once more, then all that the person wrote is erased."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from channels.message import InboundMessage, OutboundMessage
from gateway.delivery.outbox import commit_with_sends
from gateway.delivery.sender import OutboxSender
from gateway.erasing.eraser import Eraser
from gateway.errors import CommandRefused
from gateway.hooks.messages import address_of
from gateway.pipeline.turn import Question
from gateway.scheduling.presses import Settled
from gateway.services import Services
from gateway.storage.ledger.cards import Card, new_card_id
from tape.errors import AppendRefused
from tape.unit_of_work import Unit

FORGET: Final = "forget"
OPEN_FOR: Final = timedelta(minutes=10)
ASKED: Final = (
    "Shall I erase everything that you wrote to me or where I can read along, in all chats of this"
    " platform, and my answers to you? What others wrote stays. This cannot be undone."
)
ERASING: Final = (
    "All right, I'm erasing it now. If I mentioned it to others, my operator can see a list of"
    " those places."
)
KEPT: Final = "All right, nothing was erased."
USAGE: Final = "Write `,forget me` and I'll erase what you wrote, after I've asked once more."
NOBODY: Final = "I can only erase what you wrote under your own name: ask me as yourself."


@dataclass(frozen=True, slots=True)
class ForgetMe:
    """Asks a person, and starts the erasure when that person confirms it."""

    _services: Services
    _sender: OutboxSender
    _eraser: Eraser

    async def ask(self, question: Question) -> str:
        """Send the card; the reply to the command is empty."""
        message = question.message
        if message.command.split()[1:] != ["me"]:
            raise CommandRefused(USAGE)
        if message.sender.acts_as != "person" or not message.sender.id:
            raise CommandRefused(NOBODY)
        card = Card(
            card_id=new_card_id(),
            purpose=FORGET,
            channel=message.channel,
            person=message.sender.id,
            session_id=question.session_id,
            data={},
            expires_at=self._services.clock.now() + OPEN_FOR,
        )
        asked = OutboundMessage(
            **address_of(message),
            text=ASKED,
            kind="notice",
            idem=f"n-forget:{question.rows[0].id}",
            buttons=(card.button("Erase it", "yes"), card.button("Keep it", "no")),
        )
        unit = Unit()
        self._services.ledger.cards.issue(unit, card)
        lane = question.lane
        rows = await commit_with_sends(self._services, unit, [asked], question.session_id, lane)
        self._sender.enqueue(rows)
        return ""

    async def settle(self, card: Card, choice: str, by: InboundMessage) -> Settled:  # noqa: ARG002
        """Start the erasure; only the person whom the card is for gets here."""
        if choice != "yes":
            return Settled(KEPT)
        unit = Unit()
        what = {"what": "person", "channel": card.channel, "person": card.person}
        try:
            erasure = self._eraser.prepare(unit, **what, asked_by="person")
        except AppendRefused as refused:
            raise CommandRefused(str(refused)) from refused

        async def start() -> None:
            self._eraser.start(erasure)

        return Settled(ERASING, unit=unit, after=start)
