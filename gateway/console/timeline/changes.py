"""What was changed of a tape's earlier entries, for a page that shows them."""

from __future__ import annotations

from typing import Any

from gateway.console.reads import ConsoleReads
from tape.context import MESSAGE_EDIT
from tape.deletions import MESSAGE_DELETE
from tape.entry import EVENT, Entry
from tape.erasing import ERASE
from tape.query import Query, subject_of

Json = dict[str, Any]


async def changes_after(reads: ConsoleReads, tape: str, after: int | None) -> Json:
    """Return what was changed by the entries after one; without one, only how far the tape is.

    upto             the entry to ask on with
    deleted, edited  the entries that were
    all              whether any entry may have been changed: something was erased, or it is too
                     much to list
    """
    upto, bounds = await reads.size(tape), reads.bounds
    found: list[Entry] = []
    if after is not None and after < upto <= after + bounds.console_changed:
        most, names = bounds.console_changes, (MESSAGE_DELETE, MESSAGE_EDIT, ERASE)
        asked = Query(tape, after=after, before=upto + 1, kinds=(EVENT,), names=names, limit=most)
        found = await reads.query(asked)
    behind = after is not None and upto > after + bounds.console_changed
    return {
        "upto": upto,
        "deleted": _subjects(found, MESSAGE_DELETE),
        "edited": _subjects(found, MESSAGE_EDIT),
        "all": behind
        or len(found) == bounds.console_changes
        or any(entry.name == ERASE for entry in found),
    }


def _subjects(entries: list[Entry], name: str) -> list[int]:
    found = (subject_of(entry) for entry in entries if entry.name == name)
    return sorted({int(number) for number in found if number is not None})
