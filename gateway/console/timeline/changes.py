"""What was changed of a tape's earlier entries, for a page that shows them."""

from __future__ import annotations

from typing import Any, Final

from gateway.console.reads import PAGE, ConsoleReads
from gateway.erasing.doomed import ERASE
from tape.context import MESSAGE_EDIT
from tape.deletions import MESSAGE_DELETE
from tape.entry import EVENT, Entry
from tape.query import Query, subject_of

Json = dict[str, Any]

MAX_BEHIND: Final = 20_000  # maximum entries that are looked at for changes


async def changes_after(reads: ConsoleReads, tape: str, after: int | None) -> Json:
    """Return what was changed by the entries after one; without one, only how far the tape is.

    upto             the entry to ask on with
    deleted, edited  the entries that were
    all              whether any entry may have been changed: something was erased, or it is too
                     much to list
    """
    upto = await reads.size(tape)
    found: list[Entry] = []
    if after is not None and after < upto <= after + MAX_BEHIND:
        names = (MESSAGE_DELETE, MESSAGE_EDIT, ERASE)
        asked = Query(tape, after=after, before=upto + 1, kinds=(EVENT,), names=names, limit=PAGE)
        found = await reads.query(asked)
    behind = after is not None and upto > after + MAX_BEHIND
    return {
        "upto": upto,
        "deleted": _subjects(found, MESSAGE_DELETE),
        "edited": _subjects(found, MESSAGE_EDIT),
        "all": behind or len(found) == PAGE or any(entry.name == ERASE for entry in found),
    }


def _subjects(entries: list[Entry], name: str) -> list[int]:
    found = (subject_of(entry) for entry in entries if entry.name == name)
    return sorted({int(number) for number in found if number is not None})
