"""Keep vectors in PostgreSQL, for all processes that share a database.

The server finds the candidates by their signs. It also computes the exact similarity of those where
the extension pgvector is installed in the database, else this process does so; each search looks.
"""

from __future__ import annotations

import functools
import secrets
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import anyio
from anyio import to_thread

from tape.database.staging import STAGING
from tape.errors import TapeError
from tape.fork import INFIX
from tape.search.embedder import Vector
from tape.search.vectors import (
    KEPT,
    MAX_COMPARED,
    MAX_VECTORS,
    EmbeddedPart,
    distances,
    halved,
    most_similar,
    unhalved,
    unit_of,
)
from tape.stores.postgres.binding import bound
from tape.stores.postgres.database import PostgresDatabase

HOLD_SECONDS: Final = 120.0
"""Seconds for which a process may make vectors, unless it asks once more."""

RENEWALS: Final = 4
"""How often it asks in that time: what is left is longer than the longest request."""

GOODBYE_SECONDS: Final = 2.0
UNUSED_DAYS: Final = 7  # days after which the vectors of an embedder that nobody uses are removed
DROPPED: Final = 10_000  # vectors that are removed at once


class PostgresVectors:
    """The vectors of one embedder in a database."""

    def __init__(self, database: PostgresDatabase, embedder: str) -> None:
        self._database = database
        self._embedder = embedder
        self._owner = secrets.token_hex(8)
        self._model = 0
        self._for_pgvector = False  # whether the next vectors are kept as pgvector reads them
        self._renew_at = 0.0

    async def hold(self) -> bool:
        now = time.monotonic()
        if now < self._renew_at:
            return True
        found = await self._ask("hold_vectors", seconds=HOLD_SECONDS, **self._who)
        self._renew_at = now + HOLD_SECONDS / RENEWALS if found else 0.0
        if found:
            self._model, self._for_pgvector = found[0]
            await self._drop_unused()
        return bool(found)

    async def lacking(self) -> list[EmbeddedPart]:
        found = await self._ask(
            "lacking_vectors", model=self._model, kept=KEPT, fork=INFIX, staging=STAGING
        )
        return [EmbeddedPart(*row) for row in found]

    async def put(
        self, part: EmbeddedPart, low: int, high: int, made: Sequence[tuple[int, Vector]]
    ) -> bool:
        vectors = [vector for _id, vector in made]
        signs, halves = await to_thread.run_sync(_written, vectors)
        numbers = "{}"
        if self._for_pgvector:
            numbers, halves = await to_thread.run_sync(_numbers, halves), []
        ((kept,),) = await self._ask(
            "put_vectors",
            model=self._model,
            owner=self._owner,
            name=part.tape,
            stamp=part.stamp,
            low=low,
            high=high,
            ids=[number for number, _vector in made],
            signs=signs,
            halves=halves,
            numbers=numbers,
        )
        if not kept:
            self._renew_at = 0.0  # another process may make them now
        return bool(kept)

    async def nearest(
        self, tape: str, vector: Vector, before: int, limit: int
    ) -> list[tuple[int, float]]:
        unit = unit_of(vector)
        found = await self._ask(
            "nearest_vectors",
            embedder=self._embedder,
            name=tape,
            signs=_signs(unit),
            query=_array(unit),
            before=before,
            most=MAX_VECTORS,
            compared=max(MAX_COMPARED, limit),
        )
        known = [(number, distance) for number, distance, *_own in found if distance is not None]
        own = [(number, *values) for number, distance, *values in found if distance is None]
        if own:
            known += await to_thread.run_sync(_compared, unit, own)
        return most_similar(known, limit)

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Do nothing: the database removes them with the words."""

    async def close(self) -> None:
        if self._renew_at:
            self._renew_at = 0.0
            with anyio.move_on_after(GOODBYE_SECONDS, shield=True), suppress(TapeError):
                await self._ask("release_vectors", **self._who)

    @property
    def _who(self) -> dict[str, str]:
        return {"embedder": self._embedder, "owner": self._owner}

    async def _drop_unused(self) -> None:
        for (model,) in await self._ask("unused_vectors", days=UNUSED_DAYS):
            await self._ask("drop_vectors", model=model, days=UNUSED_DAYS, limit=DROPPED)

    async def _ask(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        sql = self._database.sql(f"search.{statement}")
        async with self._database.connection() as connection:
            cursor = await connection.execute(sql, bound(values), binary=True)
            return await cursor.fetchall() if cursor.description else []


def _written(vectors: Sequence[Vector]) -> tuple[list[str], list[bytes]]:
    """Return the signs and the half floats of vectors."""
    units = [unit_of(vector) for vector in vectors]
    return [_signs(unit) for unit in units], [halved(unit) for unit in units]


def _numbers(halves: Sequence[bytes]) -> str:
    """Return the numbers of vectors, one behind the other.

    They are as exact as half floats, so that a search has the same answer.
    """
    return _array([number for half in halves for number in unhalved(half)])


def _compared(
    unit: Vector, found: Sequence[tuple[int, bytes | None, bytes]]
) -> list[tuple[int, float]]:
    read = _reader(len(unit)).unpack
    return distances(
        unit,
        (
            (entry, unhalved(half) if half is not None else read(numbers))
            for entry, half, numbers in found
        ),
    )


@functools.lru_cache(maxsize=4)
def _reader(dimensions: int) -> struct.Struct:
    """Return what reads the binary form of an array: its shape, and numbers after their lengths."""
    return struct.Struct(f">20x{'4xf' * dimensions}")


def _array(numbers: Vector) -> str:
    return f"{{{','.join(map(repr, numbers))}}}"


def _signs(vector: Vector) -> str:
    return "".join("1" if number > 0 else "0" for number in vector)
