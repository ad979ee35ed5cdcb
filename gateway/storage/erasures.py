"""Erasures: what is to be erased, and the rows of the ledger that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from gateway.clock import Clock
from gateway.storage.ledger.rows import run_alone
from tape.entry import dump, load, utc_iso
from tape.store import UnitStore
from tape.unit_of_work import Row, Unit

BATCH = 500


@dataclass(frozen=True, slots=True)
class Erasure:
    """What to erase.

    what        some messages, all that a person wrote, or a chat (up to a moment)
    tape        the only tape to erase from; for a person, "" stands for every chat of the channel
    entries     the entries of the messages
    until       for a chat: only what is older; "" stands for everything
    asked_by    `person`, `operator` or `retention`; never who that is
    """

    erasure_id: str
    what: Literal["message", "person", "chat"]
    asked_by: str
    tape: str = ""
    channel: str = ""
    person: str = ""
    entries: tuple[int, ...] = ()
    until: str = ""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Erasure:
        """Read what was stored as JSON."""
        return cls(**{**data, "entries": tuple(data["entries"])})


class ErasureTable:
    """The erasures that are open or done, and what they remove from the ledger."""

    def __init__(self, store: UnitStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def begin(self, unit: Unit, erasure: Erasure) -> None:
        """Put an erasure on record."""
        moment = utc_iso(self._clock.now())
        values = {name: getattr(erasure, name) for name in ("erasure_id", "what", "asked_by")}
        unit.run("ledger.begin_erasure", **values, asked_at=moment, data=dump(asdict(erasure)))

    async def read(self) -> list[Row]:
        return await self._store.select("ledger.erasures", {})

    async def end(self, erasure_id: str, entries: int, found: Sequence[Any]) -> None:
        """Record the result of an erasure in place of what it was about."""
        values = {"erasure_id": erasure_id, "entries": entries, "found": dump(list(found))}
        await run_alone(self._store, "ledger.end_erasure", **values)

    async def refuse(self, erasure_id: str, why: str) -> None:
        """Record why an erasure ends undone, in place of what it was about."""
        values = {"erasure_id": erasure_id, "data": dump({"why": why})}
        await run_alone(self._store, "ledger.refuse_erasure", **values)

    async def purged(self) -> None:
        """Record that no file has anything of what was erased."""
        await run_alone(self._store, "ledger.purged")

    async def sessions_of(self, channel: str) -> dict[str, str]:
        """Map the sessions with messages of a channel to their tapes."""
        rows = await self._store.select(
            "ledger.sessions_of_channel", {"channel": channel}, long=True
        )
        return {row["session_id"]: row["tape"] for row in rows}

    async def rows_of(self, erasure: Erasure, session_id: str, now: str) -> list[Row]:
        """Return the received messages that an erasure is about, in one session or in all."""
        values: dict[str, Any] = {"session_id": session_id}
        if erasure.what == "person":
            values |= {"channel": erasure.channel, "person": erasure.person}
            return await self._store.select("ledger.rows_of_person", values, long=True)
        if erasure.what == "message":
            values["entries"] = dump(list(erasure.entries))
            return await self._store.select("ledger.rows_of_entries", values, long=True)
        values["until"] = erasure.until or now
        return await self._store.select("ledger.rows_of_session", values, long=True)

    async def sent(self, erasure: Erasure, session_id: str, rows: Sequence[Row]) -> list[Row]:
        """Return what was sent in answer to these messages, if that goes with them."""
        if erasure.what == "message":
            return []
        return await self._store.select(
            "ledger.sends_of", self._answered(erasure, session_id, rows), long=True
        )

    def _answered(self, erasure: Erasure, session_id: str, rows: Sequence[Row]) -> dict[str, str]:
        until = (erasure.until or utc_iso(self._clock.now())) if erasure.what == "chat" else ""
        turns = sorted({row["turn_id"] for row in rows if row["turn_id"]})
        ids = dump(_message_ids(rows))
        return {"session_id": session_id, "ids": ids, "until": until, "turns": dump(turns)}

    async def wipe(self, erasure: Erasure, session_id: str, rows: Sequence[Row], why: str) -> None:
        """Take the words of these messages, their answers and their quotes out of the ledger."""
        sends = await self.sent(erasure, session_id, rows)
        answers = [row["platform_id"] for row in sends if row["platform_id"]]
        about = {"person": erasure.person, "channel": erasure.channel, "session_id": session_id}
        ids = dump([*_message_ids(rows), *answers])
        quotes = await self._store.select("ledger.quotes_of", {**about, "ids": ids}, long=True)
        await self._wipe_replies(session_id, [row for row in quotes if row["passes_on"]])
        await self._wipe("ledger.wipe_quotes", quotes)
        await self._wipe("ledger.wipe_outbox", sends, why=why)
        await self._wipe("ledger.wipe_inbox", rows, why=why)

    async def wipe_copies(
        self, erasure: Erasure, session_id: str, is_copy: Callable[[str], bool], why: str
    ) -> None:
        """Take what is erased out of a session's messages that pass it on, and out of replies.

        A message that forwards it is nothing else, and goes whole.
        """
        values = {"session_id": session_id, "person": erasure.person}
        rows = await self._store.select("ledger.rows_passing_on", values, long=True)
        forwards = [row for row in rows if is_copy(row["forwarded"] or "")]
        copies = [row for row in rows if any(map(is_copy, _excerpts(row)))]
        await self._wipe_replies(session_id, [*forwards, *copies])
        copies += [row for row in rows if is_copy(row["quote"] or "")]
        await self._wipe("ledger.wipe_quotes", copies)
        await self._wipe("ledger.wipe_inbox", forwards, why=why)

    async def _wipe_replies(self, session_id: str, rows: Sequence[Row]) -> None:
        """Take what these messages pass on out of the replies that quote them."""
        ids = _message_ids(rows)
        values = {"session_id": session_id, "ids": dump(ids), "person": "", "channel": ""}
        if ids:
            quotes = await self._store.select("ledger.quotes_of", values, long=True)
            await self._wipe("ledger.wipe_quotes", quotes)

    async def wipe_rows(self, ids: Sequence[int], why: str) -> None:
        """Take the words of messages out of the inbox."""
        await self._wipe("ledger.wipe_inbox", [{"id": number} for number in ids], why=why)

    async def wipe_person(self, erasure: Erasure, session_id: str) -> None:
        """Remove a person, or all people, from usage, titles, cards and links of a session.

        "" stands for every session of the person's channel: then, they are signed out, too.
        """
        if erasure.what == "message" or erasure.until or not (erasure.person or session_id):
            return
        own = {"channel": erasure.channel, "person": erasure.person}
        values = {**own, "session_id": session_id}
        person = f"{erasure.channel}:{erasure.person}" if erasure.person else ""
        of = {"person": person, "session_id": session_id}
        day = self._clock.now().date().isoformat()
        await run_alone(self._store, "ledger.wipe_usage", **of)
        await run_alone(self._store, "ledger.wipe_budget", **of)
        await run_alone(self._store, "ledger.wipe_title", **of)
        await run_alone(self._store, "ledger.wipe_old_budget", **of, day=day)
        await run_alone(self._store, "ledger.wipe_cards", **values)
        await run_alone(self._store, "ledger.wipe_console_links", **values)
        if erasure.what == "person":
            await run_alone(self._store, "ledger.wipe_console_revoker", **of)
        if erasure.what == "person" and session_id:
            # Whoever holds the session knows its numbers, so each erases those of its own.
            await run_alone(
                self._store, "ledger.wipe_number", person=erasure.person, session_id=session_id
            )
        elif erasure.what == "person":
            await run_alone(self._store, "ledger.wipe_console_codes", **own)
            await run_alone(self._store, "ledger.wipe_console_sessions", **own)

    async def _wipe(self, statement: str, rows: Sequence[Row], **values: str) -> None:
        for start in range(0, len(rows), BATCH):
            ids = dump([row["id"] for row in rows[start : start + BATCH]])
            await run_alone(self._store, statement, ids=ids, **values)


def _message_ids(rows: Sequence[Row]) -> list[str]:
    return sorted({row["message_id"] for row in rows if row["message_id"]})


def _excerpts(row: Row) -> list[str]:
    return [str(one.get("text")) for one in load(row["excerpts"] or "[]")]
