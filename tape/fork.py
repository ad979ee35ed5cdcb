"""The events that open and close a fork.

A fork is a tape for a sub-task: it starts with its parent's entries, and is merged as one block or
discarded. The first entry of a fork is the event `fork.open {parent, at, merge_back}`, the last is
`fork.merged` or `fork.discarded`; a fork without the last event was left by a crash. A merge is one
append to the parent with the fork's name as key, so that it is made once despite crashes.
"""

from __future__ import annotations

from typing import Final

from tape.entry import EVENT, FORK_OPEN, Entry, NewEntry, event

MERGED: Final = "fork.merged"
DISCARDED: Final = "fork.discarded"
INFIX: Final = ".fork."  # separates the parent's name from the random part of a fork's name
OPENING_ID: Final = 1  # the id of the event that opens a fork, on the fork's own tape


def opening(parent: str, at: int, merge_back: bool) -> NewEntry:
    """Make the event that opens a fork with the parent's entries up to the id `at`."""
    return event(FORK_OPEN, {"parent": parent, "at": at, "merge_back": merge_back})


def closes(entry: Entry) -> bool:
    """Return whether an entry is the event that closes a fork."""
    return entry.kind == EVENT and entry.name in (MERGED, DISCARDED)
