"""The events of a fork.

A fork is a tape for a sub-task: it starts with its parent's entries, and is merged as one block or
discarded. Its first entry is the event `fork.open {parent, at, merge_back}`, its last `fork.merged`
or `fork.discarded`; a fork without the last was left by a crash. A merge is one append to the
parent with the fork's name as key: a crash before, during or after it ends in exactly one block.
"""

from __future__ import annotations

from typing import Final

from tape.entry import EVENT, FORK_OPEN, Entry, NewEntry, event

MERGED: Final = "fork.merged"
DISCARDED: Final = "fork.discarded"
INFIX: Final = ".fork."  # between the parent's name and the random part of a fork's name
OPENING_ID: Final = 1
"""The id, on the fork's own tape, of the event that opens it."""


def opening(parent: str, at: int, merge_back: bool) -> NewEntry:
    """Make the event that opens a fork with the parent's entries up to the id `at`."""
    return event(FORK_OPEN, {"parent": parent, "at": at, "merge_back": merge_back})


def closes(entry: Entry) -> bool:
    """Return whether an entry is the end of its fork."""
    return entry.kind == EVENT and entry.name in (MERGED, DISCARDED)
