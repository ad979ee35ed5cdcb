"""Embedders turn texts into vectors, to search by meaning; they are given to the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]


class Embedder(Protocol):
    """A model that makes vectors.

    name        identifies the model: vectors of another name are discarded and made again
    dimensions  the length of its vectors; 0 if unknown, but the same for all
    """

    name: str
    dimensions: int

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in order; raises EmbedderFailed."""

    async def aclose(self) -> None:
        """Release its resources; may be called twice."""
