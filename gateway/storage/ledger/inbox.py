"""The inbox: every accepted message, and its progress to a turn and an end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import orjson

from channels.message import InboundMessage
from gateway.clock import Clock
from gateway.storage.ledger.cursors import CursorTable
from gateway.storage.ledger.rows import InboxRow, account_id, readable
from tape.entry import NewEntry, dump, utc_iso
from tape.store import UnitStore
from tape.unit_of_work import FirstId, Unit


class Inbox:
    """Accepted messages; see `gateway.storage.ledger.ledger` for what it guarantees."""

    def __init__(self, store: UnitStore, clock: Clock, cursors: CursorTable) -> None:
        self._store = store
        self._clock = clock
        self._cursors = cursors

    async def accept(
        self,
        messages: Sequence[InboundMessage],
        kept_back: Collection[tuple[str, str]] | None = None,
    ) -> list[InboxRow]:
        """Put messages into the inbox, all or none; returns the rows of those that were new.

        Nothing that was said before them is missing, and that is written down with them, except in
        the chats (account and chat; without a chat, all of the account's) that are `kept_back`;
        None: in all of them.
        """
        unit = Unit()
        moment = utc_iso(self._clock.now())
        for message in messages:
            unit.run(
                "ledger.accept",
                account_id=account_id(message.channel, message.account),
                ext_id=message.ext_id,
                alt_id=message.alt_id,
                chat_id=message.chat_id,
                message_id=message.message_id,
                payload=dump(message.to_payload()),
                received_at=moment,
            )
        if kept_back is not None:
            self._cursors.advance(unit, messages, kept_back)
        outcomes = await self._store.commit(unit)
        return [
            InboxRow(
                id=outcome.rows[0]["id"],
                account_id=account_id(message.channel, message.account),
                session_id=None,
                entry_id=None,
                lane=None,
                turn_id=None,
                status="accepted",
                attempts=0,
                message=message,
            )
            for message, outcome in zip(messages, outcomes, strict=False)
            if outcome.rows
        ]

    def take_in(
        self,
        unit: Unit,
        row: InboxRow,
        session_id: str,
        tape: str,
        entry: NewEntry,
        lane: str | None,
        status: str,
    ) -> FirstId:
        """Put a message on its tape, and write down that it is there."""
        first = unit.append(tape, [entry], key=f"inbox:{row.id}")
        unit.run("ledger.know_session", session_id=session_id, tape=tape)
        unit.run(
            "ledger.taken_in",
            id=row.id,
            session_id=session_id,
            entry_id=first,
            lane=lane,
            status=status,
        )
        return first

    def take(self, unit: Unit, rows: Iterable[InboxRow], turn_id: str) -> None:
        """Write down that a turn takes messages; the unit fails when one is at its end."""
        for row in rows:
            unit.run("ledger.take", expect=1, id=row.id, turn_id=turn_id)

    def end(
        self, unit: Unit, rows: Iterable[InboxRow], status: str, why: str | None = None
    ) -> None:
        """Write down what became of messages, and why."""
        for row in rows:
            unit.run("ledger.end_message", id=row.id, status=status, why=why)

    async def open_rows(self) -> list[InboxRow]:
        """Return every message that is not at its end, oldest first."""
        rows = await self._store.select("ledger.open_inbox", {})
        return await readable(self._store, rows, InboxRow.read, "ledger.bury_inbox")

    async def waiting_entries(self, session_id: str) -> set[int]:
        """Return the entries of a session that wait for turns of their own."""
        rows = await self._store.select("ledger.waiting_entries", {"session_id": session_id})
        return set(orjson.loads(rows[0]["entries"]))

    async def still_open(self, rows: Sequence[InboxRow]) -> tuple[InboxRow, ...]:
        """Return those of some rows that are not at their end."""
        ids = dump([row.id for row in rows])
        found = await self._store.select("ledger.still_open", {"ids": ids})
        wanted = {row["id"] for row in found}
        return tuple(row for row in rows if row.id in wanted)

    async def hand_over(self, turn_id: str) -> None:
        """Write down that a turn is left to the next start on purpose."""
        unit = Unit()
        unit.run("ledger.hand_over", turn_id=turn_id)
        await self._store.commit(unit)

    def join(
        self,
        unit: Unit,
        row: InboxRow,
        others: Iterable[InboxRow],
        session_id: str,
        entry_id: FirstId,
        lane: str | None,
    ) -> None:
        """Write down that rows are parts of one message, which stands in the first."""
        unit.run("ledger.rewrite", id=row.id, payload=dump(row.message.to_payload()))
        for other in others:
            unit.run(
                "ledger.joined",
                id=other.id,
                session_id=session_id,
                entry_id=entry_id,
                lane=lane,
            )

    def rewrite(self, unit: Unit, row: InboxRow) -> None:
        """Write down what a message reads now, unless a turn has taken it."""
        unit.run("ledger.rewrite", id=row.id, payload=dump(row.message.to_payload()))

    def unask(self, unit: Unit, row: InboxRow) -> int:
        """Let a question not be asked that was deleted; no row changes where a turn has it."""
        return unit.run("ledger.unask", id=row.id)

    async def original_of(self, edit: InboxRow) -> tuple[InboxRow, InboxRow] | None:
        """Return the message that an edit is about: its row, and that of how it read last."""
        values = {
            "account_id": edit.account_id,
            "chat_id": edit.message.chat_id,
            "message_id": edit.message.message_id,
            "before": edit.id,
        }
        rows = await self._store.select("ledger.original_of", values)
        if not rows:
            return None
        last = await self._store.select("ledger.last_version", values)
        return InboxRow.read(rows[0]), InboxRow.read(last[0])

    async def head_of(self, row: InboxRow) -> InboxRow:
        """Return the row in which a message stands that a row is a part of; else the row itself."""
        if row.status != "joined":
            return row
        values = {"entry_id": row.entry_id, "session_id": row.session_id, "before": row.id}
        rows = await self._store.select("ledger.head_of", values)
        return InboxRow.read(rows[0]) if rows else row

    async def asked_in(self, session_id: str, lane: str) -> bool:
        """Tell whether the agent was ever asked in a lane."""
        values = {"session_id": session_id, "lane": lane}
        return bool(await self._store.select("ledger.asked_in_lane", values))

    async def threads(self, account: str, chat_id: str, since: datetime) -> list[str]:
        """Return the threads of a chat in which something was accepted since a moment."""
        values = {"account_id": account, "chat_id": chat_id, "since": utc_iso(since)}
        return [row["thread_id"] for row in await self._store.select("ledger.threads", values)]

    async def lane_of(self, account: str, chat_id: str, message_id: str) -> tuple[bool, str | None]:
        """Tell whether a message is known by the platform's id, and its lane; people's and ours."""
        values = {"account_id": account, "chat_id": chat_id, "message_id": message_id}
        for statement in ("ledger.lane_of_message", "ledger.lane_of_answer"):
            rows = await self._store.select(statement, values)
            if rows:
                lane = rows[0]["lane"]
                return True, str(lane) if lane is not None else None
        return False, None

    async def lane_of_question(self, account: str, chat_id: str, message_id: str) -> str | None:
        """Return the lane of a message that asked the agent, or of an answer; None for others."""
        values = {"account_id": account, "chat_id": chat_id, "message_id": message_id}
        rows = await self._store.select("ledger.lane_of_question", values)
        rows = rows or await self._store.select("ledger.lane_of_answer", values)
        return str(rows[0]["lane"]) if rows and rows[0]["lane"] is not None else None

    def alias(self, unit: Unit, session_id: str, same_as: str) -> None:
        """Write down that a session goes on under another id."""
        unit.run("ledger.alias", session_id=session_id, same_as=same_as)

    async def aliases(self) -> dict[str, str]:
        """Return every session that goes on under another id: the new id to the one it had."""
        rows = await self._store.select("ledger.aliases", {})
        return {row["session_id"]: row["same_as"] for row in rows}
