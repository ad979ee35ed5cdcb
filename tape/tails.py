"""Remember the newest entries of tapes to which nobody else appends.

Whoever holds a tape is answered from memory. Entries go through JSON, so that they are equal to
what is read, and nobody changes what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from tape.entry import Entry, dump, load
from tape.query import Query

MAX_ENTRIES: Final = 200


@dataclass(slots=True)
class _HeldTail:
    """A held tape; `version` is another after each change, and after each release."""

    is_held: Callable[[], bool]
    version: int
    first: int = 0  # the id from which on all entries are here; 0: nothing is known
    entries: list[Entry] = field(default_factory=list)

    def clear(self, version: int) -> None:
        self.version, self.first, self.entries = version, 0, []


class Tails:
    """The newest entries of the tapes that this process holds."""

    def __init__(self) -> None:
        self._tails: dict[str, _HeldTail] = {}
        self._versions = count()

    def hold(self, tape: str, is_held: Callable[[], bool]) -> None:
        """From now on and while `is_held`, only this process appends to a tape."""
        if tape not in self._tails:
            self._tails[tape] = _HeldTail(is_held, next(self._versions))

    def release(self, tape: str) -> None:
        """From now on, others may append to a tape."""
        self._tails.pop(tape, None)

    def lacks(self, tape: str) -> int | None:
        """Return a number for `load` if a held tape is to be read, else None."""
        tail = self._tails.get(tape)
        return tail.version if tail is not None and not tail.first and tail.is_held() else None

    def load(self, tape: str, number: int, entries: list[Entry]) -> None:
        """Remember the newest `MAX_ENTRIES` that were read, unless the tape has changed."""
        tail = self._tails.get(tape)
        if tail is not None and tail.version == number:
            tail.first = entries[0].id if len(entries) == MAX_ENTRIES else 1
            tail.entries = entries

    def appended(self, tape: str, entries: Sequence[Entry]) -> None:
        """Take in what was committed."""
        tail = self._tails.get(tape)
        if tail is None or not entries:
            return
        tail.version = next(self._versions)
        if not tail.first:
            return
        if entries[0].id != tail.first + len(tail.entries):
            tail.clear(tail.version)
            return
        tail.entries = [*tail.entries, *_copies(entries)]
        if len(tail.entries) > 2 * MAX_ENTRIES:
            tail.entries = tail.entries[-MAX_ENTRIES:]
            tail.first = tail.entries[0].id

    def changed(self, tape: str) -> None:
        """Forget a tape, which is another than we know."""
        if (tail := self._tails.get(tape)) is not None:
            tail.clear(next(self._versions))

    def answer(self, query: Query) -> list[Entry] | None:
        """Answer a query that has no anchors by name, or return None if it takes older entries."""
        tail = self._tails.get(query.tape)
        if tail is None or not tail.first or not tail.is_held():
            return None
        whole = query.after >= tail.first - 1 or bool(query.ids and min(query.ids) >= tail.first)
        if not whole and not (query.newest and query.limit is not None):
            return None
        found = query.pick(tail.entries)
        return _copies(found) if whole or len(found) == query.limit else None


def _copies(entries: Sequence[Entry]) -> list[Entry]:
    return [
        replace(one, payload=load(dump(one.payload)), meta=load(dump(one.meta))) for one in entries
    ]
