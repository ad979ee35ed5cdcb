"""Append a batch of any size through a staging tape, so that other writers wait only for a piece.

The staging tape gets the pieces, one after another, and is then published: it becomes the tape. So
a batch is on the tape as a whole or not at all. What a crash leaves is dropped at the next import.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final, Protocol
from uuid import uuid4

import anyio
from anyio import to_thread

from tape.entry import Entry, NewEntry
from tape.errors import AppendRefused
from tape.query import Query
from tape.unit_of_work import AppendBatch, Batch, Drop, Outcome, Publish, Unit

PIECE_SIZE: Final = 500  # maximum entries that are written at once
STAGING: Final = "import.staging."
"""The beginning of a staging tape's name; migrations of the SQLite store have it, too."""

OLD: Final = ".old"  # ends the name of a tape that a longer one has replaced


class StagedStore(Protocol):
    """What staging needs of a store; `staging` allows one import at a time."""

    staging: anyio.Lock

    async def commit(self, unit: Unit) -> list[Outcome]: ...

    async def query(self, query: Query) -> list[Entry]: ...

    async def staged(self) -> Sequence[str]:
        """Return the names of the staging tapes."""


async def append_staged(store: StagedStore, tape: str, batch: Batch) -> None:
    """Append a batch to a tape that has exactly `batch.after` entries; raises AppendRefused."""
    rest = iter(batch)
    piece = await next_piece(rest)
    if len(piece) == batch.count:
        await store.commit(Unit([AppendBatch(tape, tuple(piece), batch.after)]))
        return
    async with _staging(store) as name:
        newest = 0
        while newest < batch.after and (page := await _page(store, tape, newest, batch.after)):
            newest = await _add(store, name, page, newest)
        while piece:
            newest = await _add(store, name, piece, newest)
            piece = await next_piece(rest)
        batch.check(newest)
        await store.commit(Unit([Publish(tape, name, batch.after)]))


async def next_piece(rest: Iterator[NewEntry]) -> list[NewEntry]:
    """Read entries in a thread; raises AppendRefused if they cannot be read."""
    try:
        return await to_thread.run_sync(lambda: list(islice(rest, PIECE_SIZE)))
    except (OSError, ValueError) as cause:
        raise AppendRefused(f"the imported file cannot be read ({cause}): check it") from cause


async def _page(store: StagedStore, tape: str, after: int, end: int) -> list[NewEntry]:
    page = await store.query(Query(tape, after=after, before=end + 1, limit=PIECE_SIZE))
    return [NewEntry(entry.kind, entry.payload, entry.meta, entry.date) for entry in page]


async def _add(store: StagedStore, name: str, piece: Sequence[NewEntry], newest: int) -> int:
    await store.commit(Unit([AppendBatch(name, tuple(piece), newest)]))
    return newest + len(piece)


@asynccontextmanager
async def _staging(store: StagedStore) -> AsyncIterator[str]:
    async with store.staging:
        try:
            yield f"{STAGING}{uuid4().hex[:12]}"
        finally:
            with anyio.CancelScope(shield=True):
                for name in await store.staged():
                    while (await store.commit(Unit([Drop(name, PIECE_SIZE)])))[0].changed:
                        pass
