"""A tape's JSONL file, of ours or of another tool, as a batch for a tape, mended where it must be.

The file is read as a stream, as often as it is asked for, and gives the same entries each time, so
that a million lines need no memory. Ids are given anew, from 1 without gaps, and what names an
entry by its old id names it by its new one. The file goes on a tape that is empty, or on one that
holds its beginning and nothing else; in one act, or not at all.
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
from tape.importing.normalize import Raw, read_raw
from tape.query import Query
from tape.store import BatchStore, TapeStore
from tape.unit_of_work import Batch

PAGE: Final = 500
MAX_LINES_LISTED: Final = 20
"""So many lines of each kind of trouble are named; all are counted."""

_LISTS: Final = ("takes", "include", "entries")
_META: Final = ("prompt_of", "edit_of")


@dataclass(slots=True)
class ImportReport:
    """What was read and what was mended: counts, and the first lines, by what was the matter.

    `entries` were in the file, `size` is how many they are on a tape.
    """

    lines: int = 0
    entries: int = 0
    size: int = 0
    left_out: int = 0
    mended: dict[str, int] = field(default_factory=dict)
    where: dict[str, list[int]] = field(default_factory=dict)

    def note(self, what: str) -> None:
        """Note what is the matter with the line that is being read."""
        self.mended[what] = self.mended.get(what, 0) + 1
        told = self.where.setdefault(what, [])
        if len(told) < MAX_LINES_LISTED:
            told.append(self.lines)


@dataclass(slots=True)
class _Ids:
    """From old ids to new ones, kept as runs: a million that follow one another are one."""

    starts: list[int] = field(default_factory=list)
    runs: list[tuple[int, int]] = field(default_factory=list)

    def add(self, old: int, new: int) -> None:
        if self.runs:
            start, length = self.runs[-1]
            if old == self.starts[-1] + length and new == start + length:
                self.runs[-1] = (start, length + 1)
                return None
        if self.starts and old < self.starts[-1]:
            return self._insert(old, new)
        self.starts.append(old)
        self.runs.append((new, 1))
        return None

    def find(self, old: int) -> int | None:
        at = bisect_right(self.starts, old) - 1
        if at < 0:
            return None
        start, length = self.runs[at]
        return start + old - self.starts[at] if old < self.starts[at] + length else None

    def _insert(self, old: int, new: int) -> None:
        at = bisect_right(self.starts, old)
        self.starts.insert(at, old)
        self.runs.insert(at, (new, 1))


class TapeFile:
    """A file to be imported; `examine` it before its entries are asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def examine(self, report: ImportReport) -> ImportReport:
        """Read it through; raises AppendRefused where it is no tape."""
        for _entry in self.entries(report):
            report.size += 1
        if not report.entries or report.left_out > report.entries:
            raise AppendRefused(
                f"{self._path.name} is no tape: of {report.lines} lines {report.left_out} are no"
                " entries (JSON objects with kind, payload and date); nothing was imported"
            )
        return report

    def entries(self, report: ImportReport) -> Iterator[NewEntry]:
        """Give its entries in order, the bootstrap first, as they go on an empty tape."""
        ids = _Ids()
        number, newest, date = 0, 0, ""
        for raw in _raws(self._path, report):
            if number == 0 and not _begins(raw):
                report.note("the first entry: session/start put before it")
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


class Import:
    """One import, from the first look at the file to its end; `doing` and `done` tell how far.

    `done` is of `report.lines`, once those are known.
    """

    def __init__(self, store: TapeStore, tape: str, path: Path) -> None:
        self._store = store
        self._tape = tape
        self._file = TapeFile(path)
        self.report = ImportReport()
        self._second = ImportReport()
        self.doing = "reading"
        self.existing = 0

    @property
    def done(self) -> int:
        """How many lines were read so far, in what it is doing."""
        return self.report.lines if self.doing == "reading" else self._second.lines

    async def examine(self) -> ImportReport:
        """Read the file through and compare it with the tape; raises AppendRefused.

        `there` is then how many of its entries are on the tape already.
        """
        await to_thread.run_sync(self._file.examine, self.report)
        self.existing = min(await self._store.size(self._tape), self.report.size)
        if self.existing:
            self.doing = "comparing"
            await self._compare(await self._store.size(self._tape))
        return self.report

    async def write(self) -> int:
        """Put what is not there yet on the tape, in one act; returns how many entries that is."""
        rest = self.report.size - self.existing
        if not rest:
            return 0
        self.doing, self._second = "writing", ImportReport()
        batch = Batch(lambda: self._file.entries(self._second), self.existing, rest)
        if isinstance(self._store, BatchStore):
            await self._store.append_batch(self._tape, batch)
        else:
            entries = await to_thread.run_sync(lambda: list(batch))
            await self._store.append(self._tape, entries, f"import:{self.report.size}")
        return rest

    async def _compare(self, size: int) -> None:
        entries = self._file.entries(self._second)
        at = 0
        while at < size:
            wanted = await to_thread.run_sync(lambda: list(islice(entries, PAGE)))
            found = await self._store.query(Query(self._tape, after=at, limit=PAGE))
            for new, entry in zip_longest(wanted, found):
                if entry is not None and not _same(new, entry):
                    raise AppendRefused(
                        f"the tape has entries that are not this file's, from entry {entry.id} on:"
                        " import it under another name; nothing was imported"
                    )
            at += PAGE


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
                report.note("no entry: left out")
                report.left_out += 1
            elif text == previous and raw.id is not None:
                report.note("the same line once more: left out")
            else:
                previous = text
                yield raw


def _begins(raw: Raw) -> bool:
    return raw.kind == ANCHOR and raw.payload["name"] == SESSION_START


def _note_order(raw: Raw, newest: int, report: ImportReport) -> int:
    """Note ids that do not follow one another; returns the newest."""
    if raw.id is None:
        report.note("without an id: given one")
        return newest
    if newest and raw.id > newest + 1:
        report.note("ids are missing before it")
    elif raw.id <= newest:
        report.note("an id that was there before: given another")
    return max(newest, raw.id)


def _renamed(raw: Raw, ids: _Ids, date: str, report: ImportReport) -> NewEntry:
    """Return an entry whose references are to the new ids."""
    payload, meta = raw.payload, raw.meta
    data = payload.get("data")
    if raw.kind == EVENT and isinstance(data, dict):
        payload = {**payload, "data": _data(data, ids, report)}
    for name in _META:
        if type(meta.get(name)) is int:
            found = ids.find(meta[name])
            meta = {key: value for key, value in meta.items() if key != name or found}
            if found is None:
                report.note(f"its {name} is not in the file: taken off")
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
                report.note(f"{name} names entries that are not before it: taken off")
    if type(data.get("entry")) is int:
        found_entry = ids.find(data["entry"])
        if found_entry is None:
            report.note("names an entry that is not before it")
        changed["entry"] = found_entry or 0
    return changed
