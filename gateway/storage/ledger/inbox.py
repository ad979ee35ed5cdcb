"""The inbox: every accepted message, until a turn or something else ends it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Final

import orjson

from channels.message import InboundMessage
from gateway.clock import Clock
from gateway.storage.ledger.cursors import CursorTable
from gateway.storage.ledger.rows import (
    InboxRow,
    KnownMessage,
    account_id,
    readable,
    run_alone,
    run_in_session,
)
from tape.entry import NewEntry, dump, utc_iso
from tape.store import UnitStore
from tape.unit_of_work import FirstId, Outcome, Row, Unit

DELETED: Final = "it was deleted"
_WAITING: Final = "ledger.waiting_entries"


class Inbox:
    """Accepted messages; see `gateway.storage.ledger.ledger` for the guarantees."""

    def __init__(self, store: UnitStore, clock: Clock, cursors: CursorTable) -> None:
        self._store = store
        self._clock = clock
        self._cursors = cursors

    async def accept(
        self,
        messages: Sequence[InboundMessage],
        kept_back: Collection[tuple[str, str]] | None = None,
    ) -> list[InboxRow]:
        """Insert all messages or none, move the cursors, and return the rows of new messages.

        Cursors of the (account, chat) pairs in `kept_back` do not move; "" or None stands for all.
        """
        unit = Unit()
        steps = self.write(unit, messages, kept_back)
        outcomes = await self._store.commit(unit)
        return self.written(messages, [outcomes[step] for step in steps])

    def write(
        self,
        unit: Unit,
        messages: Sequence[InboundMessage],
        kept_back: Collection[tuple[str, str]] | None = None,
        sessions: Sequence[str | None] = (),
    ) -> list[int]:
        """Insert messages and move the cursors in a unit; return the steps for `written`.

        `sessions` are those of the messages, if they are known already.
        """
        moment = utc_iso(self._clock.now())
        steps = [
            unit.run(
                "ledger.accept",
                account_id=account_id(message.channel, message.account),
                ext_id=message.ext_id,
                alt_id=message.alt_id,
                chat_id=message.chat_id,
                message_id=message.message_id,
                thread_id=message.thread_id,
                session_id=session_id,
                payload=dump(message.to_payload()),
                received_at=moment,
            )
            for message, session_id in zip_longest(messages, sessions)
        ]
        if kept_back is not None:
            self._cursors.advance(unit, messages, kept_back)
        return steps

    def written(
        self, messages: Sequence[InboundMessage], outcomes: Sequence[Outcome]
    ) -> list[InboxRow]:
        """Return the rows of the messages that are new."""
        return [
            InboxRow(
                id=outcome.rows[0]["id"],
                account_id=account_id(message.channel, message.account),
                session_id=outcome.rows[0]["session_id"],
                entry_id=None,
                lane=None,
                turn_id=None,
                status="accepted",
                attempts=0,
                message=message,
                received_at=outcome.rows[0]["received_at"],
            )
            for message, outcome in zip(messages, outcomes, strict=True)
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
        also: Sequence[NewEntry] = (),
    ) -> FirstId:
        """Append a message to its tape, and record its entry, lane and status.

        `also` are entries that follow from it, and stand behind its own. The unit fails if the
        message has ended meanwhile.
        """
        unit.works_on.add(session_id)
        first = unit.append(tape, [entry, *also], key=f"inbox:{row.id}")
        unit.run("ledger.know_session", session_id=session_id, tape=tape)
        unit.run(
            "ledger.taken_in",
            expect=1,
            id=row.id,
            session_id=session_id,
            entry_id=first,
            lane=lane,
            status=status,
        )
        return first

    def take(self, unit: Unit, rows: Iterable[InboxRow], turn_id: str) -> None:
        """Record that a turn takes messages; the unit fails if one of these messages has ended."""
        moment = utc_iso(self._clock.now())
        for row in rows:
            unit.run("ledger.take", expect=1, id=row.id, turn_id=turn_id, taken_at=moment)

    def begin_command(self, unit: Unit, row: InboxRow) -> None:
        """Record that a command begins to run: the unit fails if it was dropped meanwhile.

        From then on, no edit or deletion ends it. No turn takes it, so it has no `turn_id`.
        """
        moment = utc_iso(self._clock.now())
        unit.run("ledger.begin_command", expect=1, id=row.id, taken_at=moment)

    async def was_taken(self, row: InboxRow, turn_id: str) -> bool:
        """Return whether a turn has taken a message since its row was read."""
        rows = await self._store.select("ledger.inbox_row", {"id": row.id})
        return any(now["turn_id"] == turn_id and now["attempts"] > row.attempts for now in rows)

    def end(
        self, unit: Unit, rows: Iterable[InboxRow], status: str, why: str | None = None
    ) -> None:
        """Record how and why messages ended."""
        for row in rows:
            if row.session_id:
                unit.works_on.add(row.session_id)
            unit.run("ledger.end_message", id=row.id, status=status, why=why)

    async def open_rows(self) -> list[InboxRow]:
        """Return every message that has not ended, oldest first."""
        rows = await self._store.select("ledger.open_inbox", {})
        return await readable(self._store, rows, InboxRow.read, "ledger.bury_inbox")

    async def questions(self) -> list[InboxRow]:
        """Return every open message that is on its tape, oldest first."""
        rows = await self._store.select("ledger.open_questions", {}, long=True)
        return await readable(self._store, rows, InboxRow.read, "ledger.bury_inbox")

    async def waiting_entries(self, session_id: str) -> frozenset[int]:
        """Return the ids of the entries in a session that wait for turns of their own."""
        return _entries(await self._store.select(_WAITING, {"session_id": session_id}))

    @staticmethod
    def read_waiting(unit: Unit, session_id: str) -> Callable[[Sequence[Outcome]], frozenset[int]]:
        """Read at the end of a unit what waits then; return how to find it in the outcomes."""
        step = unit.run(_WAITING, session_id=session_id)
        return lambda outcomes: _entries(outcomes[step].rows)

    async def still_open(self, rows: Sequence[InboxRow]) -> tuple[InboxRow, ...]:
        """Return those of the given rows that have not ended."""
        return await self._those("ledger.still_open", rows)

    async def still_accepted(self, rows: Sequence[InboxRow]) -> tuple[InboxRow, ...]:
        """Return those of the given rows that are to be taken in still."""
        return await self._those("ledger.still_accepted", rows)

    async def _those(self, statement: str, rows: Sequence[InboxRow]) -> tuple[InboxRow, ...]:
        found = await self._store.select(statement, {"ids": dump([row.id for row in rows])})
        wanted = {row["id"] for row in found}
        return tuple(row for row in rows if row.id in wanted)

    async def hand_over(self, session_id: str, turn_id: str) -> None:
        """Record that a turn was left to the next start on purpose: it is no failed attempt.

        Raise SessionLost if another process runs the turn.
        """
        await run_in_session(self._store, session_id, "ledger.hand_over", {"turn_id": turn_id})

    async def count_crash(self, suspect: int) -> None:
        """Count the previous process's crash against the turns that were running in it, if any.

        If one of them was in `suspect` crashes in a row already, the crash counts against it alone.
        """
        await run_alone(self._store, "ledger.count_crash", suspect=suspect)

    def join(
        self,
        unit: Unit,
        row: InboxRow,
        others: Iterable[InboxRow],
        session_id: str,
        entry_id: FirstId,
        lane: str | None,
    ) -> None:
        """Record that `others` are parts of the message in `row`."""
        self.rewrite(unit, row)
        for other in others:
            place = {"session_id": session_id, "entry_id": entry_id, "lane": lane}
            unit.run("ledger.joined", expect=1, id=other.id, **place)

    def rewrite(self, unit: Unit, row: InboxRow) -> None:
        """Replace a message's text, unless a turn has taken the message."""
        unit.run("ledger.rewrite", id=row.id, payload=dump(row.message.to_payload()))

    def complete(self, unit: Unit, row: InboxRow) -> None:
        """Record what was looked up of a message that is not on its tape yet."""
        if row.session_id:
            unit.works_on.add(row.session_id)
        unit.run("ledger.complete", id=row.id, payload=dump(row.message.to_payload()))

    def unask(
        self, unit: Unit, row: InboxRow, why: str = DELETED, expect: int | None = None
    ) -> int:
        """Cancel a question that was deleted; if a turn has taken it, no row changes."""
        return unit.run("ledger.unask", expect=expect, id=row.id, why=why)

    async def later_versions(self, rows: Sequence[InboxRow]) -> frozenset[int]:
        """Return the ids of those rows whose message has an earlier row."""
        if not rows:
            return frozenset()
        values = {"ids": dump([row.id for row in rows])}
        found = await self._store.select("ledger.later_versions", values)
        return frozenset(row["id"] for row in found)

    async def original_of(self, edit: InboxRow) -> InboxRow | None:
        """Return the row of the message that an edit changes: the first one that is on a tape.

        It is one that was refused, or a change of the chat, only if there is no other.
        """
        rows = await self._store.select("ledger.original_of", _versions_before(edit))
        return InboxRow.read(rows[0]) if rows else None

    async def asked_version(self, edit: InboxRow, parts: Sequence[str] = ()) -> InboxRow | None:
        """Return the version of a message, or of its parts, that has asked, or its deletion."""
        values = _versions_before(edit)
        values["message_ids"] = dump([edit.message.message_id, *parts])
        rows = await self._store.select("ledger.asked_version", values)
        return InboxRow.read(rows[0]) if rows else None

    async def head_of(self, row: InboxRow) -> InboxRow:
        """Return the row of the message that `row` is a part of, or `row` itself."""
        if row.status != "joined":
            return row
        values = {"entry_id": row.entry_id, "session_id": row.session_id, "before": row.id}
        rows = await self._store.select("ledger.head_of", values)
        return InboxRow.read(rows[0]) if rows else row

    async def album(self, row: InboxRow, session_id: str) -> list[InboxRow]:
        """Return what a message's album has on the tape, the oldest first, while that is recent."""
        said = row.message
        values = {"session_id": session_id, "account_id": row.account_id, "before": row.id}
        values |= {"chat_id": said.chat_id, "joins": said.joins}
        found = [InboxRow.read(one) for one in await self._store.select("ledger.album", values)]
        return [one for one in found if one.message.sender.id == said.sender.id]

    async def asked_in(self, session_id: str, lane: str) -> bool:
        """Return whether the agent was ever asked a question in a lane."""
        values = {"session_id": session_id, "lane": lane}
        return bool(await self._store.select("ledger.asked_in_lane", values))

    async def threads(self, account: str, chat_id: str, since: datetime) -> list[str]:
        """Return the threads of a chat in which messages were accepted since a given time."""
        values = {"account_id": account, "chat_id": chat_id, "since": utc_iso(since)}
        return [row["thread_id"] for row in await self._store.select("ledger.threads", values)]

    async def answered(self, account: str, chat_id: str, since: datetime) -> list[str]:
        """Return a chat's messages outside threads that turns took since a given time."""
        values = {"account_id": account, "chat_id": chat_id, "since": utc_iso(since)}
        rows = await self._store.select("ledger.answered_messages", values)
        return [row["message_id"] for row in rows]

    async def find(self, account: str, chat_id: str, message_id: str) -> KnownMessage | None:
        """Return what is known of a person's message, or of ours, by the platform's id."""
        values = {"account_id": account, "chat_id": chat_id, "message_id": message_id}
        for statement in ("ledger.lane_of_message", "ledger.lane_of_answer"):
            for row in await self._store.select(statement, values):
                return KnownMessage.read(row)
        return None

    async def by_key(self, channel: str, account: str, ext_id: str) -> InboundMessage | None:
        """Return a message by its key, or None if it is unknown or let go of."""
        values = {"account_id": account_id(channel, account), "ext_id": ext_id}
        rows = await self._store.select("ledger.message_by_key", values)
        return InboxRow.read(rows[0]).message if rows else None

    async def lane_of_question(self, account: str, chat_id: str, message_id: str) -> str | None:
        """Return the lane of a question or an answer, or None for other messages."""
        values = {"account_id": account, "chat_id": chat_id, "message_id": message_id}
        rows = await self._store.select("ledger.lane_of_question", values)
        rows = rows or await self._store.select("ledger.lane_of_answer", values)
        return str(rows[0]["lane"]) if rows and rows[0]["lane"] is not None else None

    async def asked_at(self, turn_id: str) -> str:
        """Return when the newest question of a turn was accepted, or ""."""
        rows = await self._store.select("ledger.asked_at", {"turn_id": turn_id})
        return rows[0]["asked_at"] or ""

    def alias(self, unit: Unit, session_id: str, same_as: str) -> None:
        """Record that a session continues under another id."""
        unit.run("ledger.alias", session_id=session_id, same_as=same_as)

    async def aliases(self) -> dict[str, str]:
        """Return a mapping from each continued session's new id to its former id."""
        rows = await self._store.select("ledger.aliases", {})
        return {row["session_id"]: row["same_as"] for row in rows}


def _versions_before(edit: InboxRow) -> dict[str, object]:
    said = edit.message
    place = {"account_id": edit.account_id, "chat_id": said.chat_id}
    return {**place, "message_id": said.message_id, "before": edit.id}


def _entries(rows: Sequence[Row]) -> frozenset[int]:
    return frozenset(orjson.loads(rows[0]["entries"]))
