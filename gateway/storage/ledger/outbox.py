"""The outbox: every message to send, from its draft to its receipt."""

from __future__ import annotations

from channels.draft import DraftReference
from channels.message import InboundMessage, OutboundMessage
from gateway.storage.ledger.rows import OutboxRow, account_id, idem_key, readable
from tape.entry import dump
from tape.store import UnitStore
from tape.unit_of_work import Unit


class Outbox:
    """Messages to send; see `gateway.storage.ledger.ledger` for what it guarantees."""

    def __init__(self, store: UnitStore) -> None:
        self._store = store

    def send_later(
        self, unit: Unit, message: OutboundMessage, session_id: str, lane: str | None
    ) -> int:
        """Put a message into the outbox; the step's outcome has its row, or nothing.

        Nothing means that a message of this key is being sent, or was. One that waits stays as it
        is: whoever sends it does so once, by its id.
        """
        return unit.run(
            "ledger.send_later",
            account_id=account_id(message.channel, message.account),
            chat_id=message.chat_id,
            session_id=session_id,
            turn_id=message.turn,
            part=message.part,
            idem=message.idem,
            lane=lane,
            payload=dump(message.to_payload()),
        )

    async def open_draft(
        self, message: InboundMessage, session_id: str, turn_id: str, lane: str | None
    ) -> DraftReference | None:
        """Write down that a draft is about to be shown; returns where one already is.

        None where the answer itself is on its way already.
        """
        idem = idem_key(turn_id, 0)
        found = await self._store.select("ledger.draft_of", {"idem": idem})
        if found:
            return DraftReference(idem, found[0]["platform_id"], again=True)
        unit = Unit()
        unit.run(
            "ledger.open_draft",
            account_id=account_id(message.channel, message.account),
            chat_id=message.chat_id,
            session_id=session_id,
            turn_id=turn_id,
            part=0,
            idem=idem,
            lane=lane,
        )
        (opened,) = await self._store.commit(unit)
        return DraftReference(idem) if opened.changed else None

    async def locate_draft(self, place: DraftReference) -> None:
        """Write down under which id the platform shows a draft."""
        unit = Unit()
        unit.run("ledger.place_draft", idem=place.idem, platform_id=place.platform_id)
        await self._store.commit(unit)

    async def sending(self, row: OutboxRow) -> None:
        """Write down that a send begins."""
        unit = Unit()
        unit.run("ledger.sending", id=row.id)
        await self._store.commit(unit)

    async def unsent(self, row: OutboxRow) -> None:
        """Write down that a send that had begun is known not to have happened."""
        unit = Unit()
        unit.run("ledger.unsent", id=row.id)
        await self._store.commit(unit)

    async def unplaced(self, row: OutboxRow, *, unsure: bool = False) -> None:
        """Write down that a draft is gone, whose place a message was to take.

        `unsure`: an earlier send may have been made all the same.
        """
        unit = Unit()
        unit.run("ledger.unplaced", id=row.id, status="sending" if unsure else "pending")
        await self._store.commit(unit)

    def sent(self, unit: Unit, row: OutboxRow, platform_id: str | None) -> None:
        """Write down that the platform has a message."""
        unit.run("ledger.sent", id=row.id, platform_id=platform_id)

    def end_send(self, unit: Unit, row: OutboxRow, status: str, why: str) -> None:
        """Write down that a send will not be tried again by itself, and why."""
        unit.run("ledger.end_send", id=row.id, status=status, why=why)

    def drop_draft(self, unit: Unit, turn_id: str) -> None:
        """Write down that a turn's draft will not become an answer."""
        unit.run("ledger.drop_draft", turn_id=turn_id)

    async def open_rows(self) -> list[OutboxRow]:
        """Return every send that is not at its end (drafts apart), oldest first."""
        rows = await self._store.select("ledger.open_outbox", {})
        sends = [row for row in rows if row["status"] != "draft"]
        return await readable(self._store, sends, OutboxRow.read, "ledger.bury_outbox")
