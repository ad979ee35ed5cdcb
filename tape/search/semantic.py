"""Search by meaning, with vectors that are made in the background.

This only adds to the search by words, which works without an embedder and for entries without a
vector. Vectors are costly: only each tape's newest entries get one, newer entries first, and of
several processes that share them, one makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import apsw

from tape.entry import ANCHOR, MESSAGE, Entry
from tape.errors import TapeError
from tape.query import Query
from tape.right_of_way import RightOfWay
from tape.search.edits import edited_ids, edits, edits_of, with_edits
from tape.search.embedder import Embedder, Vector
from tape.search.entry_terms import searchable_text
from tape.search.vector_file import FileVectors
from tape.search.vectors import EmbeddedPart, Vectors, VectorStore, check_vectors
from tape.store import TapeStore

KINDS: Final = (MESSAGE, ANCHOR)
BATCH: Final = 64  # maximum texts in one request to the embedder
MAX_TEXT_CHARACTERS: Final = 2000
"""Maximum characters of a text to embed, because longer texts have no single meaning."""

LOOK_INTERVAL_SECONDS: Final = 10.0
"""Seconds between two checks for new entries; until then, only words find them."""

NEAREST_TIMEOUT_SECONDS: Final = 5.0
"""Seconds that a search waits for the embedder and the vectors; then it uses words alone."""


class SemanticIndex:
    """The vectors of a store's tapes; `run` it with the store, and `close` it before the store.

    A `VectorStore` keeps them itself, others have them in a file beside `database`.
    """

    def __init__(
        self,
        store: TapeStore,
        embedder: Embedder,
        database: Path,
        *,
        notify: Callable[[str], None] = lambda _problem: None,
        look_every: float = LOOK_INTERVAL_SECONDS,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._notify = notify
        self._look_every = look_every
        self._vectors: Vectors = (
            store.vectors(embedder.name)
            if isinstance(store, VectorStore)
            else FileVectors(store, database, embedder.name)
        )
        self._problem = ""
        self._way = RightOfWay()

    async def run(self) -> None:
        """Make vectors for the entries, forever; retry whatever fails."""
        while True:
            try:
                while await self.round():
                    pass
            except Exception as cause:  # the search by words must go on, whatever the error
                self._failed(cause)
            await anyio.sleep(self._look_every)

    async def round(self) -> bool:
        """Embed one batch for each tape that needs vectors; return whether there may be more.

        Where processes share the vectors, all but one have nothing to do.
        """
        if not await self._vectors.hold():
            return False
        busy = False
        for part in await self._vectors.lacking():
            await self._way.given()
            if not await self._vectors.hold():
                break
            busy |= await self._batch(part)
        return busy

    async def nearest(self, query: Query, text: str, limit: int) -> list[tuple[Entry, float]]:
        """Return the query's entries nearest in meaning, each with its score.

        The result is empty if the embedder fails, so that the search by words can go on.
        """
        before = query.before if query.before is not None else 2**32
        try:
            with anyio.fail_after(NEAREST_TIMEOUT_SECONDS):
                (vector,) = await self._embed([text[:MAX_TEXT_CHARACTERS]])
                found = []
                if any(vector):
                    found = await self._vectors.nearest(query.tape, vector, before, 4 * limit)
        except (TapeError, TimeoutError, apsw.Error, OSError) as cause:
            self._failed(cause)
            return []
        self._problem = ""
        if not found:
            return []
        scores = dict(found)
        wanted = replace(query, ids=tuple(scores), unlaned=False, limit=None, newest=False)
        entries = [entry for entry in await self._store.query(wanted) if searchable_text(entry)]
        entries.sort(key=lambda entry: (-scores[entry.id], -entry.id))
        return [(entry, scores[entry.id]) for entry in entries[:limit]]

    async def forget(self, tape: str, ids: Sequence[int]) -> None:
        """Remove the vectors of entries that are being erased: call it before and after that.

        Before, so that no crash leaves any; after, since a batch may have been read meanwhile.
        """
        await self._vectors.forget(tape, ids)

    def give_way(self, way: RightOfWay) -> None:
        self._way = way

    async def close(self) -> None:
        await self._embedder.aclose()
        await self._vectors.close()

    async def _batch(self, part: EmbeddedPart) -> bool:
        """Make the vectors of a batch of entries; return whether any entries were looked at."""
        tape, newest, low, high = part.tape, part.newest, part.low, part.high
        if high > newest:  # after a restored backup, vectors may not match the tape
            low, high = newest + 1, newest
        if high < newest:
            entries = await self._store.query(Query(tape, after=high, kinds=KINDS, limit=BATCH))
            stretch = (low, entries[-1].id if len(entries) == BATCH else newest)
            changed = edited_ids(await self._store.query(edits(tape, high, stretch[1])))
            if again := tuple(number for number in changed if low <= number <= high):
                entries += await self._store.query(Query(tape, ids=again, kinds=KINDS))
        else:
            older = Query(tape, before=low, kinds=KINDS, limit=BATCH, newest=True)
            entries = await self._store.query(older)
            stretch = (entries[0].id if len(entries) == BATCH else 1, high)
        if asked := edits_of(tape, entries):
            entries = with_edits(entries, await self._store.query(asked))
        spoken = [entry for entry in entries if searchable_text(entry).strip()]
        texts = [text_of(entry) for entry in spoken]
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            if not await self._vectors.hold():
                return False
            vectors += await self._embed(texts[start : start + BATCH])
        paired = zip(spoken, vectors, strict=True)
        made = [(entry.id, vector) for entry, vector in paired if any(vector)]
        if not await self._vectors.put(part, *stretch, made):
            return False
        self._problem = ""
        return True

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors = await self._embedder.embed(texts)
        check_vectors(vectors, len(texts), self._embedder.dimensions)
        return vectors

    def _failed(self, cause: Exception) -> None:
        problem = str(cause) or type(cause).__name__
        if not self._problem:
            self._notify(problem)
        self._problem = problem


def text_of(entry: Entry) -> str:
    """Return the text to embed for an entry: date, author and words."""
    name = entry.meta.get("name")
    who = f" {name}:" if isinstance(name, str) else ""
    return f"{entry.date[:16].replace('T', ' ')}{who} {searchable_text(entry)}"[
        :MAX_TEXT_CHARACTERS
    ]
