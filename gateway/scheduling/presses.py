"""Handle answers to cards: presses of buttons, and the command `,choose` where there are none.

Each purpose has one handler, which decides who may answer, and what the answer does. The answer,
its effects and the end of the press are one transaction, so an answer counts once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Protocol, runtime_checkable

from channels.errors import ChannelError
from channels.message import InboundMessage, OutboundMessage
from gateway.delivery.outbox import commit_with_sends
from gateway.delivery.sender import OutboxSender
from gateway.errors import CommandRefused
from gateway.hooks.messages import address_of, session_of
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.storage.ledger.cards import Card, read_token
from gateway.storage.ledger.rows import InboxRow, OutboxRow
from tape.errors import UnitFailed
from tape.unit_of_work import Unit

UNKNOWN: Final = "This question is no longer open. Ask again, and I'll ask again."
NOT_YOURS: Final = "This question is for somebody else."
ANSWERED: Final = "This question was answered already."


@dataclass(slots=True)
class Settled:
    """What an answer does.

    text    replaces the card, without its buttons
    shown   what only the person who answered is shown
    unit    the effects, committed together with the answer
    sends   further messages, committed together with the answer
    open    whether the card stays open, and unchanged, for another answer
    status  the status of the inbox row of the press
    after   runs after the commit; the effects must not depend on it, since a crash may prevent it
    """

    text: str
    shown: str = ""
    unit: Unit = field(default_factory=Unit)
    sends: Sequence[OutboundMessage] = ()
    open: bool = False
    status: str = "done"
    after: Callable[[], Awaitable[None]] | None = None


class CardHandler(Protocol):
    """Handles the answers to the cards of one purpose."""

    async def settle(self, card: Card, choice: str, by: InboundMessage) -> Settled:
        """Decide what an answer does; raises CommandRefused if the person may not answer."""


@runtime_checkable
class AskingHandler(CardHandler, Protocol):
    """A handler whose card a command asks for."""

    async def ask(self, question: Question) -> str:
        """Send a card; return the reply to the command, or "" if the card is the reply."""


@dataclass(slots=True)
class Presses:
    """Finds the card of each press, and lets the handler of its purpose decide."""

    _services: Services
    _sender: OutboxSender
    handlers: dict[str, CardHandler] = field(default_factory=dict)

    async def pressed(self, row: InboxRow) -> None:
        """Handle a press of a button, and end its row."""
        press = row.message
        try:
            card_id, choice = read_token(press.press)
            settled = await self._settle(card_id, choice, press, (row,))
            shown = settled.shown
        except CommandRefused as refused:
            shown = str(refused)
            unit = Unit()
            self._services.ledger.inbox.end(unit, (row,), "refused", shown)
            await self._services.store.commit(unit)
        channel = self._services.router.channels.get(press.channel)
        if channel is None or "buttons" not in channel.capabilities:
            return
        try:
            await channel.answer_press(press, shown)
        except ChannelError as cause:
            get_log().info("press.not_answered", channel=press.channel, why=str(cause))

    async def ask(self, purpose: str, question: Question) -> str:
        """Send the card of a purpose, if it has one; raises CommandRefused."""
        handler = self.handlers.get(purpose)
        return await handler.ask(question) if isinstance(handler, AskingHandler) else ""

    async def choose(self, message: InboundMessage, card_id: str, choice: str) -> str:
        """Answer a card by a command; return the reply; raises CommandRefused."""
        settled = await self._settle(card_id, choice, message, ())
        return settled.shown or settled.text

    async def _settle(
        self, card_id: str, choice: str, by: InboundMessage, rows: Sequence[InboxRow]
    ) -> Settled:
        card = await self._services.ledger.cards.read(card_id)
        if card is None or card.channel != by.channel or card.purpose not in self.handlers:
            raise CommandRefused(UNKNOWN)
        if card.person and card.person != by.sender.id:
            raise CommandRefused(NOT_YOURS)
        if card.choice is not None:
            raise CommandRefused(ANSWERED)
        if card.expires_at <= self._services.clock.now():
            raise CommandRefused(UNKNOWN)
        settled = await self.handlers[card.purpose].settle(card, choice, by)
        commit = partial(self._commit, card, choice, by, rows, settled)
        try:
            # If the database's answer is lost, this very answer is given once more: it must not
            # find itself, or what runs after the commit would never run.
            sent = await self._services.guard.retrying("press", commit)
        except UnitFailed as lost:
            raise CommandRefused(ANSWERED) from lost
        self._sender.enqueue(sent)
        if settled.after is not None:
            await settled.after()
        return settled

    async def _commit(
        self,
        card: Card,
        choice: str,
        by: InboundMessage,
        rows: Sequence[InboxRow],
        settled: Settled,
    ) -> list[OutboxRow]:
        unit = replace(settled.unit, steps=list(settled.unit.steps))
        if not settled.open:
            self._services.ledger.cards.answer(unit, card, choice, by.sender.id)
        self._services.ledger.inbox.end(unit, rows, settled.status)
        sends = [*settled.sends]
        if rows and not settled.open:  # otherwise the command's reply says it
            sends.append(
                OutboundMessage(
                    **{**address_of(by), "reply_to": None},
                    text=settled.text,
                    kind="notice",
                    idem=f"n-card:{card.card_id}",
                    edits=by.message_id,
                )
            )
        # The card of a chat that asks to be let in is of no session: it was sent in an owner's.
        session = card.session_id or session_of(by)
        return await commit_with_sends(self._services, unit, sends, session, None)
