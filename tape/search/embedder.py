"""Embedders turn texts into vectors, for searches by meaning; callers give one to the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]


class Embedder(Protocol):
    """A model that turns texts into vectors.

    name        identifies the model: vectors of a model with another name are made again
    dimensions  the length of every vector; 0 if unknown
    """

    name: str
    dimensions: int

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in the same order; raises EmbedderFailed."""

    async def aclose(self) -> None:
        """Release all resources; may be called twice."""
