"""Messages that wait to be placed on their tapes: which they are, and what they say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from channels.message import InboundMessage
from gateway.storage.ledger.rows import InboxRow, readable
from tape.entry import dump
from tape.store import UnitStore
from tape.unit_of_work import Row

MAX_READ: Final = 200
"""Maximum accepted messages whose content is read together; of the others, only ids are."""

AT_ONCE: Final = ("press", "pairing", "change")  # kinds of events that somebody waits for


def goes_first(said: InboundMessage) -> bool:
    """Return whether somebody waits for what a message asks, or may ask."""
    return said.addressed or said.follows or bool(said.command) or said.kind in AT_ONCE


@dataclass(frozen=True, slots=True)
class UnreadRow:
    """An accepted message whose content was not read.

    urgent  whether it goes first
    unsure  whether it is an edit or a deletion, which goes first if that is of a question
    """

    id: int
    session_id: str
    urgent: bool
    unsure: bool = False

    @classmethod
    def read(cls, row: Row) -> UnreadRow:
        """Read a row that has these columns."""
        return cls(row["id"], row["session_id"], bool(row["urgent"]), bool(row["unsure"]))


def split_unread(rows: Sequence[Row]) -> tuple[list[Row], list[UnreadRow]]:
    """Return rows with their content, and those without.

    If one accepted message of a session is unread, all of them are.
    """
    far = {row["session_id"] for row in rows if row["payload"] is None}
    unread, whole = list[UnreadRow](), list[Row]()
    for row in rows:
        if row["session_id"] in far and row["status"] == "accepted":
            unread.append(UnreadRow.read(row))
        else:
            whole.append(row)
    return whole, unread


@dataclass(frozen=True, slots=True)
class WaitingChat:
    """What waits of a chat.

    session_id  the session, if it was known when the messages were accepted
    channel     the channel that answers them
    ids         the ids of the rows, in order
    urgent      those of them that somebody waits for
    to_chat     the new id of the chat that waits to be recorded, or ""
    """

    account_id: str
    chat_id: str
    session_id: str | None
    channel: str
    ids: tuple[int, ...]
    urgent: frozenset[int]
    to_chat: str

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> WaitingChat:
        """Read a row of `waiting_chats`."""
        names = ("account_id", "chat_id", "session_id")
        place = {name: row[name] for name in names}
        ids, urgent = sorted(orjson.loads(row["ids"])), frozenset(orjson.loads(row["urgent"]))
        channel, to_chat = row["channel"] or "", row["to_chat"] or ""
        return cls(**place, channel=channel, ids=tuple(ids), urgent=urgent, to_chat=to_chat)

    def only(self, ids: Collection[int]) -> WaitingChat:
        """Return this chat with no other messages than these."""
        return replace(self, ids=tuple(one for one in self.ids if one in ids))


@dataclass(frozen=True, slots=True)
class Unplaced:
    """How many accepted messages of an account are not on their tapes, and since when (UTC)."""

    account_id: str
    messages: int
    oldest: str


class WaitingTable:
    """The accepted messages that are not on their tapes."""

    def __init__(self, store: UnitStore) -> None:
        self._store = store

    async def chats(self) -> list[WaitingChat]:
        """Return what waits, by chat."""
        rows = await self._store.select("ledger.waiting_chats", {}, long=True)
        return [WaitingChat.read(row) for row in rows]

    async def unplaced(self) -> list[Unplaced]:
        """Return what waits, by account."""
        rows = await self._store.select("ledger.open_messages", {}, long=True)
        names = ("account_id", "unplaced", "unplaced_oldest")
        return [Unplaced(*(row[name] for name in names)) for row in rows if row["unplaced"]]

    async def newest(self) -> int:
        """Return the id of the newest row, or 0."""
        return int((await self._store.select("ledger.newest_row", {}))[0]["newest"])

    async def rows(self, ids: Collection[int]) -> list[InboxRow]:
        """Return the rows with these ids that wait still, oldest first."""
        found = await self._store.select("ledger.to_place", {"ids": dump(sorted(ids))})
        return await readable(self._store, found, InboxRow.read, "ledger.bury_inbox")

    async def about_questions(self, ids: Collection[int]) -> frozenset[int]:
        """Return which of these edits and deletions are about questions that no turn has taken."""
        found = await self._store.select("ledger.about_questions", {"ids": dump(sorted(ids))})
        return frozenset(row["id"] for row in found)
