"""Select entries of a tape by conditions that are added one after another.

    await tape.query.kinds("message").between_dates("2026-01-01", "2026-02-01").limit(20).all()

Each call returns a new query, so that a query can be kept and narrowed again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from tape.entry import Entry
from tape.query import Query

Run = Callable[[Query], Awaitable[list[Entry]]]


@dataclass(frozen=True, slots=True)
class TapeQuery:
    """The entries that meet all conditions so far; `all` reads them, and may raise NotFound.

    A condition that is given again replaces the one before. Raises QueryRefused for an impossible
    condition, as `Query` does.
    """

    run: Run
    query: Query

    def kinds(self, *kinds: str) -> TapeQuery:
        return self._with(kinds=kinds)

    def names(self, *names: str) -> TapeQuery:
        """Select the anchors and events of these names."""
        return self._with(names=names)

    def authors(self, *authors: str) -> TapeQuery:
        return self._with(authors=authors)

    def lane(self, lane: str) -> TapeQuery:
        return self._with(lane=lane)

    def turn(self, turn: str) -> TapeQuery:
        return self._with(turn=turn)

    def text(self, part: str) -> TapeQuery:
        """Select the entries whose text contains a part, ignoring case."""
        return self._with(text=part)

    def after_anchor(self, name: str) -> TapeQuery:
        """Select what follows the latest anchor of a name."""
        return self._with(after_anchor=name)

    def before_anchor(self, name: str) -> TapeQuery:
        return self._with(before_anchor=name)

    def between_anchors(self, first: str, second: str) -> TapeQuery:
        """Select what stands between the latest anchor `first` and the next `second`."""
        return self._with(after_anchor=first, before_anchor=second)

    def since(self, moment: str | date) -> TapeQuery:
        return self._with(since=str(moment))

    def until(self, moment: str | date) -> TapeQuery:
        """Select what is dated before a moment."""
        return self._with(until=str(moment))

    def between_dates(self, first: str | date, second: str | date) -> TapeQuery:
        """Select what is dated from `first`, inclusive, to `second`, exclusive."""
        return self.since(first).until(second)

    def limit(self, most: int, *, newest: bool = False) -> TapeQuery:
        """Select the oldest entries, or the newest, at most so many."""
        return self._with(limit=most, newest=newest)

    async def all(self) -> list[Entry]:
        """Return the entries in tape order."""
        return await self.run(self.query)

    async def first(self) -> Entry | None:
        """Return the oldest entry, or the newest after `limit(newest=True)`; None without any."""
        limit = 1 if self.query.limit is None else min(self.query.limit, 1)
        found = await self.run(replace(self.query, limit=limit))
        return found[0] if found else None

    def _with(self, **conditions: Any) -> TapeQuery:
        return TapeQuery(self.run, replace(self.query, **conditions))
