"""Remember the newest entries of tapes to which nobody else appends.

Whoever holds a tape is answered from memory. Entries go through JSON, so that they are equal to
what is read, and nobody changes what is remembered. Of the tapes that were used longest ago, it is
forgotten: their next reader asks the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from types import MappingProxyType
from typing import Final

from tape.entry import Entry, dump, load
from tape.query import Query

MAX_ENTRIES: Final = 100  # of a tape, read at once; twice as many are kept
MAX_SIZE: Final = 32_000_000  # bytes of JSON in all
MAX_TAPE_SIZE: Final = 250_000  # bytes of JSON of one tape, read at once; twice as many are kept
END: Final = MappingProxyType({"most": MAX_ENTRIES, "most_bytes": MAX_TAPE_SIZE})
"""How much of a tape is read at once; the values of `tape.ends`."""


@dataclass(slots=True)
class _HeldTail:
    """A held tape; `version` is another after each change, and after each release."""

    is_held: Callable[[], bool]
    version: int
    first: int = 0  # the id from which on all entries are here; 0: nothing is known
    entries: list[Entry] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    size: int = 0


class Tails:
    """The newest entries of the tapes that this process holds."""

    def __init__(self, most_bytes: int = MAX_SIZE) -> None:
        self._most_bytes = most_bytes
        self._tails: dict[str, _HeldTail] = {}
        self._versions = count()
        self._size = 0

    def hold(self, tape: str, is_held: Callable[[], bool]) -> None:
        """From now on and while `is_held`, only this process appends to a tape."""
        if tape not in self._tails:
            self._tails[tape] = _HeldTail(is_held, next(self._versions))

    def release(self, tape: str) -> None:
        """From now on, others may append to a tape."""
        if (tail := self._tails.pop(tape, None)) is not None:
            self._clear(tail)

    def lacks(self, tape: str) -> int | None:
        """Return a number for `load` if a held tape is to be read, else None."""
        tail = self._tails.get(tape)
        return tail.version if tail is not None and not tail.first and tail.is_held() else None

    def load(self, tape: str, number: int, entries: Sequence[Entry], newest: int) -> None:
        """Remember the last entries up to `newest` that were read, unless the tape has changed."""
        tail = self._tails.get(tape)
        if tail is not None and tail.version == number:
            tail.first = newest - len(entries) + 1
            self._add(tail, entries)
            self._used(tape, tail)

    def appended(self, tape: str, entries: Sequence[Entry]) -> None:
        """Take in what was committed."""
        tail = self._tails.get(tape)
        if tail is None or not entries:
            return
        tail.version = next(self._versions)
        if not tail.first:
            return
        if entries[0].id != tail.first + len(tail.entries):
            self._clear(tail)
            return
        self._add(tail, _copies(entries))
        self._used(tape, tail)

    def changed(self, tape: str) -> None:
        """Forget a tape, which is another than we know."""
        if (tail := self._tails.get(tape)) is not None:
            self._clear(tail)

    def size(self, tape: str) -> int | None:
        """Return the number of a tape's entries if it is known."""
        tail = self._known(tape)
        return None if tail is None else tail.first + len(tail.entries) - 1

    def answer(self, query: Query) -> list[Entry] | None:
        """Answer a query that has no anchors by name, or return None if it takes older entries."""
        tail = self._known(query.tape)
        if tail is None:
            return None
        whole = query.after >= tail.first - 1 or bool(query.ids and min(query.ids) >= tail.first)
        if not whole and not (query.newest and query.limit is not None):
            return None
        found = query.pick(tail.entries)
        return _copies(found) if whole or len(found) == query.limit else None

    def _known(self, tape: str) -> _HeldTail | None:
        tail = self._tails.get(tape)
        if tail is None or not tail.first or not tail.is_held():
            return None
        self._used(tape, tail)
        return tail

    def _used(self, tape: str, tail: _HeldTail) -> None:
        """Put a tape behind those that were used before, and forget some of those."""
        self._tails[tape] = self._tails.pop(tape)
        if self._size <= self._most_bytes:
            return
        for other in list(self._tails.values()):
            if other is not tail:
                self._clear(other)
            if self._size <= self._most_bytes / 2:
                break

    def _add(self, tail: _HeldTail, entries: Sequence[Entry]) -> None:
        sizes = [len(dump(one.payload)) + len(dump(one.meta)) for one in entries]
        tail.entries = [*tail.entries, *entries]
        tail.sizes += sizes
        tail.size += sum(sizes)
        self._size += sum(sizes)
        if len(tail.entries) <= 2 * MAX_ENTRIES and tail.size <= 2 * MAX_TAPE_SIZE:
            return
        kept, size = 0, 0
        while kept < min(MAX_ENTRIES, len(tail.sizes)) and size <= MAX_TAPE_SIZE:
            kept += 1
            size += tail.sizes[-kept]
        self._size += size - tail.size
        tail.first += len(tail.entries) - kept
        tail.entries, tail.sizes, tail.size = tail.entries[-kept:], tail.sizes[-kept:], size

    def _clear(self, tail: _HeldTail) -> None:
        self._size -= tail.size
        tail.version, tail.first, tail.size = next(self._versions), 0, 0
        tail.entries, tail.sizes = [], []


def _copies(entries: Sequence[Entry]) -> list[Entry]:
    return [
        replace(one, payload=load(dump(one.payload)), meta=load(dump(one.meta))) for one in entries
    ]
