"""Keep vectors in a file next to the database, for the one process that uses it.

Each vector is stored as half floats, and as the signs of its numbers.
"""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import nsmallest
from pathlib import Path
from typing import Final, TypeVar

import apsw

from tape.database.schema import Schema, read_schema
from tape.entry import dump
from tape.search.embedder import Vector
from tape.search.index_file import BROKEN, drop_file, open_file, settle_file
from tape.search.indexer import is_indexed
from tape.search.vectors import (
    MAX_COMPARED,
    MAX_VECTORS,
    EmbeddedPart,
    distances,
    halved,
    most_similar,
    unhalved,
    unit_of,
)
from tape.store import TapeStore

SUFFIX: Final = "-vectors"
T = TypeVar("T")


def vector_path(database: Path) -> Path:
    """Return the file of the vectors beside a database."""
    return database.with_name(f"{database.name}{SUFFIX}")


def drop_vectors(database: Path) -> None:
    """Delete the file of the vectors beside a database, if there is one."""
    drop_file(vector_path(database))


class FileVectors:
    """The vectors of one embedder for the tapes of a store, in a file beside `database`."""

    def __init__(self, store: TapeStore, database: Path, embedder: str) -> None:
        self._store = store
        self._database = database
        self._embedder = embedder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tape-vectors")
        self._file: VectorFile | None = None
        self._covered: dict[str, tuple[int, int]] | None = None
        self._erasures: Counter[str] = Counter()

    async def hold(self) -> bool:
        return True

    async def lacking(self) -> list[EmbeddedPart]:
        if self._covered is None:
            self._covered = await self._in_thread(lambda file: file.covered())
        parts = []
        for info in await self._store.tapes():
            if is_indexed(info.name):
                low, high = self._covered.get(info.name, (info.size + 1, info.size))
                stamp = str(self._erasures[info.name])
                parts.append(EmbeddedPart(info.name, info.size, low, high, stamp))
        return [part for part in parts if not part.is_done]

    async def put(
        self, part: EmbeddedPart, low: int, high: int, made: Sequence[tuple[int, Vector]]
    ) -> bool:
        if part.stamp != str(self._erasures[part.tape]):
            return False
        await self._in_thread(lambda file: file.put(part.tape, low, high, made))
        if self._covered is not None:
            self._covered[part.tape] = (low, high)
        return True

    async def nearest(
        self, tape: str, vector: Vector, before: int, limit: int
    ) -> list[tuple[int, float]]:
        return await self._in_thread(lambda file: file.nearest(tape, vector, before, limit))

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        self._erasures[tape] += 1
        await self._in_thread(lambda file: file.forget(tape, ids))

    async def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, file.close)
        self._thread.shutdown()

    async def _in_thread(self, do: Callable[[VectorFile], T]) -> T:
        def work() -> T:
            self._file = self._file or VectorFile(self._database, self._embedder)
            return do(self._file)

        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class VectorFile:
    """The file itself; only one thread at a time may use the object."""

    def __init__(self, database: Path, embedder: str) -> None:
        self.path = vector_path(database)
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
        covered = list(self._connection.execute(self._sql["covered"], {"name": tape}))
        if not covered:
            return []
        number = covered[0][0]
        unit = unit_of(vector)
        signs = int.from_bytes(_signs(unit), "little")
        bound = {"tape": number, "before": before, "limit": MAX_VECTORS}
        rows = self._connection.execute(self._sql["signs"], bound)
        few = nsmallest(
            max(MAX_COMPARED, limit),
            (((signs ^ int.from_bytes(own, "little")).bit_count(), -entry) for entry, own in rows),
        )
        ids = dump([-entry for _, entry in few])
        exact = self._connection.execute(self._sql["values"], {"tape": number, "ids": ids})
        found = distances(unit, ((entry, unhalved(value)) for entry, value in exact))
        return most_similar(found, limit)

    def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Remove the vectors of entries; if there were any, write the file without them."""
        before = self._connection.total_changes()
        with self._connection:
            rows = ({"name": tape, "id": number} for number in ids)
            self._connection.executemany(self._sql["forget"], rows)
        if self._connection.total_changes() > before:
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


def _packed(vector: Vector) -> tuple[bytes, bytes]:
    unit = unit_of(vector)
    return _signs(unit), halved(unit)


def _signs(vector: Vector) -> bytes:
    bits = sum(1 << place for place, number in enumerate(vector) if number > 0)
    return bits.to_bytes((len(vector) + 7) // 8, "little")
