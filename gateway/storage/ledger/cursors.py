"""Cursors: the time up to which each chat's messages are accepted; a backfill starts there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from channels.host import ChatReading, Cursors
from channels.message import InboundMessage
from gateway.clock import Clock
from gateway.storage.ledger.rows import account_id, run_alone
from tape.entry import parse_date, utc_iso
from tape.store import UnitStore
from tape.unit_of_work import Unit

MAX_CLOCK_SKEW: Final = timedelta(minutes=5)  # how far a message's date may be ahead of our clock


class CursorTable:
    """The cursors of all chats."""

    def __init__(self, store: UnitStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def advance(
        self, unit: Unit, messages: Iterable[InboundMessage], kept_back: Collection[tuple[str, str]]
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

    async def read(self, channel: str, overlap: timedelta, longest: timedelta) -> Cursors:
        """Return each chat's cursor minus `overlap`, or the time `longest` ago if that is later."""
        rows = await self._store.select("ledger.marks", {"channel": channel})
        found = {
            (row["account_id"].partition(":")[2], row["chat_id"]): value
            for row in rows
            if (value := self._past(row["value"])) is not None
        }
        if not found:
            found["", ""] = self._clock.now()
            await self.advance_all(channel, found["", ""])  # this process may not live to fill it
        least = self._clock.now() - longest
        if ("", "") in found:  # The account's own cursor applies to all its chats.
            least = max(least, found["", ""] - overlap)
        accounts: dict[str, datetime] = {}
        chats: dict[tuple[str, str], datetime] = {}
        for (account, chat_id), value in found.items():
            moment = max(value - overlap, least)
            chats[account, chat_id] = moment
            accounts[account] = max(moment, accounts.get(account, moment))
        readings: dict[tuple[str, str], ChatReading] = {}
        for row in await self._store.select("ledger.readings", {"channel": channel}):
            key = (row["account_id"].partition(":")[2], row["chat_id"])
            until, began = self._past(row["complete_until"]), self._past(row["began_at"])
            if until is not None:  # no cursor of the account: its other chats may lack more
                chats[key] = max(until - overlap, chats.get(key, least))
            is_newer = began is not None and began - overlap > chats.get(key, least)
            if began is not None and is_newer and row["thread_id"]:
                readings[key] = ChatReading(began, row["thread_id"])
        return Cursors(accounts, chats, readings, overlap)

    async def keep_readings(
        self, channel: str, readings: Mapping[tuple[str, str], ChatReading]
    ) -> None:
        """Record how far the histories of chats were read."""
        unit = Unit()
        for (account, chat_id), reading in readings.items():
            began_at = utc_iso(reading.began)
            unit.run(
                "ledger.keep_reading",
                account_id=account_id(channel, account),
                chat_id=chat_id,
                complete_until="" if reading.thread else began_at,
                began_at=began_at,
                thread_id=reading.thread,
            )
        await self._store.commit(unit)

    def _past(self, date: str) -> datetime | None:
        try:
            moment = parse_date(date)
        except ValueError:
            return None
        return moment if moment <= self._clock.now() + MAX_CLOCK_SKEW else None

    async def advance_all(self, channel: str, moment: datetime) -> None:
        """Record that all of a channel's messages from before a given time are accepted."""
        unit, value = Unit(), utc_iso(moment)
        unit.run("ledger.move_cursor", account_id=channel, chat_id="", value=value)
        unit.run("ledger.forget_readings", channel=channel, value=value)
        await self._store.commit(unit)

    async def probe(self) -> None:
        """Make a small write to find out whether the database accepts writes."""
        values = {"account_id": "", "chat_id": "probe", "value": utc_iso(self._clock.now())}
        await run_alone(self._store, "ledger.move_cursor", **values)
