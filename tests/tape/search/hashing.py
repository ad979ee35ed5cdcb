"""An embedder without a server, whose model is a hash; a test may act while it is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from tape.errors import EmbedderFailed
from tape.search.embedder import Vector
from tape.search.semantic import SemanticIndex
from tests.fakes.openai.embeddings import DIMENSIONS, hashed


@dataclass(slots=True)
class Hashing:
    """The embedder: `meanwhile` runs once, between the next request and its answer."""

    name: str = "hashing"
    dimensions: int = DIMENSIONS
    given: int = DIMENSIONS
    away: bool = False
    asked: list[list[str]] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.away:
            raise EmbedderFailed("the embedder is away")
        self.asked.append(list(texts))
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            await act()
        return [hashed(text, self.given) for text in texts]

    async def aclose(self) -> None:
        return

    def texts(self) -> list[str]:
        """Return every text that was asked for."""
        return [text for batch in self.asked for text in batch]


async def caught_up(meaning: SemanticIndex) -> None:
    """Make vectors until there is nothing left to do."""
    while await meaning.round():
        pass
