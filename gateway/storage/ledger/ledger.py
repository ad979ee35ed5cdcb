"""The ledger: what was accepted, which turn took it, what is to be sent.

What it promises, on every store (`gateway.storage.ledger.testing` holds it to that):

- An event is accepted once under its account and key, for ever; a batch is taken whole or not.
- What was accepted is open until its end is written, and comes back in the order of acceptance.
- A turn takes only what is open; a unit that breaks this, or the fence, changes nothing.
- A session is one process's at a time. The fence is its owner and epoch: what a process has lost,
  it cannot commit. A lease that is not renewed ends by the database's clock.
- A send is written once under its `idem`; its draft becomes it, in its place.
- A row that cannot be read is dead, with the reason, and wedges nothing.
- A unit may be made again when nobody knows whether it was: its appends have keys, and its
  statements leave the same rows (the count of attempts apart) and tell the same of them.

Methods that take a `Unit` add their statements to it, so that they stand or fall with what else
is in it; the others are transactions or readings of their own. No SQL and no dialect here: the
statements are named, and stand in `sql/` beside this file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

import orjson

from channels.draft import DraftReference
from channels.host import Cursors
from channels.message import InboundMessage, OutboundMessage
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.storage.ledger.rows import InboxRow, OutboxRow, account_id, idem_key
from tape.database.schema import Schema, read_schema
from tape.entry import NewEntry, dump, parse_date, utc_iso
from tape.store import UnitStore
from tape.unit_of_work import FirstId, Row, Unit

T = TypeVar("T")

MOST_ATTEMPTS: Final = 5
"""So often a turn may be lost with its process before its message is given up."""


CLOCKS_DIFFER: Final = timedelta(minutes=5)
"""A date is not yet to come that is so much later than our clock."""

LEASE_SECONDS: Final = 60.0
"""So long a session stays with a process that says nothing of it."""


@functools.cache
def ledger_schema() -> Schema:
    """Return the ledger's tables and statements for SQLite."""
    return read_schema("ledger", "gateway.storage.ledger", "sqlite")


class Ledger:
    """The inbox and the outbox, in the store's transactions; `owner` names this process."""

    def __init__(
        self, store: UnitStore, clock: Clock, owner: str, lease: float = LEASE_SECONDS
    ) -> None:
        self.store = store
        self.owner = owner
        self._clock = clock
        self._lease = lease

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
            self._mark(unit, messages, kept_back)
        outcomes = await self.store.commit(unit)
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

    def _mark(
        self,
        unit: Unit,
        messages: Iterable[InboundMessage],
        kept_back: Collection[tuple[str, str]],
    ) -> None:
        newest: dict[tuple[str, str], str] = {}
        for message in messages:
            names = {(message.account, message.chat_id), (message.account, "")}
            if message.kind != "message" or not names.isdisjoint(kept_back):
                continue
            if (said_at := self._past(message.date)) is not None:
                key = (account_id(message.channel, message.account), message.chat_id)
                newest[key] = max(newest.get(key, ""), utc_iso(said_at))
        for (account, chat_id), moment in newest.items():
            unit.run("ledger.move_cursor", account_id=account, chat_id=chat_id, value=moment)

    async def cursors(self, channel: str, overlap: timedelta, longest: timedelta) -> Cursors:
        """Return how far a channel's chats were accepted: so much before, and at most so long ago.

        A chat's mark is no later than what was accepted of it without a gap. Where nothing was
        accepted ever, the first process may have ended before it could: then it is what was said
        just now.
        """
        rows = await self.store.select("ledger.marks", {"channel": channel})
        found = {
            (row["account_id"].partition(":")[2], row["chat_id"]): value
            for row in rows
            if (value := self._past(row["value"])) is not None
        }
        if not found:
            found["", ""] = self._clock.now()
        least = self._clock.now() - longest
        if ("", "") in found:  # of all chats
            least = max(least, found["", ""] - overlap)
        accounts: dict[str, datetime] = {}
        chats: dict[tuple[str, str], datetime] = {}
        for (account, chat_id), value in found.items():
            moment = max(value - overlap, least)
            chats[account, chat_id] = moment
            accounts[account] = max(moment, accounts.get(account, moment))
        return Cursors(accounts, chats)

    def _past(self, date: str) -> datetime | None:
        """Read a date; None where it is none, or to come: some clock was wrong."""
        try:
            moment = parse_date(date)
        except ValueError:
            return None
        return moment if moment <= self._clock.now() + CLOCKS_DIFFER else None

    async def mark_all(self, channel: str, moment: datetime) -> None:
        """Write down that nothing is missing that was said in any chat before a moment."""
        unit = Unit()
        value = utc_iso(moment)
        unit.run("ledger.move_cursor", account_id=channel, chat_id="", value=value)
        await self.store.commit(unit)

    async def threads(self, account: str, chat_id: str, since: datetime) -> list[str]:
        """Return the threads of a chat in which something was accepted since a moment."""
        values = {"account_id": account, "chat_id": chat_id, "since": utc_iso(since)}
        return [row["thread_id"] for row in await self.store.select("ledger.threads", values)]

    async def probe(self) -> None:
        """Write something small, to find out whether the database takes anything."""
        unit = Unit()
        moment = utc_iso(self._clock.now())
        unit.run("ledger.move_cursor", account_id="", chat_id="probe", value=moment)
        await self.store.commit(unit)

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

    def claim(self, unit: Unit, session_id: str, tape: str) -> int:
        """Take a session; the step's outcome has its epoch in the column `epoch`.

        The unit fails while another process holds it: a lease lasts `LEASE_SECONDS` by the
        database's clock, unless it is renewed.
        """
        return unit.run(
            "ledger.claim_session",
            expect=1,
            session_id=session_id,
            tape=tape,
            owner=self.owner,
            seconds=self._lease,
        )

    async def renew(self, session_ids: Iterable[str]) -> None:
        """Keep sessions of ours; one that another took meanwhile stays the other's."""
        unit = Unit()
        sessions = dump(sorted(session_ids))
        unit.run("ledger.renew_leases", owner=self.owner, sessions=sessions, seconds=self._lease)
        await self.store.commit(unit)

    async def end_leases(self) -> None:
        """Let every session be free that another process held: it is known to be gone."""
        unit = Unit()
        unit.run("ledger.end_leases", owner=self.owner)
        await self.store.commit(unit)

    def fence(self, unit: Unit, session_id: str, epoch: int) -> None:
        """Make the unit fail when the session is no longer ours."""
        unit.run("ledger.fence", expect=1, session_id=session_id, owner=self.owner, epoch=epoch)

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
        found = await self.store.select("ledger.draft_of", {"idem": idem})
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
        (opened,) = await self.store.commit(unit)
        return DraftReference(idem) if opened.changed else None

    async def locate_draft(self, place: DraftReference) -> None:
        """Write down under which id the platform shows a draft."""
        unit = Unit()
        unit.run("ledger.place_draft", idem=place.idem, platform_id=place.platform_id)
        await self.store.commit(unit)

    async def sending(self, row: OutboxRow) -> None:
        """Write down that a send begins."""
        unit = Unit()
        unit.run("ledger.sending", id=row.id)
        await self.store.commit(unit)

    async def unsent(self, row: OutboxRow) -> None:
        """Write down that a send that had begun is known not to have happened."""
        unit = Unit()
        unit.run("ledger.unsent", id=row.id)
        await self.store.commit(unit)

    async def unplaced(self, row: OutboxRow, *, unsure: bool = False) -> None:
        """Write down that a draft is gone, whose place a message was to take.

        `unsure`: an earlier send may have been made all the same.
        """
        unit = Unit()
        unit.run("ledger.unplaced", id=row.id, status="sending" if unsure else "pending")
        await self.store.commit(unit)

    def sent(self, unit: Unit, row: OutboxRow, platform_id: str | None) -> None:
        """Write down that the platform has a message."""
        unit.run("ledger.sent", id=row.id, platform_id=platform_id)

    def end_send(self, unit: Unit, row: OutboxRow, status: str, why: str) -> None:
        """Write down that a send will not be tried again by itself, and why."""
        unit.run("ledger.end_send", id=row.id, status=status, why=why)

    async def open_inbox(self) -> list[InboxRow]:
        """Return every message that is not at its end, oldest first."""
        rows = await self.store.select("ledger.open_inbox", {})
        return await self._readable(rows, InboxRow.read, "ledger.bury_inbox")

    async def open_outbox(self) -> list[OutboxRow]:
        """Return every send that is not at its end (drafts apart), oldest first."""
        rows = await self.store.select("ledger.open_outbox", {})
        sends = [row for row in rows if row["status"] != "draft"]
        return await self._readable(sends, OutboxRow.read, "ledger.bury_outbox")

    async def _readable(self, rows: Sequence[Row], read: Callable[[Row], T], bury: str) -> list[T]:
        """Return the rows that can be read; one that cannot is dead, and wedges nothing."""
        found: list[T] = []
        for row in rows:
            try:
                found.append(read(row))
            except (TypeError, KeyError, ValueError) as cause:
                why = f"this version cannot read it ({type(cause).__name__}: {cause})"
                get_log().error("ledger.unreadable", row=row["id"], statement=bury, why=why)
                unit = Unit()
                unit.run(bury, id=row["id"], why=why)
                await self.store.commit(unit)
        return found

    async def waiting_entries(self, session_id: str) -> set[int]:
        """Return the entries of a session that wait for turns of their own."""
        rows = await self.store.select("ledger.waiting_entries", {"session_id": session_id})
        return set(orjson.loads(rows[0]["entries"]))

    async def still_open(self, rows: Sequence[InboxRow]) -> tuple[InboxRow, ...]:
        """Return those of some rows that are not at their end."""
        ids = dump([row.id for row in rows])
        found = await self.store.select("ledger.still_open", {"ids": ids})
        wanted = {row["id"] for row in found}
        return tuple(row for row in rows if row.id in wanted)

    async def hand_over(self, turn_id: str) -> None:
        """Write down that a turn is left to the next start on purpose."""
        unit = Unit()
        unit.run("ledger.hand_over", turn_id=turn_id)
        await self.store.commit(unit)

    def drop_draft(self, unit: Unit, turn_id: str) -> None:
        """Write down that a turn's draft will not become an answer."""
        unit.run("ledger.drop_draft", turn_id=turn_id)

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
        rows = await self.store.select("ledger.original_of", values)
        if not rows:
            return None
        last = await self.store.select("ledger.last_version", values)
        return InboxRow.read(rows[0]), InboxRow.read(last[0])

    async def head_of(self, row: InboxRow) -> InboxRow:
        """Return the row in which a message stands that a row is a part of; else the row itself."""
        if row.status != "joined":
            return row
        values = {"entry_id": row.entry_id, "session_id": row.session_id, "before": row.id}
        rows = await self.store.select("ledger.head_of", values)
        return InboxRow.read(rows[0]) if rows else row

    async def asked_in(self, session_id: str, lane: str) -> bool:
        """Tell whether the agent was ever asked in a lane."""
        values = {"session_id": session_id, "lane": lane}
        return bool(await self.store.select("ledger.asked_in_lane", values))

    def alias(self, unit: Unit, session_id: str, same_as: str) -> None:
        """Write down that a session goes on under another id."""
        unit.run("ledger.alias", session_id=session_id, same_as=same_as)

    async def aliases(self) -> dict[str, str]:
        """Return every session that goes on under another id: the new id to the one it had."""
        rows = await self.store.select("ledger.aliases", {})
        return {row["session_id"]: row["same_as"] for row in rows}

    async def lane_of(self, account: str, chat_id: str, message_id: str) -> tuple[bool, str | None]:
        """Tell whether a message is known by the platform's id, and its lane; people's and ours."""
        values = {"account_id": account, "chat_id": chat_id, "message_id": message_id}
        for statement in ("ledger.lane_of_message", "ledger.lane_of_answer"):
            rows = await self.store.select(statement, values)
            if rows:
                lane = rows[0]["lane"]
                return True, str(lane) if lane is not None else None
        return False, None

    async def lane_of_question(self, account: str, chat_id: str, message_id: str) -> str | None:
        """Return the lane of a message that asked the agent, or of an answer; None for others."""
        values = {"account_id": account, "chat_id": chat_id, "message_id": message_id}
        rows = await self.store.select("ledger.lane_of_question", values)
        rows = rows or await self.store.select("ledger.lane_of_answer", values)
        return str(rows[0]["lane"]) if rows and rows[0]["lane"] is not None else None
