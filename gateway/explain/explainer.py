"""The explainer: turns an id, a link or a row into a report."""

from __future__ import annotations

from collections.abc import Sequence

from agent.wire import WIRE
from gateway.clock import Clock, SystemClock
from gateway.explain.facts import MessageFacts, read_facts, turn_entries
from gateway.explain.joints import joints_of
from gateway.explain.lookup import Match, find
from gateway.explain.message_report import (
    asks_itself,
    first_of,
    head_of,
    is_about_another,
    is_edit,
    message_lines,
)
from gateway.explain.report import MAX_MATCHES, Report, ReportLine, StoreReads, payload_of, quoted
from gateway.explain.turn_report import outbox_lines, turn_lines
from gateway.redaction.redactor import Redactor
from tape.context import MESSAGE_EDIT
from tape.entry import Entry, dump
from tape.taken_messages import ASKED_IN
from tape.unit_of_work import Row


class Explainer:
    """Reads a store that contains the ledger, and redacts secrets; changes nothing.

    A running gateway gives the redactor of its services, which learns secrets that are set later,
    and their clock.
    """

    def __init__(self, reads: StoreReads, redactor: Redactor, clock: Clock | None = None) -> None:
        self._reads = reads
        self._redactor = redactor
        self._clock = clock or SystemClock()

    async def explain(self, asked: str) -> Report:
        """Return the report about what an id, a link or a row names (see `lookup`)."""
        found = await find(self._reads, asked)
        return self._clean(await self._report(asked, found))

    async def explain_row(self, row: Row) -> Report:
        """Return the report about a row of the inbox, without what repeats a deleted message."""
        asked = f"in-{row['id']}"
        return self._clean(await self._of_message(asked, row, quotes=False))

    def _clean(self, report: Report) -> Report:
        return Report.from_json(self._redactor.value(report.to_json()))

    async def _report(self, asked: str, found: Match) -> Report:
        if found.missing:
            return Report(asked, missing=found.missing)
        if found.options:
            return Report(asked, options=found.options)
        if found.outbox is not None:
            return await self._of_send(asked, found.outbox)
        if found.inbox is not None:
            return await self._of_message(asked, found.inbox)
        assert found.entry is not None
        return Report(asked, *self._of_entry(found.tape, found.entry))

    async def _of_message(
        self, asked: str, row: Row, before: Sequence[ReportLine] = (), *, quotes: bool = True
    ) -> Report:
        payload = payload_of(row)
        lines = list(before)
        other = await self._subject(row)
        if other is not None:
            lines.append(ReportLine(row["received_at"], "asked", head_of(row, payload)))
            row, payload = other, payload_of(other)
        facts = await read_facts(self._reads, row, await self._tape(row))
        now = self._clock.now()
        lines += await message_lines(self._reads, facts, now, quotes=quotes)
        place = facts.place()
        if (edit := await self._asking_edit(facts)) is not None:
            head = head_of(edit, payload_of(edit))
            lines.append(ReportLine(edit["received_at"], "edit", head))
            facts = await read_facts(self._reads, edit, facts.tape)
            lines += await message_lines(self._reads, facts, now, quotes=quotes)
        return Report(asked, head_of(row, payload), lines, joints=joints_of(facts), place=place)

    async def _asking_edit(self, facts: MessageFacts) -> Row | None:
        """Return the row of the edit of a message that asked the agent, or None."""
        edits = [one for one in facts.changes if one.name == MESSAGE_EDIT]
        if not any(ASKED_IN in one.payload["data"] for one in edits):
            return None
        rows = await self._versions(facts.row)
        return next((one for one in rows if is_edit(payload_of(one)) and asks_itself(one)), None)

    async def _versions(self, row: Row) -> list[Row]:
        values = {name: row[name] for name in ("message_id", "chat_id", "account_id")}
        values["limit"] = MAX_MATCHES
        return list(await self._reads.select("ledger.told_chat_message", values))

    async def _subject(self, row: Row) -> Row | None:
        """Return the message that this row edits or deletes or is part of, or None."""
        payload = payload_of(row)
        if is_edit(payload) and asks_itself(row):
            return None
        if is_about_another(payload):
            return first_of([one for one in await self._versions(row) if one["id"] < row["id"]])
        if row["status"] == "joined":
            of = {"entry_id": row["entry_id"], "session_id": row["session_id"]}
            heads = await self._reads.select("ledger.head_of", {**of, "before": row["id"]})
            if heads:
                found = await self._reads.select("ledger.inbox_row", {"id": heads[0]["id"]})
                return found[0]
        return None

    async def _of_send(self, asked: str, row: Row) -> Report:
        payload = payload_of(row)
        kind = "a notice" if payload.get("kind") == "notice" else "an answer"
        part = f", part {row['part']}" if row["part"] else ""
        piece = f", piece {payload['piece'] + 1}" if payload.get("piece") else ""
        head = f"out-{row['id']} is {kind}{part}{piece} to {row['account_id']} {row['chat_id']}"
        text = f": {quoted(str(payload['text']))}" if payload.get("text") else ""
        question = await self._question(row, payload.get("answers"))
        own = ReportLine(str(payload.get("date") or ""), "asked", f"{head}{text}")
        if question is not None:
            return await self._of_message(asked, question, [own])
        lines = [own, *outbox_lines(row)]
        if row["turn_id"]:
            tape = await self._tape(row)
            entries = await turn_entries(self._reads, tape, row["turn_id"])
            lines += turn_lines(tape, row["turn_id"], entries)
        return Report(asked, head, lines)

    async def _question(self, row: Row, answers: object) -> Row | None:
        if answers:
            values = {"account_id": row["account_id"], "ext_id": answers}
            rows = await self._reads.select("ledger.told_key", values)
            if rows:
                return rows[0]
        if row["turn_id"]:
            values = {"turn_id": row["turn_id"], "limit": MAX_MATCHES}
            rows = await self._reads.select("ledger.told_turn", values)
            return rows[-1] if rows else None
        return None

    def _of_entry(self, tape: str, entry: Entry) -> tuple[str, list[ReportLine]]:
        says = quoted(entry.text or dump(entry.payload), 1000)
        what = f"{entry.kind} {entry.name}" if entry.name else entry.kind
        head = f"entry {entry.id} of the tape {tape} belongs to no message and no turn"
        meta = {"meta": {key: entry.meta[key] for key in entry.meta if key != WIRE}}
        return head, [ReportLine(entry.date, "entry", f"{what}: {says}", meta)]

    async def _tape(self, row: Row) -> str:
        values = {"session_id": row["session_id"] or ""}
        rows = await self._reads.select("ledger.told_session", values)
        return str(rows[0]["tape"]) if rows else ""
