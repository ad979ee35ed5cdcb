"""The file store: one JSONL file for each tape, which is appended to and never rewritten.

The files are the source of truth. With the index beside them, the cost of a read depends only on
the size of its result. Only one process may write to a folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import apsw
from anyio import to_thread

from tape.database.connection import Database, Reader
from tape.database.group_commit import FULL, WriterThread
from tape.database.readers import MAX_INLINE_ENTRIES, ReaderPair
from tape.database.staging import STAGING, append_staged
from tape.entry import Entry, NewEntry, entry_text
from tape.errors import StoreUnavailable, TapeMismatch
from tape.query import Query, fold
from tape.search.query_text import SearchQuery
from tape.search.scan import MAX_SCANNED, scan_here, scanning
from tape.store import Now, TapeInfo, utc_now
from tape.stores.jsonl.folder import INDEX, Folder, copy_end
from tape.stores.jsonl.index import open_index
from tape.stores.jsonl.line import unseal
from tape.stores.jsonl.writer import FileBatches, verify
from tape.unit_of_work import Append, Batch, Erase, Outcome, Unit


class FileStore:
    """A tape store in a folder; create it with `FileStore.open`."""

    durable = True

    def __init__(
        self, folder: Folder, index: Database, writer: WriterThread, verified: set[str]
    ) -> None:
        self.folder = folder
        self._writer = writer
        self._verified = verified
        self._readers = ReaderPair(lambda: FileReader(index, folder))
        self.staging = anyio.Lock()

    @classmethod
    def open(cls, path: Path, now: Now = utc_now) -> FileStore:
        """Open or create the folder, and update its index from the files."""
        folder = Folder.open(path)
        verified: set[str] = set()
        try:
            index = open_index(path / INDEX)

            def batches() -> FileBatches:
                return FileBatches(folder, index.writer(), index.statements, now, verified)

            with closing(batches()) as first:
                first.verify_all()
        except BaseException as cause:
            folder.close()
            if not isinstance(cause, (apsw.Error, OSError)):
                raise
            raise StoreUnavailable(
                f"the tapes of {path} cannot be read ({cause}): check the disk and its permissions"
            ) from cause
        return cls(folder, index, WriterThread(batches), verified)

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        outcomes = await self.commit(Unit([Append(tape, tuple(entries), key)]))
        return list(outcomes[0].entries)

    async def append_batch(self, tape: str, batch: Batch) -> None:
        """Append a batch through a staging tape (see `tape.database.staging`)."""
        await append_staged(self, tape, batch)

    async def begin_copy(self, tape: str, staging: str, after: int) -> None:
        """Copy the file of a tape with `after` entries, in a thread, to that of a staging tape."""
        if (size := await self.size(tape)) != after:
            raise TapeMismatch(tape, after, size)
        source, copy = self.folder.file_of(tape), self.folder.file_of(staging)
        try:
            await to_thread.run_sync(copy_end, source, copy)
        except OSError as cause:
            raise StoreUnavailable(
                f"{source} cannot be copied ({cause.strerror}): check the disk and try again",
                full=cause.errno in FULL,
            ) from cause

    async def commit(self, unit: Unit) -> list[Outcome]:
        """Run a unit of a single step."""
        self._readers.require_open()
        return await self._writer.submit(unit)

    async def query(self, query: Query) -> list[Entry]:
        await self._verify(query.tape)
        bounded = query.limit is not None and query.limit <= MAX_INLINE_ENTRIES
        few = bounded or query.turn is not None or query.ids is not None
        if query.text is None and few:
            return self._readers.inline.query(query)
        return await self._readers.in_thread(lambda reader: reader.query(query))

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Scan the newest MAX_SCANNED entries that match a query, in the reader thread.

        To find older entries, exclude newer ones with `before`, dates or another condition.
        """
        await self._verify(query.tape)
        scan = scanning(query, wanted, MAX_SCANNED)
        return await self._readers.in_thread(lambda reader: scan_here(scan, reader.query).hits)

    async def erase(self, tape: str, entries: Sequence[Entry]) -> None:
        await self._verify(tape)
        await self.commit(Unit([Erase(tape, tuple(entries))]))

    async def purge(self, *, resumed: bool = False, rewrite: bool = True) -> None:
        """Do nothing: every erasure writes a new file, and the index has no words."""

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        found = await self._readers.in_thread(lambda reader: reader.tapes(prefix))
        return [info for info in found if info.size and not info.name.startswith(STAGING)]

    async def staged(self) -> list[str]:
        found = await self._readers.in_thread(lambda reader: reader.tapes(STAGING))
        copies = (name for name in self.folder.sizes() if name.startswith(STAGING))
        return sorted({*copies, *(info.name for info in found)})

    async def size(self, tape: str) -> int:
        await self._verify(tape)
        return self._readers.inline.size(tape)

    def notes(self) -> list[str]:
        return list(self.folder.notes)

    async def close(self) -> None:
        if self._readers.closed:
            return
        self._readers.closed = True  # before the first wait: no call is accepted after this
        await self._writer.close()
        await self._readers.close()
        self.folder.close()

    async def _verify(self, tape: str) -> None:
        self._readers.require_open()
        if tape not in self._verified and self.folder.file_of(tape).exists():
            await self._writer.submit(verify(tape))


class FileReader(Reader):
    """A read-only connection to the index, and to the file of the tape that a query reads."""

    def __init__(self, index: Database, folder: Folder) -> None:
        connection = index.read_connection()
        super().__init__(connection, index.statements)
        self.folder = folder
        self._file = -1
        connection.create_scalar_function("line_says", self._line_says, 3)

    def query(self, query: Query) -> list[Entry]:
        if self._file >= 0:  # a query inside another one, to find an anchor
            return super().query(query)
        with self._opened(query.tape):
            return super().query(query)

    @contextmanager
    def _opened(self, tape: str) -> Iterator[None]:
        """Keep a tape's file open during the block, if the tape has a file."""
        path = self.folder.file_of(tape)
        with self.folder.rewriting, self._connection:
            # This reads the index first: a file may be longer than the index says, never shorter.
            self._tape(tape)
            try:
                self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                yield
                return
            except OSError as cause:
                raise StoreUnavailable(
                    f"{path} cannot be read ({cause.strerror}): check its permissions"
                ) from cause
            try:
                yield
            finally:
                os.close(self._file)
                self._file = -1

    def _read(self, row: Sequence[Any]) -> Entry:
        _id, at, size = row
        return self._entry(at, size)

    def _line_says(self, *values: Any) -> bool:
        at, size, folded = values
        entry = self._entry(at, size)
        return folded in fold(entry_text(entry.kind, entry.payload))

    def _entry(self, at: int, size: int) -> Entry:
        try:
            return unseal(os.pread(self._file, size, at)).entry
        except (OSError, ValueError) as cause:
            raise StoreUnavailable(
                f"a tape's file changed while it was read ({cause}): restart Tapeway to check it"
            ) from cause
