"""Embedders: what turns texts into vectors, so that a search finds what means the same.

The tape knows no model and no network: an embedder is given to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]


class Embedder(Protocol):
    """A model that makes vectors.

    `name` tells one model from another: vectors of another name are made anew. `dimensions` is the
    length of its vectors; 0: as long as they come, and all alike.
    """

    name: str
    dimensions: int

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in their order; raises EmbedderFailed."""
        ...

    async def aclose(self) -> None:
        """Let go of what it holds; may be called twice."""
        ...
