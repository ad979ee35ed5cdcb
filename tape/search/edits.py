"""Read messages as they were last edited; the tape keeps every older text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tape.context import MESSAGE_EDIT, is_edit
from tape.entry import EVENT, MESSAGE, Entry
from tape.excerpts import EXCERPTS, OMITTED
from tape.query import Query, subject_of


def edits_of(tape: str, entries: Sequence[Entry], asof: int | None = None) -> Query | None:
    """Return the query for the edits of messages up to the entry `asof`; None without messages."""
    ids = tuple(entry.id for entry in entries if entry.kind == MESSAGE)
    if not ids:
        return None
    return replace(edits(tape, min(ids), asof), about=ids)


def edits(tape: str, after: int, asof: int | None = None) -> Query:
    """Return the query for all edits after an entry, up to the entry `asof`."""
    before = None if asof is None else asof + 1
    return Query(tape, after=after, before=before, kinds=(EVENT,), name=MESSAGE_EDIT)


def edited_ids(entries: Sequence[Entry]) -> list[int]:
    """Return the ids of the messages that the edits among these entries are about."""
    found = {subject_of(entry) for entry in entries if is_edit(entry)}
    return sorted(int(number) for number in found if number is not None and number % 1 == 0)


def with_newest(
    tape: str, entries: Sequence[Entry], find: Callable[[Query], list[Entry]] | None
) -> list[Entry]:
    """Return the entries with the text of their newest edit.

    `find` reads a tape's edits; without it, all edits are among the entries.
    """
    asked = edits_of(tape, entries) if find else None
    edits = find(asked) if find and asked else [entry for entry in entries if is_edit(entry)]
    return with_edits(entries, edits)


def with_edits(entries: Sequence[Entry], edits: Sequence[Entry]) -> list[Entry]:
    """Return the entries with the text of their newest edit; the edits are in tape order."""
    newest = {subject_of(edit): edit for edit in edits if _text_of(edit) is not None}
    return [_edited(entry, newest) if entry.kind == MESSAGE else entry for entry in entries]


def _edited(entry: Entry, newest: Mapping[float | None, Entry]) -> Entry:
    edit = newest.get(entry.id)
    if edit is None or edit.id < entry.id:  # a message is what it says until it is edited
        return entry
    data = edit.payload["data"]
    text = _text_of(edit)
    content = data.get("content")
    payload = {**entry.payload, "content": content if isinstance(content, str) else text}
    meta: dict[str, Any] = dict(entry.meta)
    if "text" in meta:
        meta["text"] = text
    meta |= {name: edit.meta[name] for name in (EXCERPTS, OMITTED) if name in edit.meta}
    return replace(entry, payload=payload, meta=meta)


def _text_of(edit: Entry) -> str | None:
    """Return the bare new text, or the text as a model sees it; imported edits may have none."""
    data = edit.payload.get("data")
    texts = [data.get("text"), data.get("content")] if isinstance(data, Mapping) else []
    return next((text for text in texts if isinstance(text, str)), None)
