"""Read a tape as it was up to an entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tape.entry import Entry, NewEntry
from tape.errors import TapeError
from tape.fork import Forking
from tape.handle import ForkTape, Tape
from tape.query import Query
from tape.search.query_text import SearchQuery


class TapeSnapshot(Tape):
    """A read-only tape up to and including the entry `upto`, with the same views as then."""

    def __init__(self, tape: Tape, upto: int) -> None:
        super().__init__(tape.store, tape.name, tape.semantic)
        self.tape = tape
        self.upto = upto

    async def append(self, *_entries: NewEntry, key: str | None = None) -> list[Entry]:  # noqa: ARG002
        raise TapeError(
            f"this is a snapshot of {self.name} at entry {self.upto}: write to the tape"
        )

    def fork(self, at: str | Entry | None = None, merge_back: bool = True) -> Forking[ForkTape]:  # noqa: ARG002
        raise TapeError(f"this is a snapshot of {self.name} at entry {self.upto}: fork the tape")

    async def run_query(self, query: Query) -> list[Entry]:
        return await self.tape.run_query(self._bounded(query))

    async def hits(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        return await self.tape.hits(self._bounded(query), wanted.up_to(self.upto))

    async def near(self, query: Query, text: str) -> list[tuple[Entry, float]]:
        return await self.tape.near(self._bounded(query), text)

    async def shown(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the given entries without those whose message has been deleted by now."""
        return await self.tape.shown(entries)

    async def size(self) -> int:
        return self.upto

    def _bounded(self, query: Query) -> Query:
        end = self.upto + 1
        return replace(query, before=end if query.before is None else min(query.before, end))
