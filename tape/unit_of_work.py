"""The unit of work, as data: appends and other tables' statements that stand or fall together.

A unit is a list of steps, so that a store of any dialect can run it in one transaction, and a
store that shares no transaction can do the appends first (each with a key) and the rest after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tape.entry import Entry, NewEntry
from tape.errors import AppendRefused

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Append:
    """Put a batch on a tape; a key that this tape knows returns the first result instead."""

    tape: str
    entries: tuple[NewEntry, ...]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """So many entries that are read while they are written: the `count` behind the first `after`.

    `entries` gives them from the first on, and may be called again.
    """

    entries: Callable[[], Iterator[NewEntry]]
    after: int
    count: int

    def __iter__(self) -> Iterator[NewEntry]:
        """Give the entries."""
        return islice(self.entries(), self.after, self.after + self.count)

    def check(self, newest: int) -> None:
        """Raise AppendRefused where fewer came than were counted."""
        if newest != self.after + self.count:
            raise AppendRefused("what is taken in changed meanwhile; nothing was written")


@dataclass(frozen=True, slots=True)
class AppendBatch:
    """Put a batch on a tape that has just the `after` entries that stand before it."""

    tape: str
    batch: Batch


@dataclass(frozen=True, slots=True)
class FirstId:
    """Stand for the id of the first entry that an earlier append of the same unit wrote."""

    step: int


@dataclass(frozen=True, slots=True)
class Run:
    """Run a named statement; `expect` is how many rows it must change, else the unit fails."""

    statement: str
    values: Mapping[str, Any]
    expect: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one step gave: the entries of an append, or the rows of a statement."""

    entries: tuple[Entry, ...] = ()
    rows: tuple[Row, ...] = ()
    changed: int = 0


@dataclass(slots=True)
class Unit:
    """Steps that a store runs in order, in one transaction."""

    steps: list[Append | AppendBatch | Run] = field(default_factory=list)

    def append(self, tape: str, entries: Sequence[NewEntry], key: str | None = None) -> FirstId:
        """Add an append; the value returned stands for its first id in later statements."""
        self.steps.append(Append(tape, tuple(entries), key))
        return FirstId(len(self.steps) - 1)

    def run(self, statement: str, *, expect: int | None = None, **values: Any) -> int:
        """Add a statement; returns the index of its outcome."""
        self.steps.append(Run(statement, values, expect))
        return len(self.steps) - 1


def resolve(values: Mapping[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Put the ids of earlier appends in place of what stood for them."""
    return {
        name: _first_id(value, outcomes) if isinstance(value, FirstId) else value
        for name, value in values.items()
    }


def _first_id(wanted: FirstId, outcomes: Sequence[Outcome]) -> int | None:
    entries = outcomes[wanted.step].entries
    return entries[0].id if entries else None
