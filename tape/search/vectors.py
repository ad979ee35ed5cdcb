"""Keep vectors in a file next to the database, and find the nearest ones.

Each vector is stored as half floats, and as the signs of its numbers. A search counts the signs in
which each of a tape's vectors differs from the query's, and computes the exact similarity only for
those with the fewest. This needs no numerical library, and bounds the cost of a search.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from math import sqrt
from operator import mul
from pathlib import Path
from typing import Final

import apsw

from tape.database.schema import Schema, read_schema
from tape.entry import dump
from tape.errors import EmbedderFailed
from tape.search.embedder import Vector
from tape.search.index_file import BROKEN, drop_file, open_file, settle_file

SUFFIX: Final = "-vectors"

MAX_VECTORS: Final = 20_000  # maximum newest vectors of a tape whose signs are compared
MAX_COMPARED: Final = 300  # maximum vectors whose exact similarity is computed


class VectorFile:
    """The vectors made by one embedder; only one thread at a time may use the object."""

    def __init__(self, database: Path, embedder: str) -> None:
        self.path = database.with_name(f"{database.name}{SUFFIX}")
        self._sql = {
            name.removeprefix("vectors."): sql for name, sql in vector_schema().statements.items()
        }
        self._embedder = embedder
        self._connection = self._opened()

    def covered(self) -> dict[str, tuple[int, int]]:
        """Map each tape to the lowest and highest id in the range that is done."""
        rows = self._connection.execute(self._sql["all_covered"])
        return {name: (low, high) for name, low, high in rows}

    def put(self, tape: str, low: int, high: int, vectors: Iterable[tuple[int, Vector]]) -> None:
        """Store the vectors for a range of entries, in one transaction."""
        with self._connection:
            values = {"name": tape, "low": low, "high": high}
            number = self._connection.execute(self._sql["cover"], values).get
            rows = ((number, entry, *_packed(vector)) for entry, vector in vectors)
            self._connection.executemany(self._sql["add"], rows)

    def nearest(
        self, tape: str, vector: Vector, before: int, limit: int
    ) -> list[tuple[int, float]]:
        """Return the nearest entries, each with its cosine similarity, nearest first."""
        found = list(self._connection.execute(self._sql["covered"], {"name": tape}))
        if not found:
            return []
        number = found[0][0]
        unit = _unit(vector)
        signs = int.from_bytes(_signs(unit), "little")
        bound = {"tape": number, "before": before, "limit": MAX_VECTORS}
        rows = self._connection.execute(self._sql["signs"], bound)
        few = nsmallest(
            max(MAX_COMPARED, limit),
            (((signs ^ int.from_bytes(own, "little")).bit_count(), -entry) for entry, own in rows),
        )
        ids = dump([-entry for _, entry in few])
        exact = self._connection.execute(self._sql["values"], {"tape": number, "ids": ids})
        scored = [(entry, sum(map(mul, unit, _unpacked(value)))) for entry, value in exact]
        return sorted(scored, key=lambda one: (-one[1], -one[0]))[:limit]

    def forget(self, tape: str, ids: Sequence[int]) -> None:
        with self._connection:
            rows = ({"name": tape, "id": number} for number in ids)
            self._connection.executemany(self._sql["forget"], rows)
        settle_file(self._connection)

    def close(self) -> None:
        self._connection.close()

    def _opened(self) -> apsw.Connection:
        try:
            return open_file(self.path, self._make)
        except BROKEN:
            drop_file(self.path)
            return open_file(self.path, self._make)

    def _make(self, connection: apsw.Connection, empty: bool) -> None:
        if empty:
            for migration in vector_schema().migrations:
                connection.execute(migration)
            connection.execute(self._sql["set_embedder"], {"embedder": self._embedder})
        elif connection.execute(self._sql["embedder"]).get != self._embedder:
            raise apsw.CorruptError("the vectors are of another embedder")


@functools.cache
def vector_schema() -> Schema:
    return read_schema("vectors", "tape.search", "vectors")


def check_vectors(vectors: Sequence[Vector], count: int, dimensions: int) -> None:
    """Raise EmbedderFailed unless there is one vector per text, all of the same length."""
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) > 1 or (dimensions and lengths != {dimensions}):
        raise EmbedderFailed(
            f"an embedder gave {len(vectors)} vectors of {sorted(lengths)} numbers for"
            f" {count} texts"
        )


def _unit(vector: Vector) -> list[float]:
    length = sqrt(sum(map(mul, vector, vector)))
    return [number / length for number in vector] if length else list(vector)


def _packed(vector: Vector) -> tuple[bytes, bytes]:
    unit = _unit(vector)
    return _signs(unit), struct.pack(f"<{len(unit)}e", *unit)


def _unpacked(value: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(value) // 2}e", value)


def _signs(vector: Vector) -> bytes:
    bits = sum(1 << place for place, number in enumerate(vector) if number > 0)
    return bits.to_bytes((len(vector) + 7) // 8, "little")
