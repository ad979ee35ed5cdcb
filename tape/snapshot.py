"""A tape as it was: reads end at an entry, and nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tape.entry import Entry, NewEntry
from tape.errors import TapeError
from tape.handle import ForkTape, Tape
from tape.query import Query
from tape.search.query_text import SearchQuery


class TapeSnapshot(Tape):
    """A tape up to the entry `upto`, itself included: what a view showed, it shows again."""

    def __init__(self, tape: Tape, upto: int) -> None:
        super().__init__(tape.store, tape.name, tape.meaning)
        self.tape = tape
        self.upto = upto

    async def append(self, *_entries: NewEntry, key: str | None = None) -> list[Entry]:  # noqa: ARG002
        """Refuse: the past is only read."""
        raise TapeError(f"this is {self.name} as it was at entry {self.upto}: write to the tape")

    async def fork(
        self,
        at: str | Entry | None = None,  # noqa: ARG002
        merge_back: bool = True,  # noqa: ARG002
    ) -> ForkTape:
        """Refuse: a fork is written to."""
        raise TapeError(f"this is {self.name} as it was at entry {self.upto}: fork the tape")

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query as it would have been answered then."""
        end = self.upto + 1
        before = end if query.before is None else min(query.before, end)
        return await self.tape.query(replace(query, before=before))

    async def hits(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Return the newest hits of then."""
        end = self.upto + 1
        before = end if query.before is None else min(query.before, end)
        return await self.tape.hits(replace(query, before=before), wanted)

    async def near(self, query: Query, text: str) -> list[tuple[Entry, float]]:
        """Return what meant nearly the same then."""
        end = self.upto + 1
        before = end if query.before is None else min(query.before, end)
        return await self.tape.near(replace(query, before=before), text)

    async def shown(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the entries whose words were not deleted: not by now, as in `hits`."""
        return await self.tape.shown(entries)

    async def size(self) -> int:
        """Return how many entries there were."""
        return self.upto
