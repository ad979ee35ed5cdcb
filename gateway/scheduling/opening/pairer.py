"""Make the sender of a right pairing code an owner, and reply to every attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from channels.base import Channel
from channels.message import OutboundMessage
from gateway.access.access import Access
from gateway.access.pairing import NOT_IN_PRIVATE, PAIRED, TOO_MANY, WRONG
from gateway.delivery.outbox import commit_with_sends
from gateway.delivery.sender import OutboxSender
from gateway.hooks.messages import address_of, session_of
from gateway.logs import get_log
from gateway.services import Services
from gateway.sharing.shared import CHANGED
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.rows import InboxRow, account_id
from tape.entry import utc_iso
from tape.unit_of_work import Unit

REPLIES: Final[Mapping[str, str]] = {
    PAIRED: (
        "You are now my owner here. I answer you in private, and when I'm added to a {joins},"
        " I'll ask you whether to open it. `,open` lists the chats that wait, and `,help` lists"
        " what I can do."
    ),
    WRONG: "This code is wrong, used or too old. `tapeway pair` prints a fresh one.",
    TOO_MANY: "Too many tries. Wait ten minutes, then use a fresh code (`tapeway pair`).",
    NOT_IN_PRIVATE: (
        "Pairing works in a private chat with me only. If this was a code, it is void now:"
        " `tapeway pair` prints a fresh one."
    ),
}


@dataclass(frozen=True, slots=True)
class Pairer:
    """Ends the attempts to pair; the rule, the reply and the end are one transaction."""

    _services: Services
    _access: Access
    _sender: OutboxSender

    async def paired(self, row: InboxRow) -> None:
        """Do what the verdict of an attempt says, and end its row."""
        message, verdict = row.message, row.message.change
        unit, rule = Unit(), None
        moment = self._services.clock.now()
        if verdict == PAIRED:
            rule = AccessRule(
                account_id=account_id(message.channel, message.account),
                id=message.sender.id,
                role="owner",
                name=message.sender.name,
                private_chat=message.chat_id,
                granted_by="pairing",
                granted_at=utc_iso(moment),
            )
            self._services.ledger.access.grant(unit, rule)
        why = f"a pairing code: {verdict}"
        self._services.ledger.inbox.end(unit, (row,), "done" if rule else "refused", why)
        # In a group, one reply a day is enough.
        group = f"{message.channel}:{message.account}:{message.chat_id}:{moment.date()}"
        key = group if message.chat_kind == "group" else row.id
        joins = self._services.router.channels.get(message.channel, Channel).joins
        text = REPLIES.get(verdict, REPLIES[WRONG]).format(joins=joins)
        send = OutboundMessage(
            **address_of(message), text=text, kind="notice", idem=f"n-pairing:{key}"
        )
        sends = [send] if message.addressed else []
        session_id = row.session_id or session_of(message)
        rows = await commit_with_sends(self._services, unit, sends, session_id, None)
        if rule is not None:
            self._access.put(rule)
            if self._services.shared is not None:
                self._services.shared.bus.send(CHANGED)
            get_log().info("access.paired", account=rule.account_id, owner=rule.id)
        self._sender.enqueue(rows)
        await self._services.router.end_without_answer(message, silent=True)
