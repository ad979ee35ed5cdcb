"""The outbox: every message to send, from its draft to its receipt."""

from __future__ import annotations

from channels.draft import DraftReference
from channels.message import InboundMessage, OutboundMessage
from gateway.clock import Clock
from gateway.storage.ledger.rows import (
    OutboxRow,
    account_id,
    idem_key,
    readable,
    run_alone,
    run_in_session,
)
from tape.entry import dump, utc_iso
from tape.store import UnitStore
from tape.unit_of_work import Unit


class Outbox:
    """Messages to send; see `gateway.storage.ledger.ledger` for the guarantees."""

    def __init__(self, store: UnitStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def send_later(
        self,
        unit: Unit,
        message: OutboundMessage,
        session_id: str,
        lane: str | None,
        first_text_at: str | None = None,
    ) -> int:
        """Add a message; the outcome has no row if a message with its key is being sent or was
        sent.

        `first_text_at` is when the turn's first text came from its model, if that is known.
        """
        unit.for_sessions.add(session_id)
        return unit.run(
            "ledger.send_later",
            account_id=account_id(message.channel, message.account),
            chat_id=message.chat_id,
            thread_id=message.thread_id,
            session_id=session_id,
            turn_id=message.turn,
            part=message.part,
            idem=message.idem,
            lane=lane,
            payload=dump(message.to_payload()),
            first_text_at=first_text_at,
            pending_at=self._now(),
        )

    async def open_draft(
        self,
        message: InboundMessage,
        session_id: str,
        turn_id: str,
        lane: str | None,
        first_text_at: str | None = None,
    ) -> DraftReference | None:
        """Record a draft and return its reference, or None if the answer is already being sent."""
        idem = idem_key(turn_id, 0)
        found = await self._store.select("ledger.draft_of", {"idem": idem})
        if found:
            return DraftReference(idem, found[0]["platform_id"], again=True)
        values = {
            "account_id": account_id(message.channel, message.account),
            "chat_id": message.chat_id,
            "session_id": session_id,
            "turn_id": turn_id,
            "part": 0,
            "idem": idem,
            "lane": lane,
            "first_text_at": first_text_at,
        }
        opened = await run_in_session(self._store, session_id, "ledger.open_draft", values)
        return DraftReference(idem) if opened.changed else None

    async def locate_draft(self, place: DraftReference) -> None:
        """Record the platform's id for a draft."""
        values = {"idem": place.idem, "platform_id": place.platform_id}
        await run_alone(self._store, "ledger.place_draft", **values)

    async def sending(self, row: OutboxRow) -> None:
        """Record that a send begins."""
        values = {"id": row.id, "sending_at": self._now()}
        await run_in_session(self._store, row.session_id, "ledger.sending", values)

    async def unsent(self, row: OutboxRow) -> None:
        """Record that a send had begun but did not happen."""
        await run_in_session(self._store, row.session_id, "ledger.unsent", {"id": row.id})

    async def unplaced(self, row: OutboxRow, *, unsure: bool = False) -> None:
        """Record that a message's draft is gone; `unsure` if an earlier send may have succeeded."""
        status = "sending" if unsure else "pending"
        values = {"id": row.id, "status": status}
        await run_in_session(self._store, row.session_id, "ledger.unplaced", values)

    def sent(
        self, unit: Unit, row: OutboxRow, platform_id: str | None, sending_at: str | None = None
    ) -> None:
        """Record that the platform has received a message.

        `sending_at` is when a send began that `sending` has not recorded.
        """
        unit.works_on.add(row.session_id)
        unit.run(
            "ledger.sent",
            id=row.id,
            platform_id=platform_id,
            sending_at=sending_at,
            sent_at=self._now(),
        )

    def end_send(self, unit: Unit, row: OutboxRow, status: str, why: str) -> None:
        """Record that a send will not be retried automatically, and why."""
        unit.works_on.add(row.session_id)
        unit.run("ledger.end_send", id=row.id, status=status, why=why)

    def drop_draft(self, unit: Unit, turn_id: str) -> None:
        """Record that a turn's draft will not become an answer."""
        unit.run("ledger.drop_draft", turn_id=turn_id)

    async def open_rows(self) -> list[OutboxRow]:
        """Return every send that has not ended, oldest first; drafts are excluded."""
        rows = await self._store.select("ledger.open_outbox", {})
        sends = [row for row in rows if row["status"] != "draft"]
        return await readable(self._store, sends, OutboxRow.read, "ledger.bury_outbox")

    def _now(self) -> str:
        return utc_iso(self._clock.now())
