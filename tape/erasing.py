"""Erase the words of entries: a tombstone keeps an entry's id, kind and date.

A tombstone has the payload of its kind without any words, so everything that reads a tape can read
it, and views leave it out. An anchor keeps its lane and turn too, as views still begin there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tape.entry import ANCHOR, ERROR, EVENT, MESSAGE, SYSTEM, TOOL_CALL, TOOL_RESULT, Entry, dump
from tape.errors import AppendRefused

ERASE: Final = "erase"
"""The event that records an erasure on a tape."""

ERASED: Final = "erased"
"""The name of an erased anchor or event, and the key of the date in a tombstone's meta."""

_EMPTY: Final[Mapping[str, Mapping[str, Any]]] = {
    MESSAGE: {"role": "user", "content": ""},
    TOOL_CALL: {"calls": []},
    TOOL_RESULT: {"results": []},
    ANCHOR: {"name": ERASED, "state": {}},
    EVENT: {"name": ERASED, "data": {}},
    SYSTEM: {"content": ""},
    ERROR: {"message": ""},
}
_KEPT: Final = ("lane", "turn")


def tombstone(entry: Entry, day: str) -> Entry:
    """Return what is left of an entry that is erased on a day (2026-01-31)."""
    kept = {name: entry.meta[name] for name in _KEPT if name in entry.meta}
    meta = {ERASED: day} | (kept if entry.kind == ANCHOR else {})
    return replace(entry, payload=dict(_EMPTY[entry.kind]), meta=meta)


def erased_on(entry: Entry) -> str:
    """Return the day on which an entry was erased, or "" for any other entry."""
    day = entry.meta.get(ERASED)
    is_empty = isinstance(day, str) and entry.payload == _EMPTY.get(entry.kind)
    return str(day) if is_empty else ""


def check_left(tape: str, old: Sequence[Entry], left: Sequence[Entry]) -> None:
    """Raise AppendRefused unless every entry is left with its id, kind and date, and no longer."""
    known = {entry.id: entry for entry in old}
    for entry in left:
        was = known.get(entry.id)
        if was is None or (was.kind, was.date) != (entry.kind, entry.date):
            raise AppendRefused(f"{tape} has no {entry.kind} {entry.id} of that date to erase")
        shorter = len(dump(entry.payload)) <= len(dump(was.payload))
        if not (shorter or erased_on(entry)):
            raise AppendRefused(f"erasing the {entry.kind} {entry.id} of {tape} would add words")
