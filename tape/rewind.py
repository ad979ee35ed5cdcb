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
from tape.errors import NotFound, TapeMismatch
from tape.lanes import holds_in
from tape.payloads import is_storable
from tape.query import MAX_NAMES, subject_of
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
    return await _numbered(tape, wanted) or await tape.anchor(wanted)


async def anchor_in(tape: Reads, lane: str | None, wanted: str) -> Entry:
    """Return what `find_anchor` does, of the anchors that hold in a lane or in the chat."""
    numbered = await _numbered(tape, wanted)
    if numbered is not None and holds_in(numbered, lane):
        return numbered
    own = {"kinds": (ANCHOR,), "lane": lane, "unlaned": lane is not None}
    found = await tape.find(name=wanted, limit=MAX_MARKS, newest=True, **own)
    kept = [anchor for anchor in found if holds_in(anchor, lane)]
    if not kept:
        known = await anchors_in(tape, lane, MAX_NAMES)
        raise NotFound(wanted, sorted({entry.name for entry in known if entry.name}))
    return kept[-1]


async def anchors_in(tape: Reads, lane: str | None, limit: int) -> list[Entry]:
    """Return the newest anchors that hold in a lane or in the chat, in tape order."""
    own = {"kinds": (ANCHOR,), "lane": lane, "unlaned": lane is not None}
    kept: list[Entry] = []
    before: int | None = None
    while len(kept) < limit:
        page = await tape.find(before=before, limit=limit, newest=True, **own)
        kept[:0] = [anchor for anchor in page if holds_in(anchor, lane)]
        if len(page) < limit:
            break
        before = page[0].id
    return kept[-limit:]


async def _numbered(tape: Reads, wanted: str) -> Entry | None:
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 10 else 0
    found = (await tape.entries([number])).get(number)
    return found if found is not None and found.kind == ANCHOR else None


def state_of(anchor: Entry) -> dict[str, Any]:
    """Return the state that an anchor carries; an imported one may carry something else."""
    state = anchor.payload.get("state")
    return dict(state) if isinstance(state, Mapping) else {}


async def out_of_view(tape: Reads) -> list[range]:
    """Return the ids that views no longer show because of resets and rewinds of the whole tape."""
    marks = await tape.find(kinds=(ANCHOR,), names=(RESET, REWIND), limit=MAX_MARKS, newest=True)
    gone: list[range] = []
    for mark in reversed([one for one in marks if "lane" not in one.meta]):
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
