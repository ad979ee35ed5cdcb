"""What forks leave on tapes.

A fork is a place for a sub-task: it reads as its parent, and is merged as one block, or not. It
is itself a tape, so it is as durable as its store, whichever that is. Its first entry is
the event `fork.open {parent, at, merge_back}`, its last `fork.merged` or `fork.discarded`; one
without either was left by a crash. A merge is one append to the parent under the fork's name as
key: a crash before, inside or after it ends in exactly one block.
"""

from __future__ import annotations

from typing import Final

from tape.entry import EVENT, FORK_OPEN, Entry, NewEntry, event

MERGED: Final = "fork.merged"
DISCARDED: Final = "fork.discarded"
INFIX: Final = ".fork."
OPENING_ID: Final = 1
"""The id, on the fork's own tape, of the event that opens it."""


def opening(parent: str, at: int, merge_back: bool) -> NewEntry:
    """Return the event that opens a fork of a tape, which it reads up to the entry `at`."""
    return event(FORK_OPEN, {"parent": parent, "at": at, "merge_back": merge_back})


def closes(entry: Entry) -> bool:
    """Tell whether an entry of a fork is its end."""
    return entry.kind == EVENT and entry.name in (MERGED, DISCARDED)
