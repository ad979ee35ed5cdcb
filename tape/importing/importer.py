"""Import a JSONL file, written by Tapeway or another tool, into a tape, with repairs if needed.

The file is read as a stream, several times with the same result, so that a million lines need
little memory. Entries get new ids from 1 without gaps, and references to old ids are updated. The
tape must be empty or hold the beginning of the file and nothing else. An import is atomic.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final

from anyio import to_thread

from tape.entry import ANCHOR, EVENT, SESSION_START, Entry, NewEntry, bootstrap
from tape.errors import AppendRefused
from tape.fork_block import META
from tape.importing.normalize import Raw, read_raw
from tape.query import Query
from tape.store import BatchStore, TapeStore
from tape.turn_events import ENTRY_LISTS
from tape.unit_of_work import Batch

PAGE: Final = 500  # the number of entries that a comparison reads at once
MAX_LINES_LISTED: Final = 20
"""Maximum line numbers to list for each repair; all of them are counted."""

_LISTS: Final = (*ENTRY_LISTS, "entries")


@dataclass(slots=True)
class ImportReport:
    """The result of reading a file.

    lines     number of lines in the file
    entries   number of entries in the file
    size      number of entries on a tape, with the bootstrap
    left_out  number of lines that are not entries
    mended    maps each repair's description to the number of repairs
    where     maps each repair's description to the first line numbers
    """

    lines: int = 0
    entries: int = 0
    size: int = 0
    left_out: int = 0
    mended: dict[str, int] = field(default_factory=dict)
    where: dict[str, list[int]] = field(default_factory=dict)

    def note(self, what: str) -> None:
        self.mended[what] = self.mended.get(what, 0) + 1
        lines = self.where.setdefault(what, [])
        if len(lines) < MAX_LINES_LISTED:
            lines.append(self.lines)


@dataclass(slots=True)
class _Ids:
    """Maps old ids to new ones, stored as runs: a million consecutive ids are one run."""

    starts: list[int] = field(default_factory=list)
    runs: list[tuple[int, int]] = field(default_factory=list)

    def add(self, old: int, new: int) -> None:
        if self.runs:
            start, length = self.runs[-1]
            if old == self.starts[-1] + length and new == start + length:
                self.runs[-1] = (start, length + 1)
                return
        at = bisect_right(self.starts, old)
        self.starts.insert(at, old)
        self.runs.insert(at, (new, 1))

    def find(self, old: int) -> int | None:
        at = bisect_right(self.starts, old) - 1
        if at < 0:
            return None
        start, length = self.runs[at]
        return start + old - self.starts[at] if old < self.starts[at] + length else None


class Import:
    """Imports one file: call `examine`, then `write`.

    doing     the current phase: reading, comparing, or writing
    existing  number of the file's entries that the tape already has, after `examine`
    """

    def __init__(self, store: TapeStore, tape: str, path: Path) -> None:
        self._store = store
        self._tape = tape
        self._path = path
        self.report = ImportReport()
        self._second = ImportReport()
        self.doing = "reading"
        self.existing = 0

    @property
    def done(self) -> int:
        """Lines read in the current phase, of `report.lines` (except in the first phase)."""
        return self.report.lines if self.doing == "reading" else self._second.lines

    async def examine(self) -> ImportReport:
        """Read the file and compare it with the tape; raises AppendRefused if they conflict."""
        await to_thread.run_sync(_examine, self._path, self.report)
        self.existing = min(await self._store.size(self._tape), self.report.size)
        if self.existing:
            self.doing = "comparing"
            await self._compare(await self._store.size(self._tape))
        return self.report

    async def write(self) -> int:
        """Append the missing entries atomically, and return their number."""
        rest = self.report.size - self.existing
        if not rest:
            return 0
        self.doing, self._second = "writing", ImportReport()
        batch = Batch(lambda: _entries(self._path, self._second), self.existing, rest)
        if isinstance(self._store, BatchStore):
            await self._store.append_batch(self._tape, batch)
        else:
            entries = await to_thread.run_sync(lambda: list(batch))
            await self._store.append(self._tape, entries, f"import:{self.report.size}")
        return rest

    async def _compare(self, size: int) -> None:
        entries = _entries(self._path, self._second)
        at = 0
        while at < size:
            expected = await to_thread.run_sync(lambda: list(islice(entries, PAGE)))
            found = await self._store.query(Query(self._tape, after=at, limit=PAGE))
            for new, entry in zip_longest(expected, found):
                if entry is not None and not _same(new, entry):
                    raise AppendRefused(
                        f"the tape differs from this file from entry {entry.id} on: import the file"
                        " under another name; nothing was imported"
                    )
            at += PAGE


def _examine(path: Path, report: ImportReport) -> None:
    """Read the whole file into a report; raises AppendRefused if the file is not a tape."""
    for _entry in _entries(path, report):
        report.size += 1
    if not report.entries or report.left_out > report.entries:
        raise AppendRefused(
            f"{path.name} is not a tape: {report.left_out} of {report.lines} lines are"
            " not entries (JSON objects with kind, payload and date); nothing was imported"
        )


def _entries(path: Path, report: ImportReport) -> Iterator[NewEntry]:
    """Yield the file's entries as an empty tape would get them, the bootstrap first."""
    ids = _Ids()
    number, newest, date = 0, 0, ""
    for raw in _raws(path, report):
        if number == 0 and (raw.kind != ANCHOR or raw.payload["name"] != SESSION_START):
            report.note("no session/start: added before the first entry")
            for new in bootstrap():
                number += 1
                yield replace(new, date=raw.date)
        number += 1
        report.entries += 1
        newest = _note_order(raw, newest, report)
        date = raw.date or date
        yield _renamed(raw, ids, date, report)
        if raw.id is not None and ids.find(raw.id) is None:
            ids.add(raw.id, number)


def _same(new: NewEntry | None, entry: Entry) -> bool:
    return new is not None and (
        (new.kind, new.payload, new.meta) == (entry.kind, entry.payload, entry.meta)
        and new.date in ("", entry.date)
    )


def _raws(path: Path, report: ImportReport) -> Iterator[Raw]:
    previous = b""
    with path.open("rb") as file:
        for line in file:
            report.lines += 1
            text = line.removeprefix(b"\xef\xbb\xbf") if report.lines == 1 else line
            text = text.strip()
            if not text:
                continue
            raw = read_raw(text, report.note)
            if raw is None:
                report.note("not an entry: left out")
                report.left_out += 1
            elif text == previous and raw.id is not None:
                report.note("duplicate line: left out")
            else:
                previous = text
                yield raw


def _note_order(raw: Raw, newest: int, report: ImportReport) -> int:
    if raw.id is None:
        report.note("no id: assigned one")
        return newest
    if newest and raw.id > newest + 1:
        report.note("ids are missing before this line: renumbered")
    elif raw.id <= newest:
        report.note("duplicate id: assigned a new one")
    return max(newest, raw.id)


def _renamed(raw: Raw, ids: _Ids, date: str, report: ImportReport) -> NewEntry:
    """Return an entry whose references have the new ids."""
    payload, meta = raw.payload, raw.meta
    data = payload.get("data")
    if raw.kind == EVENT and isinstance(data, dict):
        payload = {**payload, "data": _data(data, ids, report)}
    for name in META:
        if type(meta.get(name)) is int:
            found = ids.find(meta[name])
            meta = {key: value for key, value in meta.items() if key != name or found}
            if found is None:
                report.note(f"{name} refers to an entry that is not before it: removed")
            else:
                meta[name] = found
    return NewEntry(raw.kind, payload, meta, date)


def _data(data: dict[str, Any], ids: _Ids, report: ImportReport) -> dict[str, Any]:
    changed = dict(data)
    for name in _LISTS:
        numbers = data.get(name)
        if isinstance(numbers, list) and all(type(number) is int for number in numbers):
            found = [ids.find(number) for number in numbers]
            changed[name] = [number for number in found if number is not None]
            if None in found:
                report.note(f"{name} refers to entries that are not before it: removed")
    if type(data.get("entry")) is int:
        found_entry = ids.find(data["entry"])
        if found_entry is None:
            report.note("entry refers to an entry that is not before it: set to 0")
        changed["entry"] = found_entry or 0
    return changed
