"""Handle the answers to confirmation cards: a call that is allowed runs in a turn of its own.

The answer, the entry that lets the call run and the row that waits for its turn are one
transaction, so a crash neither loses the call nor runs it twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from agent.tool import Role
from channels.errors import ChannelError
from channels.message import InboundMessage, OutboundMessage
from gateway.access.access import Access
from gateway.access.roles import Roles
from gateway.errors import CommandRefused
from gateway.explain.words import ALLOWS
from gateway.intake.entry_meta import meta_of
from gateway.pipeline.turn import Question
from gateway.scheduling.presses import NOT_YOURS, CardHandler, Settled
from gateway.services import Services
from gateway.storage.ledger.cards import Card
from gateway.storage.ledger.rows import InboxRow, account_id
from gateway.turn.confirm_card import Waiting, fenced
from tape.entry import dump, event, message, utc_iso
from tape.unit_of_work import Unit

MAX_POPUP_CHARACTERS: Final = 190
"""Maximum characters that every platform shows to the presser alone; Telegram takes 200."""

ALLOWED: Final = "[The call of {tool} that was waiting has been allowed; its result follows.]"


@dataclass(frozen=True, slots=True)
class Confirmations(CardHandler):
    """Lets calls run, or not; `_ask` queues the question of a continuation."""

    _services: Services
    _access: Access
    _roles: Roles
    _ask: Callable[[Question], None]

    async def settle(self, card: Card, choice: str, by: InboundMessage) -> Settled:
        """Decide what an answer does; raises CommandRefused if the person may not answer."""
        waiting = Waiting.read(card.data)
        asked = waiting.question
        by = replace(by, chat_kind=asked.chat_kind, parent_id=asked.parent_id)
        if (by.account, by.chat_id) != (asked.account, asked.chat_id):
            raise CommandRefused(NOT_YOURS)
        if not self._access.decide(by).allowed:
            raise CommandRefused(NOT_YOURS)
        role = await self._roles.of(by)
        if role < (waiting.role if card.person else Role.ADMIN):
            raise CommandRefused(NOT_YOURS)
        if choice == "show":
            return await self._show(card, waiting, by)
        if choice == "yes":
            return await self._allow(card, waiting, by, role)
        unit = Unit()
        refused = event("confirm.refused", {"tool": waiting.tool, "by": by.sender.id})
        unit.append(waiting.tape, [refused], key=f"confirm:{card.card_id}")
        return Settled(f"Not allowed: `{waiting.tool}` was not run.", unit=unit)

    async def _allow(self, card: Card, waiting: Waiting, by: InboundMessage, role: Role) -> Settled:
        """Queue the call in a turn of the person who allowed it."""
        now = utc_iso(self._services.clock.now())
        asked = replace(
            waiting.question,
            kind="press",
            ext_id=f"confirm/{card.card_id}",
            message_id=by.message_id,
            sender=by.sender,
            owner=by.owner,
            date=by.date,
            addressed=True,
            why="a person allowed a call",
        )
        account = account_id(asked.channel, asked.account)
        row = InboxRow(0, account, card.session_id, None, waiting.lane, None, "waiting", 0, asked)
        meta = {**meta_of(row, waiting.lane), ALLOWS: waiting.allows()}
        entry = message("user", ALLOWED.format(tool=waiting.tool), **meta)
        unit = Unit()
        first = unit.append(waiting.tape, [entry], key=f"confirm:{card.card_id}")
        unit.run(
            "ledger.ask_allowed",
            account_id=account,
            ext_id=asked.ext_id,
            chat_id=asked.chat_id,
            message_id=asked.message_id,
            thread_id=asked.thread_id,
            payload=dump(asked.to_payload()),
            received_at=now,
            session_id=card.session_id,
            entry_id=first,
            lane=waiting.lane,
        )
        ask = partial(self._continue, row, waiting, role)
        return Settled(f"Allowed: `{waiting.tool}`.", unit=unit, after=ask)

    async def _continue(self, row: InboxRow, waiting: Waiting, role: Role) -> None:
        values = {"account_id": row.account_id, "ext_id": row.message.ext_id}
        select = partial(self._services.store.select, "ledger.message_by_key", values)
        # The press is committed: nothing else would ask before the next start.
        (found,) = await self._services.guard.retrying("press", select)
        question = InboxRow.read(found)
        session_id = question.session_id or ""
        self._ask(Question(session_id, waiting.tape, question.lane, role, (question,)))

    async def _show(self, card: Card, waiting: Waiting, by: InboundMessage) -> Settled:
        """Show the exact arguments to the person alone, and leave the card open."""
        if by.kind != "press":
            raise CommandRefused(NOT_YOURS)  # a command's reply is for everybody
        exact = waiting.shown()
        if len(exact) <= MAX_POPUP_CHARACTERS:
            return Settled("", shown=exact, open=True)
        channel = self._services.router.channels[by.channel]
        try:
            private = await channel.private_chat(by.sender.id, by.account)
        except ChannelError:
            return Settled("", shown=exact, open=True)
        send = OutboundMessage(
            by.channel,
            private,
            f"`{waiting.tool}` would get:\n\n{fenced(exact)}",
            idem=f"n-show:{card.card_id}:{by.sender.id}",
            account=by.account,
            kind="notice",
        )
        return Settled("", shown="I've sent it to you in private.", sends=[send], open=True)
