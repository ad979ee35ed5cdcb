"""The contract of a tape store.

`append` is atomic (it writes a whole batch without gaps, or nothing), and if `durable` is true, the
batch is durable when `append` returns. Entry ids are contiguous from 1. Appends to one tape keep
the order in which they started. A store writes what `NewEntry.placed` returns for an entry's id, as
`tape.entry.numbered` does. No call changes or removes an entry. The first append to a tape
writes the bootstrap before its batch (`with_bootstrap`); an empty append to a tape without an
anchor writes only the bootstrap. An append returns the entries of its batch, without the bootstrap.
An append with a key that the tape has seen writes nothing and returns the entries of the first
append. A query sees every append that has returned, and every entry of the tape before those. Only
an `ErasingStore` takes words out of an entry.

Forks ask no more of a store (see `tape.fork`): how a fork ends is one keyed append to its tape, and
the order on that tape decides which appends were in time, whichever process wrote them.

A store with a unit of work (`UnitStore`) runs the steps of a `Unit` in order and in one
transaction; if a step fails, nothing is written.

A store refuses what `tape.payloads.check` and `with_bootstrap` refuse, as views could not show it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol, runtime_checkable

from tape.entry import Entry, NewEntry
from tape.query import Query
from tape.tails import Tails
from tape.unit_of_work import Batch, Framing, Outcome, Prepare, Row, Unit

Now = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current time in UTC; every store's default for `now`."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """How long a store waits, and how much it takes of a server.

    busy_seconds    for which a file waits for another program that holds it
    answer_seconds  after which a server that has not answered counts as away
    connections     maximum connections of this process to a server
    """

    busy_seconds: float = 5.0
    answer_seconds: float = 30.0
    connections: int = 8


STORE_LIMITS: Final = StoreLimits()


@dataclass(frozen=True, slots=True)
class TapeInfo:
    """A tape of a store, with its number of entries and the date of the newest, or ''."""

    name: str
    size: int
    last_date: str


@runtime_checkable
class TapeStore(Protocol):
    """A tape store; the module docstring has the contract."""

    durable: bool

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        """Append a batch to a tape and return it with its ids; raises TapeError."""
        ...

    async def query(self, query: Query) -> list[Entry]:
        """Return the entries that match, in tape order; an unknown tape has no entries."""
        ...

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        """List the tapes whose names start with a prefix, sorted by name."""
        ...

    async def size(self, tape: str) -> int:
        """Return the number of entries of a tape, which is also the newest id."""
        ...

    async def close(self) -> None:
        """Finish accepted writes and release all resources; may be called twice."""
        ...


@runtime_checkable
class NotingStore(Protocol):
    """A store that has something to say to the people who look after it."""

    def notes(self) -> list[str]:
        """Return sentences about what happened since the store was opened; health shows them."""
        ...


@runtime_checkable
class BatchStore(Protocol):
    """A store that appends large batches atomically; other stores get an import as one append."""

    async def append_batch(self, tape: str, batch: Batch) -> None:
        """Append a batch to a tape that has exactly `batch.after` entries.

        Raises AppendRefused, and writes nothing, if the tape has another number of entries or the
        batch cannot be read.
        """
        ...


@runtime_checkable
class ErasingStore(Protocol):
    """A store that can erase what entries say."""

    async def erase(self, tape: str, entries: Sequence[Entry]) -> None:
        """Put what is left of entries in their place, in one transaction.

        Their ids, kinds and dates stay; raises AppendRefused if an entry would say more.
        """
        ...

    async def purge(self, *, resumed: bool = False, rewrite: bool = True) -> None:
        """Remove what was erased from all files.

        resumed  whether an earlier process erased some of it
        rewrite  whether to write databases once more; without, only their logs are emptied
        """
        ...


@runtime_checkable
class UnitStore(TapeStore, Protocol):
    """A store whose transactions can also run statements on other tables.

    one_transaction  whether a unit runs in one transaction; if not, each of its appends is a
                     transaction, and a crash may leave appends without the later statements
    """

    one_transaction: bool
    prepare: Prepare  # what is written instead of each entry

    async def commit(self, unit: Unit) -> list[Outcome]:
        """Run a unit in one transaction and return an outcome for each step; raises TapeError."""
        ...

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]:
        """Run a named SELECT statement on committed data; a `long` one must not block the loop."""
        ...


@runtime_checkable
class SharedStore(UnitStore, Protocol):
    """A store that several processes share: each sees to it that it writes what it may.

    It answers from memory what is new on the tapes that are held in `tails`.
    """

    framing: Framing | None
    tails: Tails

    def take_in(self, tapes: Collection[str], ends: Sequence[Row]) -> None:
        """Remember the ends of tapes that somebody read; those without any do not exist yet."""
        ...

    async def refuse_newer(self) -> None:
        """Raise StoreTooNew if a newer version has left tables that this one cannot use.

        Raise StoreMoved if what the store holds is moved, or was moved, to another database.
        """
        ...

    def listen(self, url: str, channels: Sequence[str]) -> AsyncGenerator[tuple[str, str], None]:
        """Yield the channel and payload of notifications, after an empty pair once it listens.

        `url` is another address of the same database, or "". Raises StoreUnusable where nothing
        can be heard, and StoreUnavailable.
        """
        ...
