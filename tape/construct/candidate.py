"""What may be shown, what was chosen of it, and what others may bring to the choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tape.entry import Entry
from tape.query import Query


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is shown together or not at all: a message, an anchor, or calls with their results.

    ids      the entries, in tape order
    sources  how it was found: anchor, words, meaning, lane, room, beside
    score    the greater, the more it seems to belong to the task
    tokens   what it costs
    latest   whether it is the anchor at which a view would begin
    text     what it says, as it reads now
    """

    ids: tuple[int, ...]
    sources: tuple[str, ...]
    score: float
    tokens: int
    latest: bool = False
    text: str = ""

    @property
    def is_anchor(self) -> bool:
        """Whether it is an anchor."""
        return "anchor" in self.sources


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate, and why it is shown or not."""

    candidate: Candidate
    chosen: bool
    why: str


class Strategy(Protocol):
    """Chooses among candidates; `name` goes on record.

    What it returns is verified: a choice of what is no candidate, a repeated one and one beyond
    the budget are taken back.
    """

    name: str

    async def choose(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        """Return a choice for each candidate, the most wanted first."""
        ...


class SemanticSource(Protocol):
    """Finds what means something similar, where an index of meaning exists: a tape does."""

    async def near(self, query: Query, text: str) -> Sequence[tuple[Entry, float]]:
        """Return the entries of the query that mean nearly the same, the best first."""
        ...


class Readable(Protocol):
    """A tape (or a fork), as far as it is read here."""

    name: str

    async def size(self) -> int:
        """Return how many entries there are."""
        ...

    async def find(self, **conditions: Any) -> list[Entry]:
        """Answer a query given by its conditions."""
        ...

    async def entries(self, ids: Sequence[int]) -> dict[int, Entry]:
        """Return entries by their ids."""
        ...

    async def search(self, text: str, *, limit: int = 20, before: int | None = None) -> list[Entry]:
        """Return the newest entries (before an id) that say a text, newest first."""
        ...

    async def last_anchor(
        self, name: str | None = None, lane: str | None = None, before: int | None = None
    ) -> Entry | None:
        """Return the latest anchor."""
        ...


Record = Mapping[str, Any]
