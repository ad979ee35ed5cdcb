"""Read and search a store beside everything else, each time within a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from tape.entry import Entry
from tape.query import Query
from tape.rollups import LaneSpan, RolledUp, Spark
from tape.search.query_text import SearchQuery
from tape.store import TapeInfo
from tape.unit_of_work import Row


class SideReader(Protocol):
    """Reads a store beside all others: not on their connections, and each read within a time limit.

    Every method raises ReadTooSlow at the limit, and StoreUnavailable. One read runs after another.
    """

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query; see `TapeStore.query`."""
        ...

    async def queries(self, queries: Sequence[Query]) -> list[list[Entry]]:
        """Answer several queries, in their order, in one read: one limit holds for all of them."""
        ...

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Return the newest hits, as `tape.search.search.SearchStore` does."""
        ...

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named SELECT statement; see `UnitStore.select`."""
        ...

    async def size(self, tape: str) -> int:
        """Return the number of entries of a tape."""
        ...

    async def tapes(self) -> list[TapeInfo]:
        """List the tapes with entries; see `TapeStore.tapes`."""
        ...

    async def rolled(self, tape: str, grain: str, after: int, limit: int) -> RolledUp:
        """Return the first counts of a tape by `tape.rollups.BLOCK` or HOUR behind a slot."""
        ...

    async def lanes(self, tape: str, first: int, last: int) -> list[LaneSpan]:
        """Return the lanes of the blocks from `first` to `last`, the busiest first."""
        ...

    async def sparks(self, tapes: Sequence[str], since: int) -> dict[str, list[Spark]]:
        """Map tapes to what was said and answered on them in each hour from `since` on."""
        ...

    async def close(self) -> None:
        """Wait for the read that runs, and release all resources."""
        ...


@runtime_checkable
class SideStore(Protocol):
    """A store that can be read beside everything else."""

    def beside(self, seconds: float) -> SideReader:
        """Return a new reader whose reads end after `seconds`; `close` closes it, too."""
        ...
