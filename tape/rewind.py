"""Go back to an older anchor: on the tape itself, or on a copy of its past.

A rewind is the anchor `session/rewind` with the state of the older anchor, whose id is in
`meta.rewind`. Views begin at it as at any other anchor, so nothing is removed: what lies between is
out of view, and still on the tape and in search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tape.context import RESET, REWIND
from tape.deletions import MESSAGE_DELETE
from tape.entry import ANCHOR, EVENT, Entry, NewEntry, event
from tape.errors import TapeMismatch
from tape.payloads import is_storable
from tape.query import subject_of
from tape.reads import Reads
from tape.store import BatchStore
from tape.unit_of_work import Batch

BRANCH: Final = "tape.branch"
UNREADABLE: Final = "branch.unreadable"
OF_THE_WORDS: Final = ("framed", "author", "channel", "taint", "asked_by")
"""The `meta` of an anchor that says whose words its state has; a rewind to it keeps them."""

MAX_MARKS: Final = 200  # maximum newest resets and rewinds that `out_of_view` reads


async def find_anchor(tape: Reads, wanted: str) -> Entry:
    """Return the anchor with an id, or else the latest of a name; raises NotFound."""
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 10 else 0
    found = (await tape.entries([number])).get(number)
    return found if found is not None and found.kind == ANCHOR else await tape.anchor(wanted)


def state_of(anchor: Entry) -> dict[str, Any]:
    """Return the state that an anchor carries; an imported one may carry something else."""
    state = anchor.payload.get("state")
    return dict(state) if isinstance(state, Mapping) else {}


async def out_of_view(tape: Reads) -> list[range]:
    """Return the ids that views no longer show because of resets and rewinds."""
    marks = await tape.find(kinds=(ANCHOR,), names=(RESET, REWIND), limit=MAX_MARKS, newest=True)
    gone: list[range] = []
    for mark in reversed(marks):
        if any(mark.id in span for span in gone):
            continue  # a later rewind went back to before it
        older = mark.meta.get("rewind") if mark.name == REWIND else 0
        gone.append(range(older + 1 if isinstance(older, int) else mark.id, mark.id))
    return gone


async def branch(tape: Reads, at: Entry, name: str) -> int:
    """Copy a tape up to and including an anchor to the new tape `name`, under the same ids.

    What was deleted since is deleted in the copy, too. What stores refuse today is copied as the
    event `branch.unreadable`, which keeps its payload. Returns the number of entries; raises
    TapeMismatch, and writes nothing, if the tape `name` has entries.
    """
    since = await tape.find(after=at.id, kinds=(EVENT,), name=MESSAGE_DELETE)
    deletions = [entry for entry in since if (subject_of(entry) or at.id + 1) <= at.id]
    past = [*(await tape.find(before=at.id + 1)), *deletions]
    new = [_copied(tape, entry) for entry in past]
    new.append(event(BRANCH, {"tape": tape.name, "at": at.id}))
    if isinstance(tape.store, BatchStore):
        await tape.store.append_batch(name, Batch(lambda: iter(new), 0, len(new)))
    elif found := await tape.store.size(name):
        raise TapeMismatch(name, 0, found)
    else:
        await tape.store.append(name, new, BRANCH)
    return len(new)


def _copied(tape: Reads, entry: Entry) -> NewEntry:
    if is_storable(tape.name, entry, imported=isinstance(tape.store, BatchStore)):
        return NewEntry(entry.kind, entry.payload, entry.meta, entry.date)
    data = {"kind": entry.kind, "payload": entry.payload, "meta": entry.meta}
    return replace(event(UNREADABLE, data), date=entry.date)
