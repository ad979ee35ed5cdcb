"""Append a batch of any size through a staging tape, so that other writers wait only for a piece.

The staging tape begins as a copy of the tape, gets the pieces, one after another, and is then
published: it becomes the tape. So a batch is on the tape as a whole or not at all. What a crash
leaves is dropped at the next import.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final, Protocol
from uuid import uuid4

import anyio
from anyio import to_thread

from tape.entry import NewEntry
from tape.errors import AppendRefused
from tape.unit_of_work import AppendBatch, Batch, Copy, Drop, Outcome, Publish, Unit

PIECE_SIZE: Final = 500  # maximum entries that are written at once
STAGING: Final = "import.staging."
"""The beginning of a staging tape's name; migrations of the SQLite store have it, too."""

OLD: Final = ".old"  # ends the name of a tape that a longer one has replaced


class StagedStore(Protocol):
    """What staging needs of a store; `staging` allows one import at a time."""

    staging: anyio.Lock

    async def commit(self, unit: Unit) -> list[Outcome]: ...

    async def begin_copy(self, tape: str, staging: str, after: int) -> None:
        """Prepare what a `Copy` needs, outside the writer; raises TapeMismatch."""

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
        if batch.after:
            await store.begin_copy(tape, name, batch.after)
        while newest < batch.after:
            copy = Copy(tape, name, newest, batch.after)
            newest += (await store.commit(Unit([copy])))[0].changed
        while piece:
            await store.commit(Unit([AppendBatch(name, tuple(piece), newest)]))
            newest += len(piece)
            piece = await next_piece(rest)
        batch.check(newest)
        await store.commit(Unit([Publish(tape, name, batch.after)]))


async def next_piece(rest: Iterator[NewEntry]) -> list[NewEntry]:
    """Read entries in a thread; raises AppendRefused if they cannot be read."""
    try:
        return await to_thread.run_sync(lambda: list(islice(rest, PIECE_SIZE)))
    except (OSError, ValueError) as cause:
        raise AppendRefused(f"the imported file cannot be read ({cause}): check it") from cause


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
