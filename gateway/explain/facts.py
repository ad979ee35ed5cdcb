"""Read what is recorded about one message, for the lines and the joints of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.explain.report import StoreReads, cut, payload_of
from gateway.explain.words import words_of
from gateway.language.language import translated
from tape.deletions import MESSAGE_DELETE, without_deleted, without_other_chats
from tape.entry import EVENT, Entry
from tape.erasing import ERASED
from tape.query import Query
from tape.reads import Reads
from tape.unit_of_work import Row

MAX_ENTRIES: Final = 1000
MAX_SENDS: Final = 200
NOTICES: Final = ("command", "full", "stopped", "poison", "stale")
"""Notices about a single message; their keys end with the number of its row."""


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What is recorded about a message.

    row      its row of the inbox, whose payload is `payload`
    tape     the name of its tape, or ""
    entry    its entry, if it is on its tape; that of a refused message may be an event
    changes  the events about its entry, such as edits and its deletion
    turn     the entries of the turn that took it, in order
    sends    the rows of the outbox that the turn wrote
    notices  the rows of the outbox that are about this message alone
    """

    row: Row
    payload: Mapping[str, Any]
    tape: str = ""
    entry: Entry | None = None
    changes: Sequence[Entry] = ()
    turn: Sequence[Entry] = field(default=())
    sends: Sequence[Row] = ()
    notices: Sequence[Row] = ()

    @property
    def is_erased(self) -> bool:
        return self.payload.get("why") == ERASED

    @property
    def is_deleted(self) -> bool:
        """Return whether its text must not be shown, because it was deleted on its platform."""
        return any(event.name == MESSAGE_DELETE for event in self.changes)

    @property
    def is_closed(self) -> bool:
        """Return whether it was refused: its text is on no tape, and must not be shown."""
        refused = self.row["status"] == "refused"
        return refused and (self.entry is None or self.entry.kind == EVENT)

    def place(self) -> dict[str, Any]:
        """Return where it is, and by whom; its text only if that may be shown."""
        row, entry = self.row, self.entry
        names = {"id": "row", "session_id": "session", "account_id": "account"}
        names |= {"entry_id": "entry", "turn_id": "turn"}
        own = {name: row[column] for column, name in names.items()}
        own |= {name: row[name] for name in ("message_id", "lane", "status", "received_at", "why")}
        own["why"] = translated(row["why"]) if row["why"] else row["why"]
        own |= {"tape": self.tape, "erased": self.is_erased, "name": None, "text": None}
        sender = self.payload.get("sender")
        if entry is None or self.is_closed or self.is_deleted or not isinstance(sender, Mapping):
            return own
        text = words_of(entry)
        name = sender.get("name") or entry.meta.get("name")
        return {**own, "name": name, "text": cut(text) if text else None}


async def read_facts(reads: StoreReads, row: Row, tape: str) -> MessageFacts:
    """Return what is recorded about the message in a row of the inbox."""
    payload = payload_of(row)
    found = MessageFacts(row, payload, tape)
    if found.is_erased:
        return found
    entries = await reads.query(Query(tape, ids=(row["entry_id"],))) if row["entry_id"] else []
    found = MessageFacts(row, payload, tape, entries[0] if entries else None)
    turn, changes, sends, notices = [], [], [], []
    if found.entry is not None and not found.is_closed:
        about = Query(tape, kinds=(EVENT,), about=(found.entry.id,), limit=100)
        changes = await reads.query(about)
    if row["turn_id"]:
        turn = await turn_entries(reads, tape, row["turn_id"])
        sends = await sends_of(reads, row["turn_id"])
    for notice in NOTICES:
        notices += await sends_of(reads, f"n-{notice}:{row['id']}")
    if found.is_closed:
        where = f"{payload.get('channel')}:{payload.get('account', '')}:{row['chat_id']}"
        notices += await sends_of(reads, f"n-refusal:{where}:{row['received_at'][:10]}")
    return MessageFacts(row, payload, tape, found.entry, changes, turn, sends, notices)


async def turn_entries(reads: StoreReads, tape: str, turn: str) -> list[Entry]:
    """Return the entries of a turn, at most MAX_ENTRIES, without the text of deleted messages.

    Results that tools took from another chat are replaced by a sentence.
    """
    entries = await reads.query(Query(tape, turn=turn, limit=MAX_ENTRIES))
    return without_other_chats(await without_deleted(TapeReads(reads, tape), entries))


class TapeReads(Reads):
    """A tape as a report reads it."""

    def __init__(self, reads: StoreReads, name: str) -> None:
        self._reads = reads
        self.name = name

    async def run_query(self, query: Query) -> list[Entry]:
        return await self._reads.query(query)


async def sends_of(reads: StoreReads, key: str) -> list[Row]:
    """Return the rows of the outbox for a turn or a notice, given its key."""
    return await reads.select("ledger.told_sends", {"key": key, "limit": MAX_SENDS})
