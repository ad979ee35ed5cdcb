"""The contract of a tape store.

Every store: `append` is atomic (all of a batch or nothing, contiguous) and, once it has returned,
as durable as `durable` says. Entry ids are contiguous from 1. Appends to one tape that are begun
one after the other keep that order. Nothing that is on a tape is ever changed or removed, by no
call of this contract. The first append to a tape brings its bootstrap (`with_bootstrap`); an
append of nothing to an empty tape writes the bootstrap alone. An append returns the entries that
were asked for, without the bootstrap. An append with a key that this tape has seen returns the
entries of the first one and writes nothing, whatever the batch is now.

A store that also has a unit of work (`UnitStore`) runs the steps of a `Unit` in order and in one
transaction; if one fails, none has happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol, runtime_checkable

from tape.entry import Entry, NewEntry
from tape.query import Query
from tape.unit_of_work import Batch, Outcome, Row, Unit

Now = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the wall clock's moment in UTC; the default of every store's `now`."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class TapeInfo:
    """One tape of a store: how many entries, and the date of its newest ('' when it has none)."""

    name: str
    size: int
    last_date: str


@runtime_checkable
class TapeStore(Protocol):
    """What a tape store must do; see the module for the contract."""

    durable: bool

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        """Put a batch on a tape and return it with its ids; raises TapeError."""
        ...

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query, in tape order; an unknown tape has no entries."""
        ...

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        """List the tapes whose names begin with a prefix, by name."""
        ...

    async def size(self, tape: str) -> int:
        """Return how many entries a tape has, which is also the id of its newest."""
        ...

    async def close(self) -> None:
        """Finish what was accepted and let go of every resource; may be called twice."""
        ...


@runtime_checkable
class BatchStore(Protocol):
    """A store that takes a batch of any size in one act, reading it while it is written.

    Others are given an import as one append.
    """

    async def append_batch(self, tape: str, batch: Batch) -> None:
        """Put a batch on a tape that has just the entries before it.

        Raises AppendRefused where the tape has others, or more; nothing was written then.
        """
        ...


@runtime_checkable
class UnitStore(TapeStore, Protocol):
    """A store whose transactions also take the statements of others.

    `one_transaction`: a unit is one; else its appends come first, each for itself, and a crash may
    leave them without the rest.
    """

    one_transaction: bool

    async def commit(self, unit: Unit) -> list[Outcome]:
        """Run a unit in one transaction and return one outcome a step; raises TapeError."""
        ...

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named reading statement on what was committed before."""
        ...
