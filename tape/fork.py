"""A fork: a place for a sub-task that reads as its parent and is merged as one block, or not.

A fork is itself a tape, so it is as durable as its store, whichever that is. Its first entry is
the event `fork.open {parent, at, merge_back}`, its last `fork.merged` or `fork.discarded`; one
without either was left by a crash. A merge is one append to the parent under the fork's name as
key: a crash before, inside or after it ends in exactly one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import uuid4

from tape.entry import EVENT, FORK_OPEN, Entry, NewEntry, event
from tape.errors import TapeError
from tape.handle import Tape
from tape.query import Query

MERGED: Final = "fork.merged"
DISCARDED: Final = "fork.discarded"
INFIX: Final = ".fork."
_OPENING: Final = 1  # the id, on the fork's own tape, of the event that opens it


class ForkTape(Tape):
    """A tape that reads as its parent up to `at` and then as itself; its ids are provisional."""

    def __init__(self, parent: Tape, name: str, at: int, merge_back: bool) -> None:
        super().__init__(parent.store, name)
        self.parent = parent
        self.at = at
        self.merge_back = merge_back

    async def append(self, *entries: NewEntry, key: str | None = None) -> list[Entry]:
        """Put entries at the end of the fork; raises TapeError once it was closed."""
        if await self.state() != "open":
            raise TapeError(f"the fork {self.name} is closed: write to its parent")
        return [self._shown(entry) for entry in await super().append(*entries, key=key)]

    async def size(self) -> int:
        """Return how many entries the fork shows: the parent's up to its opening, and its own."""
        return self.at + await super().size() - _OPENING

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query on the parent's part and the fork's own, as on one tape."""
        if query.newest:
            own = await self._own(query)
            rest = None if query.limit is None else query.limit - len(own)
            return [*(await self._inherited(query, rest)), *own]
        inherited = await self._inherited(query, query.limit)
        rest = None if query.limit is None else query.limit - len(inherited)
        return [*inherited, *(await self._own(replace(query, limit=rest)))]

    async def own_entries(self) -> list[Entry]:
        """Return what was written inside the fork, with its provisional ids."""
        return await self._own(Query(self.name))

    async def state(self) -> str:
        """Return `open`, `fork.merged` or `fork.discarded`."""
        newest = await self.store.query(Query(self.name, limit=1, newest=True))
        return newest[0].name or "open" if newest and _closes(newest[0]) else "open"

    async def merge(self) -> list[Entry]:
        """Put what was written inside on the parent, as one block; again: the same block."""
        state = await self.state()
        if state == DISCARDED:
            raise TapeError(f"the fork {self.name} was discarded and cannot be merged")
        block = [
            NewEntry(entry.kind, entry.payload, {**entry.meta, "fork": self.name}, entry.date)
            for entry in await self.own_entries()
            if not _closes(entry)
        ]
        merged = await self.parent.append(*block, key=f"fork:{self.name}") if block else []
        if state == "open":
            data = {"first": merged[0].id if merged else None, "count": len(merged)}
            await self.store.append(self.name, [event(MERGED, data)], "close")
        return merged

    async def discard(self, why: str) -> None:
        """Close the fork without a merge; it stays in the store as evidence."""
        if await self.state() == "open":
            await self.store.append(self.name, [event(DISCARDED, {"why": why})], "close")

    async def _inherited(self, query: Query, limit: int | None) -> Sequence[Entry]:
        before = self.at + 1 if query.before is None else min(query.before, self.at + 1)
        if before <= query.after + 1 or limit == 0:
            return []
        return await self.parent.query(replace(query, before=before, limit=limit))

    async def _own(self, query: Query) -> list[Entry]:
        """Ask the fork's own tape, with ids moved to where they stand there."""
        shift = _OPENING - self.at
        before = None if query.before is None else query.before + shift
        if query.limit == 0 or (before is not None and before <= _OPENING + 1):
            return []
        own = replace(
            query,
            tape=self.name,
            after=max(query.after + shift, _OPENING),
            before=before,
            ids=None if query.ids is None else tuple(number + shift for number in query.ids),
        )
        return [self._shown(entry) for entry in await self.store.query(own)]

    def _shown(self, entry: Entry) -> Entry:
        return replace(entry, id=entry.id + self.at - _OPENING)


def _closes(entry: Entry) -> bool:
    return entry.kind == EVENT and entry.name in (MERGED, DISCARDED)


async def open_fork(parent: Tape, at: int | None, merge_back: bool) -> ForkTape:
    """Open a fork that reads as its parent up to the entry `at` (None: up to now)."""
    at = await parent.size() if at is None else at
    fork = ForkTape(parent, f"{parent.name}{INFIX}{uuid4().hex[:12]}", at, merge_back)
    opening = event(FORK_OPEN, {"parent": parent.name, "at": at, "merge_back": merge_back})
    await fork.store.append(fork.name, [opening])
    return fork


async def find_fork(store_tape: Tape) -> ForkTape:
    """Return the handle of a fork by its own tape, its parents with it."""
    opening = await store_tape.store.query(Query(store_tape.name, limit=1))
    if not opening or opening[0].name != FORK_OPEN:
        raise TapeError(f"{store_tape.name} is not a fork")
    data = opening[0].payload["data"]
    parent = Tape(store_tape.store, data["parent"])
    if INFIX in parent.name:
        parent = await find_fork(parent)
    return ForkTape(parent, store_tape.name, int(data["at"]), bool(data["merge_back"]))
