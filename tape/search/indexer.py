"""Index the tapes in a thread, and record with a cursor how far it got.

Rows and cursor are written in one transaction, so that a crash neither loses nor repeats an entry.
New entries come first, then older ones from new to old, so that a new index soon covers the recent
past. The thread works for a few milliseconds, then pauses for as long, because Python runs only one
thread at a time; it gives way to what is urgent, unless somebody waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final

import apsw

from tape.database.connection import Database, Reader
from tape.database.staging import STAGING
from tape.entry import MESSAGE, Entry, dump
from tape.erasing import erased_on
from tape.errors import TapeError
from tape.fork import INFIX
from tape.query import Query
from tape.right_of_way import RightOfWay
from tape.rollups import BLOCK_IDS, blocks_of, counts_of
from tape.search.edits import edited_ids, with_newest
from tape.search.index_file import BROKEN, IDS_PER_TAPE, IndexFile, index_schema, settle_file
from tape.search.index_rows import SPAN, Row, row_of, table_of

GATHER_SECONDS: Final = 0.2
"""Seconds to wait for more entries, because each transaction adds a segment to the index."""

BATCH: Final = 2000  # maximum entries in one transaction
PAGE: Final = 250  # maximum entries to read at once, because an entry may be large
SLICE_SECONDS: Final = 0.002  # seconds of work, after which the thread pauses for as long
RETRY_SECONDS: Final = (1.0, 5.0, 30.0)
"""Seconds to wait after the first, the second, and each further failure in a row."""

ToForget = tuple[str, Sequence[int], Future[None]]


class _Stopped(Exception):
    """Raised in the thread to end it."""


class Indexer:
    """Runs the thread that has an index's only writing connection."""

    def __init__(self, database: Database, file: IndexFile) -> None:
        self._database = database
        self._file = file
        self.way = RightOfWay()
        self._is_awaited = False
        self._sql = {
            name.removeprefix("search."): sql for name, sql in index_schema().statements.items()
        }
        self._closing = threading.Event()
        self._woken = threading.Event()
        self._hurry = threading.Event()
        self._awaited: list[Future[None]] = []
        self._noted = threading.Lock()
        self._written: dict[int, str] = {}
        self._to_forget: list[ToForget] = []
        self._rebuild = False
        self._planned = False
        self.checked = False
        self._fresh: dict[int, str] = {}
        self._older: dict[int, tuple[str, int]] = {}
        self._index: apsw.Connection | None = None
        self._tapes: Reader | None = None
        self._slice_end = 0.0
        self.problem = ""
        self._thread = threading.Thread(target=self._run, name="tape-indexer", daemon=True)
        self._thread.start()

    def wrote(self, tapes: Mapping[int, str]) -> None:
        """Note that these tapes have new entries; returns fast, for the store's writing thread."""
        with self._noted:
            self._written.update(tapes)
        self._woken.set()

    def rebuild(self) -> None:
        """Delete the index, and build a new one in the background."""
        self._rebuild = True
        self._planned = False
        self._woken.set()

    def forget(self, tape: str, ids: Sequence[int]) -> Future[None]:
        """Remove entries from the index; done when the file no longer has their words."""
        done: Future[None] = Future()
        with self._noted:
            self._to_forget.append((tape, ids, done))
        self._woken.set()
        return done

    def look(self) -> None:
        """Compare the index with the tapes now, without waiting for more entries."""
        self._hurry.set()
        self._woken.set()

    def indexed(self) -> Future[None]:
        """Index everything that is on the tapes now; the future is done when that is indexed."""
        done: Future[None] = Future()
        with self._noted:
            self._awaited.append(done)
        self.look()
        return done

    @property
    def ready(self) -> bool:
        """Whether the index has every entry that this thread knows of."""
        with self._noted:
            idle = not self._written and not self._rebuild
        return self._planned and idle and not self._fresh and not self._older

    @property
    def left(self) -> int:
        return sum(low - 1 for _name, low in list(self._older.values()))

    def close(self) -> None:
        """End the thread and wait for it; after a restart, the rest is indexed."""
        self._closing.set()
        self._hurry.set()
        self._woken.set()
        index = self._index
        if index is not None:
            index.interrupt()
        self._thread.join()

    def _run(self) -> None:
        failures, pause = 0, GATHER_SECONDS
        while True:
            self._hurry.wait(pause)
            if self._closing.is_set():
                break
            try:
                busy = self._step()
            except _Stopped:
                break
            except Exception as cause:  # tapes and searches must go on, whatever the error
                self._failed(cause)
                pause = RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)]
                failures += 1
                continue
            failures, self.problem = 0, ""
            pause = 0.0 if busy else GATHER_SECONDS
            if not busy:
                self._settle()
                self._woken.wait()
                self._woken.clear()
        self._let_go()
        with self._noted:
            for done in (*self._awaited, *(done for _tape, _ids, done in self._to_forget)):
                done.cancel()

    def _settle(self) -> None:
        with self._noted:
            if self._written or self._rebuild:
                return
            awaited, self._awaited = self._awaited, []
        self._hurry.clear()
        for done in awaited:
            if done.set_running_or_notify_cancel():
                done.set_result(None)

    def _failed(self, cause: Exception) -> None:
        if self._closing.is_set():
            return
        self.problem = f"the search index cannot be written: {cause}"
        self._planned = False
        self._let_go()
        if isinstance(cause, BROKEN):
            self._rebuild = True
            self.checked = False

    def _let_go(self) -> None:
        if self._index is not None:
            with suppress(apsw.Error):  # one that is still interrupted would leave its log behind
                self._index.execute("SELECT 1")
            self._index.close()
        if self._tapes is not None:
            self._tapes.close()
        self._index = self._tapes = None

    def _step(self) -> bool:
        """Index the entries of one transaction; return whether more work is waiting."""
        if self._rebuild or not self._file.path.exists():
            self._let_go()
            self._rebuild = self._planned = self.checked = False
            self._file.drop()
        if self._index is None or self._tapes is None:
            self._index = self._file.writer()
            self._tapes = self._database.reader()
        if not self._planned:
            self._plan(self._index, self._tapes)
        with self._noted:
            self._fresh |= {n: name for n, name in self._written.items() if is_indexed(name)}
            self._written.clear()
        while job := self._next_to_forget():
            self._forget(self._index, *job)
        if self._fresh or self._older:
            self._transact(self._index, self._tapes)
        return bool(self._fresh or self._older)

    def _next_to_forget(self) -> ToForget | None:
        # Take one tape at a time: if it fails, the others are still queued.
        with self._noted:
            return self._to_forget.pop(0) if self._to_forget else None

    def _plan(self, index: apsw.Connection, tapes: Reader) -> None:
        """Find what the index lacks; raises CorruptError if the index does not match the tapes."""
        self._fresh, self._older = {}, {}
        found = {row["tape"]: row for row in tapes.select("tape.newest_ids", {})}
        places: dict[int, str] = {}
        for tape, name, low, high, mark in index.execute(self._sql["all_covered"]):
            row = found.pop(tape, None)
            if row is None or row["name"] != name or row["newest"] < high:
                raise apsw.CorruptError("the index belongs to other tapes")
            if high >= low:
                places[tape * IDS_PER_TAPE + high] = mark
            if row["newest"] > high:
                self._fresh[tape] = name
            if low > 1:
                self._older[tape] = (name, low)
        dates = tapes.select("tape.dates_at", {"places": dump(list(places))})
        if {row["pos"]: row["date"] for row in dates} != places:
            raise apsw.CorruptError("the tapes have another history than the index")
        for tape, row in found.items():
            if row["newest"] and is_indexed(row["name"]):
                self._fresh[tape] = row["name"]
        self._planned = self.checked = True

    def _transact(self, index: apsw.Connection, tapes: Reader) -> None:
        index.execute("BEGIN IMMEDIATE")
        self._is_awaited = False
        try:
            self._slice_end = time.perf_counter() + SLICE_SECONDS
            room = BATCH
            while room > 0 and (self._fresh or self._older):
                room -= self._newer(tapes, room) if self._fresh else self._more(tapes, room)
            index.execute("COMMIT")
        except BaseException:
            self._planned = False
            if index.in_transaction:
                index.execute("ROLLBACK")
            raise

    def _newer(self, tapes: Reader, room: int) -> int:
        tape, name = next(iter(self._fresh.items()))
        rows = self._write("covered", {"name": name})
        if rows and rows[0][0] == tape:
            _, low, high = rows[0]
        else:
            if rows:  # an import has replaced the tape by a longer one
                self._uncover(rows[0][0])
            low = max(tapes.size(name) - room + 1, 1)
            high = low - 1
            self._write("cover", {"tape": tape, "name": name, "low": low})
            if low > 1:
                self._older[tape] = (name, low)
        entries = tapes.query(Query(name, after=high, limit=min(room, PAGE)))
        is_end = len(entries) < min(room, PAGE)
        if entries:
            changed = [number for number in edited_ids(entries) if low <= number <= high]
            asked = Query(name, ids=tuple(changed), kinds=(MESSAGE,))
            again = tapes.query(asked) if changed else []
            for entry in again:
                self._write("forget_talk", (tape * IDS_PER_TAPE + entry.id,))
            self._put(tape, None if is_end and not again else tapes, name, [*again, *entries])
            self._count(tape, entries)
            upto = {"tape": tape, "high": entries[-1].id, "mark": entries[-1].date}
            self._write("cover_newer", upto)
        if is_end:
            del self._fresh[tape]
        return len(entries) + 1

    def _uncover(self, tape: int) -> None:
        first = tape * IDS_PER_TAPE
        for table in ("talk", "work"):
            self._write(f"clear_{table}", {"first": first, "last": first + IDS_PER_TAPE - 1})
        for statement in ("clear_span", "clear_rollup", "clear_rollup_lane", "uncover"):
            self._write(statement, {"tape": tape})
        self._older.pop(tape, None)

    def _more(self, tapes: Reader, room: int) -> int:
        tape, (name, low) = next(iter(self._older.items()))
        first = max(low - room, 1)
        for start in range(first, low, PAGE):
            page = tapes.query(Query(name, after=start - 1, before=min(start + PAGE, low)))
            self._put(tape, tapes, name, page)
            self._count(tape, page)
        self._write("cover_older", {"tape": tape, "low": first})
        if first > 1:
            self._older[tape] = (name, first)
        else:
            del self._older[tape]
        return low - first

    def _put(self, tape: int, tapes: Reader | None, name: str, entries: Sequence[Entry]) -> None:
        """Index entries; without `tapes`, all their edits are among them."""
        entries = with_newest(name, entries, tapes.query if tapes else None)
        rows: dict[str, list[Row]] = {"talk": [], "work": []}
        spans: dict[int, tuple[str, str]] = {}
        for entry in entries:
            self._rest()
            row = row_of(tape * IDS_PER_TAPE + entry.id, entry)
            if row is not None:
                rows[table_of(entry.kind)].append(row)
            oldest, newest = spans.get(entry.id // SPAN, (entry.date, entry.date))
            spans[entry.id // SPAN] = (min(oldest, entry.date), max(newest, entry.date))
        for table, found in rows.items():
            for row in found:
                self._rest()
                self._write(f"add_{table}", row)
        for block, (oldest, newest) in spans.items():
            values = {"tape": tape, "block": block, "oldest": oldest, "newest": newest}
            self._write("add_span", values)

    def _count(self, tape: int, entries: Sequence[Entry]) -> None:
        counted = counts_of(entries)
        for row in counted.rows():
            self._write("add_rollup", {"tape": tape, **row})
        for row in counted.lane_rows():
            self._rest()
            self._write("add_rollup_lane", {"tape": tape, **row})

    def _recount_lanes(self, name: str, part: tuple[int, int, int], ids: Sequence[int]) -> None:
        """Count the lanes of the blocks that have these ids once more, as the tape has them now."""
        assert self._tapes is not None
        tape, low, high = part
        for block in blocks_of(number for number in ids if low <= number <= high):
            first, end = max(low, block * BLOCK_IDS), min(high + 1, (block + 1) * BLOCK_IDS)
            left = self._tapes.query(Query(name, after=first - 1, before=end))
            self._write("recount_lanes", {"tape": tape, "slot": block})
            for row in counts_of(left).lane_rows():
                self._write("add_rollup_lane", {"tape": tape, **row})

    def _forget(
        self, index: apsw.Connection, tape: str, ids: Sequence[int], done: Future[None]
    ) -> None:
        """Remove entries from the index, and index once more what is left of their words."""
        done.set_running_or_notify_cancel()
        self._is_awaited = True
        try:
            rows = self._write("covered", {"name": tape})
            with index:
                for at in range(0, len(ids) if rows else 0, PAGE):
                    self._index_left(tape, rows[0], ids[at : at + PAGE])
                if rows:
                    self._recount_lanes(tape, rows[0], ids)
            for table in ("talk", "work") if rows else ():
                self._write(f"settle_{table}", ())
            settle_file(index)
        except Exception as cause:
            if not done.cancelled():
                done.set_exception(
                    TapeError(f"the search index still has words of {tape}: {cause}")
                )
            raise
        if not done.cancelled():
            done.set_result(None)

    def _index_left(self, name: str, part: tuple[int, int, int], ids: Sequence[int]) -> None:
        assert self._tapes is not None
        tape, low, high = part
        left = self._tapes.query(Query(name, ids=tuple(ids)))
        if edited := edited_ids(left):
            left += self._tapes.query(Query(name, ids=tuple(edited), kinds=(MESSAGE,)))
        kept = {entry.id: entry for entry in left if low <= entry.id <= high}
        for number in {*ids, *kept}:
            place = (tape * IDS_PER_TAPE + number,)
            self._write("forget_talk", place)
            self._write("forget_work", place)
        self._put(tape, self._tapes, name, [one for one in kept.values() if not erased_on(one)])

    def _rest(self) -> None:
        if time.perf_counter() < self._slice_end:
            return
        if self._closing.wait(SLICE_SECONDS):
            raise _Stopped
        if not (self._is_awaited or self._awaited):
            self.way.give_in_thread(self._closing)
        self._slice_end = time.perf_counter() + SLICE_SECONDS

    def _write(self, statement: str, values: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
        assert self._index is not None
        return list(self._index.execute(self._sql[statement], values))


def is_indexed(name: str) -> bool:
    """Return whether a tape's words belong into an index; a fork's are indexed once merged."""
    return INFIX not in name and not name.startswith(STAGING)
