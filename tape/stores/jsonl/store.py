"""The file store: one file a tape, JSONL, appended to and never rewritten.

What a caller is told was written is on the disk (fsync, one for all that waits for a file). The
file is the truth: its end is cut where a crash left half a block, a changed or missing line is
told of with its number when the tape is first asked for, and the index beside the files, by which a
read costs what it returns, is made again whenever it does not agree with them. One process writes
to a folder.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from tape.database.connection import Database, Reader
from tape.database.group_commit import WriterThread
from tape.entry import Entry, NewEntry, entry_text
from tape.errors import StoreUnavailable
from tape.query import Query, fold
from tape.search.query_text import SearchQuery
from tape.search.scan import MAX_SCANNED, scan_here, scanning
from tape.store import Now, TapeInfo, utc_now
from tape.stores.jsonl.folder import INDEX, Folder
from tape.stores.jsonl.index import open_index
from tape.stores.jsonl.line import unseal
from tape.stores.jsonl.writer import FileBatches, know
from tape.unit_of_work import Append, Batch, TakeIn, Unit

T = TypeVar("T")

SMALL_READ: Final = 1000
"""A query for at most so many entries runs on the event loop's own reader."""


class FileStore:
    """A tape store in a folder; make it with `FileStore.open`."""

    durable = True

    def __init__(
        self, folder: Folder, index: Database, writer: WriterThread, known: set[str]
    ) -> None:
        self._folder = folder
        self._index = index
        self._writer = writer
        self._known = known
        self._inline: FileReader | None = None
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="tape-reader")
        self._threaded: FileReader | None = None
        self._closed = False

    @classmethod
    def open(cls, path: Path, now: Now = utc_now) -> FileStore:
        """Open or make the folder, and bring its index up to the files.

        Raises StoreUnavailable where the disk refuses or another process has it.
        """
        folder = Folder.open(path)
        known: set[str] = set()
        try:
            index = open_index(path / INDEX)

            def batches() -> FileBatches:
                return FileBatches(folder, index.writer(), index.statements, now, known)

            first = batches()
            try:
                first.know_all()
            finally:
                first.close()
        except (apsw.Error, OSError) as cause:
            folder.close()
            raise StoreUnavailable(f"the tapes of {path} cannot be read: {cause}") from cause
        except BaseException:
            folder.close()
            raise
        return cls(folder, index, WriterThread(batches), known)

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        """Put a batch on a tape; see the contract in `tape.store`."""
        self._refuse_when_closed()
        outcomes = await self._writer.submit(Unit([Append(tape, tuple(entries), key)]))
        return list(outcomes[0].entries)

    async def take_in(self, tape: str, batch: Batch) -> None:
        """Put a batch on a tape, as one block of lines; other writes wait until it is there."""
        self._refuse_when_closed()
        await self._writer.submit(Unit([TakeIn(tape, batch)]))

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query: small ones at once, long ones in the reader thread."""
        await self._read_through(query.tape)
        bounded = query.limit is not None and query.limit <= SMALL_READ
        few = bounded or query.turn is not None or query.ids is not None
        if query.text is None and few:
            return self._here().query(query)
        return await self._in_thread(lambda reader: reader.query(query))

    async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Look through the newest entries of a query, MOST_SCANNED of them, in the reader thread.

        What is older is found where `before`, dates or another condition leave out what is newer.
        """
        await self._read_through(query.tape)
        scan = scanning(query, wanted, MAX_SCANNED)
        return await self._in_thread(lambda reader: scan_here(scan, reader.query).hits)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        """List the tapes whose names begin with a prefix."""
        found = await self._in_thread(lambda reader: reader.tapes(prefix))
        return [info for info in found if info.size]

    async def size(self, tape: str) -> int:
        """Return the id of a tape's newest entry."""
        await self._read_through(tape)
        return self._here().size(tape)

    async def close(self) -> None:
        """Write what was submitted, then let go of the folder."""
        if self._closed:
            return
        self._closed = True
        await self._writer.close()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._reading, self._close_threaded)
        self._reading.shutdown()
        if self._inline is not None:
            self._inline.close()
        self._folder.close()

    async def _read_through(self, tape: str) -> None:
        """Have a tape's file checked before anything of it is believed."""
        self._refuse_when_closed()
        if tape not in self._known and self._folder.file_of(tape).exists():
            await self._writer.submit(know(tape))

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("the tape store is closed")

    def _here(self) -> FileReader:
        self._refuse_when_closed()
        if self._inline is None:
            self._inline = FileReader.open(self._index, self._folder)
        return self._inline

    async def _in_thread(self, read: Callable[[FileReader], T]) -> T:
        self._refuse_when_closed()
        return await asyncio.get_running_loop().run_in_executor(
            self._reading, lambda: read(self._of_thread())
        )

    def _of_thread(self) -> FileReader:
        if self._threaded is None:
            self._threaded = FileReader.open(self._index, self._folder)
        return self._threaded

    def _close_threaded(self) -> None:
        if self._threaded is not None:
            self._threaded.close()


class FileReader(Reader):
    """A read-only connection to the index, and the file of the tape that is being asked."""

    def __init__(
        self, connection: apsw.Connection, statements: Mapping[str, str], folder: Folder
    ) -> None:
        super().__init__(connection, statements)
        self._folder = folder
        self._file = -1
        connection.create_scalar_function("line_says", self._line_says, 3)

    @classmethod
    def open(cls, index: Database, folder: Folder) -> FileReader:
        """Make a reader; for the thread that makes it."""
        return cls(index.read_connection(), index.statements, folder)

    def query(self, query: Query) -> list[Entry]:
        """Answer a query."""
        if self._file >= 0:  # where the anchors stand that it names
            return super().query(query)
        with self._opened(query.tape):
            return super().query(query)

    @contextmanager
    def _opened(self, tape: str) -> Iterator[None]:
        """Hold the file of a tape, where it has one."""
        path = self._folder.file_of(tape)
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            yield
            return
        except OSError as cause:
            raise StoreUnavailable(f"{path} cannot be read: {cause.strerror}") from cause
        try:
            yield
        finally:
            os.close(self._file)
            self._file = -1

    def _entries(self, rows: Sequence[Sequence[Any]]) -> list[Entry]:
        return [self._entry(at, size) for _id, at, size in rows]

    def _line_says(self, *values: Any) -> bool:
        at, size, folded = values
        entry = self._entry(at, size)
        return folded in fold(entry_text(entry.kind, entry.payload))

    def _entry(self, at: int, size: int) -> Entry:
        try:
            return unseal(os.pread(self._file, size, at)).entry
        except (OSError, ValueError) as cause:
            raise StoreUnavailable(f"a tape's file changed while it was read: {cause}") from cause
