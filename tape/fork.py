"""The events that open and close a fork.

A fork is a tape for a sub-task: it starts with its parent's entries, and is merged as one block or
discarded. Its first entry is the event `fork.open {parent, at, merge_back}`. Its end is decided by
one keyed append to the fork's own tape, `fork.merging` or `fork.discarded {why}`, of which only the
first is written: entries before it are the fork's, and an append that got behind it is refused and
never read. After `fork.merging`, the block is appended to the parent with the fork's name as key,
and `fork.merged {first, count}` says that it is there. So a crash leaves a fork open or merging,
and whoever finds a merging one finishes it with `merge`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Final, Generic, Protocol, TypeVar

import anyio

from tape.entry import EVENT, FORK_OPEN, Entry, NewEntry, event
from tape.errors import TapeError
from tape.query import Query
from tape.store import TapeStore

MERGING: Final = "fork.merging"
MERGED: Final = "fork.merged"
DISCARDED: Final = "fork.discarded"
CLOSINGS: Final = (MERGING, MERGED, DISCARDED)
UNFINISHED: Final = ("open", MERGING)
"""The states of a fork that a crash leaves behind."""

INFIX: Final = ".fork."  # separates the parent's name from the random part of a fork's name
OPENING_ID: Final = 1  # the id of the event that opens a fork, on the fork's own tape


class Endable(Protocol):
    """A fork, as far as its end is concerned."""

    merge_back: bool

    async def merge(self) -> object: ...

    async def discard(self, why: str) -> None: ...


F = TypeVar("F", bound=Endable)


class Forking(Generic[F]):
    """A fork to open: await it, or use it as a block.

    The end of the block merges the fork, or discards it without `merge_back`. An exception discards
    the fork and propagates; a crash leaves it unfinished (see `TapeService.open_forks`). It is one
    block's at a time: entering it while it is open raises TapeError.
    """

    def __init__(self, open_fork: Callable[[], Awaitable[F]]) -> None:
        self._open = open_fork
        self._opened: F | None = None
        self._entered = False

    def __await__(self) -> Generator[Any, Any, F]:
        return self._open().__await__()

    async def __aenter__(self) -> F:
        if self._entered:
            raise TapeError("this fork is open in another block: call fork() for each block")
        self._entered = True
        try:
            self._opened = await self
        except BaseException:
            self._entered = False
            raise
        return self._opened

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        cause: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        fork, self._opened, self._entered = self._opened, None, False
        assert fork is not None
        with anyio.CancelScope(shield=True):
            if cause is not None:
                await fork.discard(f"{type(cause).__name__}: {cause}"[:500])
            elif fork.merge_back:
                await fork.merge()
            else:
                await fork.discard("not to be merged")


def opening(parent: str, at: int, merge_back: bool) -> NewEntry:
    """Make the event that opens a fork with the parent's entries up to the id `at`."""
    return event(FORK_OPEN, {"parent": parent, "at": at, "merge_back": merge_back})


class ForkEnd:
    """Decides and reads how the fork `name` ends; entries have the ids of the fork's own tape."""

    def __init__(self, store: TapeStore, name: str) -> None:
        self._store = store
        self._name = name
        self._closing: Entry | None = None

    async def closing(self) -> Entry | None:
        """Return the event that closed the fork, or None while it is open."""
        if self._closing is None:
            found = await self._closings(newest=False)
            self._closing = found[0] if found else None
        return self._closing

    async def state(self) -> str:
        """Return `open`, `fork.merging`, `fork.merged` or `fork.discarded`."""
        newest = await self._closings(newest=True)
        return newest[0].name or "open" if newest else "open"

    async def close(self, name: str, **data: str) -> Entry:
        """Close the fork if it is open; return the event that closed it, now or before."""
        closing = await self.closing()
        if closing is None:
            (closing,) = await self._store.append(self._name, [event(name, data)], "fork.close")
            self._closing = closing
        return closing

    async def settle(self, name: str, **data: object) -> None:
        """Record what became of a merge that had begun."""
        await self._store.append(self._name, [event(name, data)], "fork.end")

    async def _closings(self, *, newest: bool) -> list[Entry]:
        query = Query(self._name, kinds=(EVENT,), names=CLOSINGS, limit=1, newest=newest)
        return await self._store.query(query)
