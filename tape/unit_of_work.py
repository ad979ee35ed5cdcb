"""A unit of work is data that describes appends and statements to run in one transaction.

A unit is a list of steps, so that a store of any SQL dialect can run them in one transaction. A
store without shared transactions runs the appends first (each with a key), then the statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

from tape.entry import Entry, NewEntry
from tape.errors import AppendRefused, TapeError, UnitFailed

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Append:
    """Append a batch to a tape, or return the first result if the tape has seen the key."""

    tape: str
    entries: tuple[NewEntry, ...]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """`count` entries that follow the entry `after`; `entries()` may be called more than once."""

    entries: Callable[[], Iterator[NewEntry]]
    after: int
    count: int

    def __iter__(self) -> Iterator[NewEntry]:
        return islice(self.entries(), self.after, self.after + self.count)

    def check(self, newest: int) -> None:
        """Raise AppendRefused if the number of entries was not `count`."""
        if newest != self.after + self.count:
            raise AppendRefused(
                "the imported entries changed during the import: start it again; nothing was"
                " written"
            )


@dataclass(frozen=True, slots=True)
class AppendBatch:
    """Append a piece of a batch, without a bootstrap, to a tape that has `after` entries."""

    tape: str
    entries: tuple[NewEntry, ...]
    after: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy entries of a tape, which has `after`, to the staging tape that has the first `copied`.

    They are copied as they are, unchecked: a tape may have entries that are refused today.
    """

    tape: str
    staging: str
    copied: int
    after: int


@dataclass(frozen=True, slots=True)
class Publish:
    """Replace a tape with a staging tape, which begins with the tape's `after` entries."""

    tape: str
    staging: str
    after: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Remove at most `most` entries of a staging tape; the outcome has their number."""

    staging: str
    most: int


@dataclass(frozen=True, slots=True)
class Erase:
    """Put what is left of entries in their place; see `tape.erasing`."""

    tape: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Purge:
    """Empty the database's log, and perhaps write the database once more, without what is free."""

    rewrite: bool


@dataclass(frozen=True, slots=True)
class FirstId:
    """Stands for the first id that an earlier append of the same unit wrote."""

    step: int


@dataclass(frozen=True, slots=True)
class Run:
    """Run a named statement; if `expect` is set, the unit fails unless that many rows change."""

    statement: str
    values: Mapping[str, Any]
    expect: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one step: the entries of an append or the rows of a statement."""

    entries: tuple[Entry, ...] = ()
    rows: tuple[Row, ...] = ()
    changed: int = 0


@dataclass(slots=True)
class Unit:
    """Steps that a store runs in order, in one transaction.

    Where several processes share a store, only the holder of the sessions in `works_on` may run it;
    anybody may add work `for_sessions`, whose holders then hear of it. A store whose server can be
    asked to wake others runs `afterwards` once the rest is committed; its failure changes nothing.
    """

    steps: list[Append | AppendBatch | Copy | Publish | Drop | Erase | Purge | Run] = field(
        default_factory=list
    )
    works_on: set[str] = field(default_factory=set)
    for_sessions: set[str] = field(default_factory=set)
    afterwards: Run | None = None

    def append(self, tape: str, entries: Sequence[NewEntry], key: str | None = None) -> FirstId:
        """Add an append; returns a placeholder for its first id, to use in later statements."""
        self.steps.append(Append(tape, tuple(entries), key))
        return FirstId(len(self.steps) - 1)

    def run(self, statement: str, *, expect: int | None = None, **values: Any) -> int:
        """Add a statement; returns the index of its outcome in the result of the unit."""
        self.steps.append(Run(statement, values, expect))
        return len(self.steps) - 1


Prepare = Callable[[NewEntry], NewEntry]
"""Changes an entry before a store writes it; the gateway's takes secrets out."""


def as_given(entry: NewEntry) -> NewEntry:
    """Return an entry as it is; how stores prepare entries unless they are given another way."""
    return entry


def prepared(unit: Unit, prepare: Prepare) -> Unit:
    """Return a unit whose appends hold what `prepare` makes of their entries."""
    if prepare is as_given:
        return unit
    steps = [
        replace(step, entries=tuple(map(prepare, step.entries)))
        if isinstance(step, Append | AppendBatch)
        else step
        for step in unit.steps
    ]
    return replace(unit, steps=steps)


class Framing(Protocol):
    """Adds steps to the units of a process that shares its store with others."""

    def framed(self, unit: Unit) -> tuple[Unit, int]:
        """Return a unit that begins with further steps, and their number."""
        ...

    def done(self, unit: Unit, outcomes: Sequence[Outcome]) -> None:
        """Hear the outcomes of the further steps after the commit."""
        ...

    def judged(self, failed: UnitFailed) -> TapeError:
        """Return the error that the caller gets for a step that failed."""
        ...


def behind(unit: Unit, first: Sequence[Run]) -> Unit:
    """Return a unit that runs `first` before the steps of another."""
    steps = [
        replace(step, values=_moved(step.values, len(first))) if isinstance(step, Run) else step
        for step in unit.steps
    ]
    return replace(unit, steps=[*first, *steps])


def _moved(values: Mapping[str, Any], by: int) -> Mapping[str, Any]:
    if not any(isinstance(value, FirstId) for value in values.values()):
        return values
    return {
        name: FirstId(value.step + by) if isinstance(value, FirstId) else value
        for name, value in values.items()
    }


def resolve(values: Mapping[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Replace placeholders by the first ids of earlier appends."""
    return {
        name: _first_id(value, outcomes) if isinstance(value, FirstId) else value
        for name, value in values.items()
    }


def _first_id(placeholder: FirstId, outcomes: Sequence[Outcome]) -> int | None:
    entries = outcomes[placeholder.step].entries
    return entries[0].id if entries else None
