"""Candidates, choices among them, and the parts that others may provide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tape.entry import Entry
from tape.query import Query


@dataclass(frozen=True, slots=True)
class Candidate:
    """A message, an anchor, or calls with their results: shown together or not at all.

    ids      the ids of the entries, in tape order
    sources  the ways that found it: anchor, words, meaning, lane, room, beside
    score    its relevance to the task; higher is better
    tokens   its estimated tokens
    latest   whether it is the anchor at which a view would begin
    text     its text, with edits
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
    """A candidate, whether it is shown, and why."""

    candidate: Candidate
    chosen: bool
    why: str


class Strategy(Protocol):
    """Chooses among candidates; `name` is part of the record.

    Its choices are verified: unknown candidates, repeated ones and those beyond the budget are
    dropped.
    """

    name: str

    async def choose(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        """Return a choice for each candidate, the best first."""


class SemanticSource(Protocol):
    """Finds entries by meaning, if an index of meaning exists; a tape is one."""

    async def near(self, query: Query, text: str) -> Sequence[tuple[Entry, float]]: ...


class Readable(Protocol):
    """The part of a tape (or a fork) that is needed here."""

    name: str

    async def size(self) -> int: ...

    async def find(self, **conditions: Any) -> list[Entry]: ...

    async def entries(self, ids: Sequence[int]) -> dict[int, Entry]: ...

    async def search(self, text: str, *, limit: int = 20, before: int | None = None) -> list[Entry]:
        """Return the newest entries (before an id) that match a text, newest first."""

    async def last_anchor(
        self, name: str | None = None, lane: str | None = None, before: int | None = None
    ) -> Entry | None: ...
