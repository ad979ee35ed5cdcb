"""Candidates, choices among them, and the interfaces of replaceable parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tape.entry import Entry
from tape.query import Query
from tape.search.search import NearestSearch


@dataclass(frozen=True, slots=True)
class Candidate:
    """A message, an anchor, or calls with their results, shown together or not at all.

    ids      the ids of the entries, in tape order
    sources  how it was found: anchor, words, meaning, lane, room, beside
    score    relevance to the task; higher is better
    tokens   estimated number of tokens
    latest   whether it is the anchor at which a view would begin
    text     the text, with edits
    """

    ids: tuple[int, ...]
    sources: tuple[str, ...]
    score: float
    tokens: int
    latest: bool = False
    text: str = ""

    @property
    def is_anchor(self) -> bool:
        return "anchor" in self.sources


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate, whether to show it, and why."""

    candidate: Candidate
    chosen: bool
    why: str


class Strategy(Protocol):
    """Chooses among candidates; `name` becomes part of the record.

    The choices are verified: unknown or repeated candidates, and those beyond the budget, are
    dropped.
    """

    name: str

    async def choose(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        """Return a choice for each candidate, the best candidates first."""


class Readable(Protocol):
    """What constructing a context needs of a tape (or a fork)."""

    name: str
    semantic: NearestSearch | None

    async def size(self) -> int: ...

    async def find(self, **conditions: Any) -> list[Entry]: ...

    async def entries(self, ids: Sequence[int]) -> dict[int, Entry]: ...

    async def search(
        self, text: str, *, limit: int = 20, before: int | None = None, lane: str | None = None
    ) -> list[Entry]:
        """Return the newest entries (before an id, of a lane) that match the text, newest first."""

    async def near(self, query: Query, text: str) -> list[tuple[Entry, float]]: ...

    async def last_anchor(
        self, name: str | None = None, lane: str | None = None, before: int | None = None
    ) -> Entry | None: ...
