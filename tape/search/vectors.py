"""What keeps the vectors of a store's tapes, and the arithmetic of vectors.

Each vector is kept with the signs of its numbers. A search counts the signs in which each of a
tape's vectors differs from the query's, and computes the exact similarity only for those with the
fewest. This needs no numerical library, and bounds the cost of a search.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import dist, hypot, isfinite
from typing import Final, Protocol, runtime_checkable

from tape.errors import EmbedderFailed
from tape.search.embedder import Vector

MAX_VECTORS: Final = 20_000  # maximum newest vectors of a tape whose signs are compared
MAX_COMPARED: Final = 300  # maximum vectors whose exact similarity is computed
KEPT: Final = 2 * MAX_VECTORS  # newest entries of a tape that get a vector


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """The part of a tape whose entries have been looked at: from `low` to `high`, if any.

    newest  the tape's newest entry
    stamp   changes whenever words are erased from the tape
    """

    tape: str
    newest: int
    low: int
    high: int
    stamp: str = ""

    @property
    def is_done(self) -> bool:
        """Return whether no entry is left to be looked at."""
        return self.high == self.newest and self.low <= max(1, self.newest - KEPT)


class Vectors(Protocol):
    """Keeps the vectors of one embedder; may raise TapeError, and errors of its files."""

    async def hold(self) -> bool:
        """Return whether this process makes the vectors for now, which only one may do."""

    async def lacking(self) -> list[EmbeddedPart]:
        """Return what is known of each tape that has entries to be looked at."""

    async def put(
        self, part: EmbeddedPart, low: int, high: int, made: Sequence[tuple[int, Vector]]
    ) -> bool:
        """Keep the vectors of a range of entries, all at once, and return whether that was done.

        It is not if words were erased from the tape since `part` was read, which comes before the
        entries are read, or if another process makes the vectors now.
        """

    async def nearest(
        self, tape: str, vector: Vector, before: int, limit: int
    ) -> list[tuple[int, float]]:
        """Return the nearest entries, each with its cosine similarity, nearest first."""

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Remove the vectors of entries, if erasing them has not done so."""

    async def close(self) -> None:
        """Leave the vectors to other processes, and release all resources; may be called twice."""


@runtime_checkable
class VectorStore(Protocol):
    """A store that keeps vectors with its tapes; for others, they lie in a file."""

    def vectors(self, embedder: str) -> Vectors:
        """Return the vectors of an embedder, by its name; erasing an entry removes its own."""


def check_vectors(vectors: Sequence[Vector], count: int, dimensions: int) -> None:
    """Raise EmbedderFailed unless there is one vector per text, all of numbers of one length."""
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) > 1 or (dimensions and lengths != {dimensions}):
        raise EmbedderFailed(
            f"an embedder gave {len(vectors)} vectors of {sorted(lengths)} numbers for"
            f" {count} texts"
        )
    if not all(isfinite(sum(vector)) for vector in vectors):
        raise EmbedderFailed("an embedder gave a vector with a number that is none: try another")


def unit_of(vector: Vector) -> list[float]:
    """Return a vector of the same direction and of length one; not all numbers may be 0."""
    length = hypot(*vector)
    return [number / length for number in vector]


def halved(unit: Vector) -> bytes:
    """Return the numbers of a vector as half floats."""
    return struct.pack(f"<{len(unit)}e", *unit)


def unhalved(value: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(value) // 2}e", value)


def distances(
    unit: Vector, found: Iterable[tuple[int, Sequence[float]]]
) -> list[tuple[int, float]]:
    """Return how far other vectors are from one."""
    own = tuple(unit)  # as tuples, `dist` is several times quicker
    return [(entry, dist(own, value)) for entry, value in found]


def most_similar(found: Iterable[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
    """Return the entries with the greatest cosine similarity, by the distances of their vectors.

    All vectors are of length one. Of two that are equally similar, the newer entry comes first.
    """
    scored = [(entry, 1 - distance * distance / 2) for entry, distance in found]
    return sorted(scored, key=lambda one: (-one[1], -one[0]))[:limit]
