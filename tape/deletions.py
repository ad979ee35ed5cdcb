"""What people deleted: it stays on the tape, and leaves views and search.

An event names the entry of the message. What shows its words (the message, an edit of it, the
prompt that was made of it, what a search of the tape found) shows from then on that it was deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from tape.entry import EVENT, MESSAGE, Entry, NewEntry, event
from tape.query import Query
from tape.quoted_results import quoted
from tape.reads import Reads

MESSAGE_DELETE: Final = "message.delete"
DELETED_TEXT: Final = "[This message was deleted.]"
REMOVED_RESULT: Final = "[This result was taken out: a message that it quoted was deleted.]"


def deletion(entry_id: int, message_id: str, **meta: object) -> NewEntry:
    """Return the event that a message was deleted."""
    return event(MESSAGE_DELETE, {"entry": entry_id, "message_id": message_id}, **meta)


async def deleted(tape: Reads, after: int = 0) -> set[int]:
    """Return the entries that were deleted, as told after an id."""
    found = await tape.query(Query(tape.name, after=after, kinds=(EVENT,), name=MESSAGE_DELETE))
    return {entry.payload["data"]["entry"] for entry in found}


async def without_deleted(tape: Reads, entries: Sequence[Entry]) -> list[Entry]:
    """Return entries as they may be shown: what was deleted says no more than that."""
    words = [number for entry in entries if (number := source_message(entry)) is not None]
    gone = await deleted(tape, min(words)) if words else set()
    shown = [_emptied(entry) if source_message(entry) in gone else entry for entry in entries]
    return await _without_quotes(tape, shown)


async def _without_quotes(tape: Reads, entries: Sequence[Entry]) -> list[Entry]:
    """Take out results that quote what was deleted; each keeps its place beside its call."""
    quotes = quoted(entries)
    said = await tape.entries(sorted({number for ids in quotes.values() for number in ids}))
    subjects = {number: source_message(entry) for number, entry in said.items()}
    words = tuple({subject for subject in subjects.values() if subject is not None})
    if not words:
        return list(entries)
    told = Query(tape.name, kinds=(EVENT,), name=MESSAGE_DELETE, about=words)
    gone = {entry.payload["data"]["entry"] for entry in await tape.query(told)}
    out = {at for at, ids in quotes.items() if any(subjects.get(n) in gone for n in ids)}
    return [_without_results(entry, {p for e, p in out if e == entry.id}) for entry in entries]


def _without_results(entry: Entry, places: Collection[int]) -> Entry:
    if not places:
        return entry
    results = [
        REMOVED_RESULT if place in places else result
        for place, result in enumerate(entry.payload["results"])
    ]
    return replace(entry, payload={**entry.payload, "results": results})


def source_message(entry: Entry) -> int | None:
    """Return the message whose words an entry shows; None: nobody's."""
    if entry.kind != MESSAGE:
        return None
    number = entry.meta.get("edit_of", entry.meta.get("prompt_of", entry.id))
    return number if isinstance(number, int) else entry.id


def _emptied(entry: Entry) -> Entry:
    return replace(
        entry, payload={"role": entry.payload.get("role", "user"), "content": DELETED_TEXT}
    )
