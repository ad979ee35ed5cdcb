"""Deleted messages stay on the tape, but views and searches leave out their text.

A `message.delete` event has the id of the message. From then on everything that repeats the text
(the message, its edits, the prompt made from it, a quote, a search result) is shown as deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tape.entry import EVENT, MESSAGE, Entry, NewEntry, event
from tape.excerpts import EXCERPTS, without_quote
from tape.payloads import sound
from tape.quoted_results import from_elsewhere, quoted
from tape.reads import Reads

MESSAGE_DELETE: Final = "message.delete"
DELETED_TEXT: Final = "[This message was deleted.]"
DELETED_QUOTE: Final = "a message that was deleted"
REMOVED_RESULT: Final = "[This result was taken out: a message that it quoted was deleted.]"
ELSEWHERE_RESULT: Final = "[This result was taken from another chat: look it up there.]"


def deletion(entry_id: int, message_id: str, **meta: object) -> NewEntry:
    return event(MESSAGE_DELETE, {"entry": entry_id, "message_id": message_id}, **meta)


async def deleted(tape: Reads, after: int = 0, about: tuple[int, ...] | None = None) -> set[int]:
    """Return the ids of messages (only those in `about`, if given) deleted after an id."""
    return {entry.payload["data"]["entry"] for entry in await _deletions(tape, after, about)}


async def _deletions(tape: Reads, after: int, about: tuple[int, ...] | None = None) -> list[Entry]:
    found = await tape.find(after=after, kinds=(EVENT,), name=MESSAGE_DELETE, about=about)
    return sound(tape.name, found)


async def without_deleted(tape: Reads, entries: Sequence[Entry]) -> list[Entry]:
    """Blank the text of deleted messages, and quotes and results that repeat it."""
    ids = [number for entry in entries if (number := source_message(entry)) is not None]
    events = await _deletions(tape, min(ids)) if ids else []
    gone = {event.payload["data"]["entry"] for event in events}
    said = {str(event.payload["data"].get("message_id")) for event in events}
    left = [_unquoted(entry) if _quotes(entry) in said else entry for entry in entries]
    shown = [_emptied(entry) if source_message(entry) in gone else entry for entry in left]
    return await _without_quotes(tape, shown)


def without_other_chats(entries: Sequence[Entry]) -> list[Entry]:
    """Replace results taken from another chat, where their text may have been deleted since."""
    return _taken_out(entries, from_elsewhere(entries), ELSEWHERE_RESULT)


async def _without_quotes(tape: Reads, entries: Sequence[Entry]) -> list[Entry]:
    """Replace results that quote deleted messages; every result keeps its position."""
    quotes = quoted(entries)
    found = await tape.entries(sorted({number for ids in quotes.values() for number in ids}))
    sources = {number: source_message(entry) for number, entry in found.items()}
    messages = tuple({source for source in sources.values() if source is not None})
    gone = await deleted(tape, about=messages) if messages else set()
    # What is quoted but no longer found is withheld from readers of this tape.
    hidden = gone | {number for ids in quotes.values() for number in ids if number not in found}
    out = {at for at, ids in quotes.items() if any(sources.get(n, n) in hidden for n in ids)}
    return _taken_out(entries, out, REMOVED_RESULT)


def _taken_out(
    entries: Sequence[Entry], out: Collection[tuple[int, int]], says: str
) -> list[Entry]:
    return [_replaced(entry, {p for e, p in out if e == entry.id}, says) for entry in entries]


def _replaced(entry: Entry, positions: Collection[int], says: str) -> Entry:
    if not positions:
        return entry
    results = [
        says if position in positions else result
        for position, result in enumerate(entry.payload["results"])
    ]
    return replace(entry, payload={**entry.payload, "results": results})


def source_message(entry: Entry) -> int | None:
    """Return the id of the message whose text an entry shows, or None if not a message."""
    if entry.kind != MESSAGE:
        return None
    number = entry.meta.get("edit_of", entry.meta.get("prompt_of", entry.id))
    return number if isinstance(number, int) else entry.id


def _quotes(entry: Entry) -> str | None:
    """Return the platform's id of the message that a message quotes; earlier versions had none."""
    quote = entry.meta.get("quote") if entry.kind == MESSAGE else None
    return quote.get("of") if isinstance(quote, Mapping) else None


def _unquoted(entry: Entry) -> Entry:
    """Return a message without the words and pictures of what it quotes."""
    content = entry.payload.get("content")
    if isinstance(content, str):
        content = without_quote(content, DELETED_QUOTE)
    elif isinstance(content, list):
        own = entry.meta.get("media") or entry.meta.get(EXCERPTS)
        parts = [one for one in content if own or one.get("type") == "text"]
        content = [
            {**one, "text": without_quote(one["text"], DELETED_QUOTE)} if "text" in one else one
            for one in parts
        ]
    return replace(entry, payload={**entry.payload, "content": content})


def _emptied(entry: Entry) -> Entry:
    return replace(
        entry, payload={"role": entry.payload.get("role", "user"), "content": DELETED_TEXT}
    )
