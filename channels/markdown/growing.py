"""Parses each block of an answer that grows once.

A block has ended where the next one stands behind a blank line and its first line is complete:
nothing that follows changes what is before. Nothing reaches over a blank line but lists, code and
HTML, and what these take in is no block beside them; links are not defined elsewhere in a text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from threading import Lock
from typing import Final, NamedTuple

from channels.markdown.literal import without_wide_stops
from channels.markdown.rows import Rows, rows_of
from channels.markdown.segment import MarkdownEvent, Read, Segment, read_segment

MAX_TEXTS: Final = 8
"""Maximum texts whose parse is kept whole."""

MAX_GROWING: Final = 256
"""Maximum answers of which the blocks that have ended are kept."""

MAX_EVENTS: Final = 20_000
"""Maximum events that are kept of the texts, and the same of the blocks: some megabytes."""

KEY: Final = 64
"""How many characters of a text say which answer it may be; a shorter one is parsed whole."""


class BlockRange(NamedTuple):
    """A part of a text that the rest changes nothing in: its positions, and those of its events."""

    start: int
    end: int
    first: int
    last: int


class Parsed(NamedTuple):
    """What is known of a text.

    events  its events, in source order
    signs   the positions of what looks like a mark and is none, some of them inside code
    cuts    where blocks have ended
    """

    events: list[MarkdownEvent]
    signs: list[int]
    cuts: list[_Cut]

    def blocks(self, text: str) -> Iterator[BlockRange]:
        """Yield the parts of the text; all but the last have ended."""
        start = first = 0
        for cut in self.cuts:
            yield BlockRange(start, cut.place, first, cut.events)
            start, first = cut.place, cut.events
        yield BlockRange(start, len(text), first, len(self.events))


class _Cut(NamedTuple):
    """Where a block has ended and the next one begins.

    place          where that one begins
    known          how much of the text says so
    events, signs  how many there are before it
    letters        which letters stand for wide punctuation there
    """

    place: int
    known: int
    events: int
    signs: int
    letters: dict[str, int]


_START: Final = _Cut(0, 0, 0, 0, {})


class _Ended(NamedTuple):
    """What was read of a text behind a cut, and where blocks have ended in it."""

    text: str
    cut: _Cut
    segment: Segment
    more: list[_Cut]

    def rows(self) -> Rows | None:
        """Return the rows of the table that the text ends in, if it is to be kept."""
        place, letters = self.cut.place, self.cut.letters
        return rows_of(
            self.text, place, self.segment, lambda last: _letters(self.text[place:last], letters)
        )


@dataclass(slots=True)
class _Growing:
    """The blocks of an answer that have ended: `text` is what the last cut knows."""

    text: str = ""
    cuts: list[_Cut] = field(default_factory=list)
    events: list[MarkdownEvent] = field(default_factory=list)
    signs: list[int] = field(default_factory=list)
    rows: Rows | None = None

    @property
    def size(self) -> int:
        """How many events are kept."""
        return len(self.events) + (len(self.rows.events) if self.rows is not None else 0)

    def rows_in(self, text: str, cut: _Cut) -> Rows | None:
        """Return the rows behind a cut that a text has as well."""
        rows = self.rows
        if rows is None or rows.since != cut.place or not text.startswith(rows.text):
            return None
        return rows

    def last_in(self, text: str) -> _Cut:
        """Return the last cut that a text has as well."""
        at = bisect_right(self.cuts, common(self.text, text), key=attrgetter("known"))
        return self.cuts[at - 1] if at else _START

    def cuts_to(self, cut: _Cut) -> list[_Cut]:
        """Return the cuts up to one, with that one."""
        return self.cuts[: bisect_right(self.cuts, cut.place, key=attrgetter("place"))]

    def end(self, ended: _Ended) -> None:
        """Add the blocks that have ended behind a cut, or the rows of the table that goes on."""
        cut, more, segment = ended.cut, ended.more, ended.segment
        if not more:
            rows = ended.rows()
            if rows is not None and not (self.rows and self.rows.text.startswith(rows.text)):
                self.rows = rows
            return
        if self.cuts and self.cuts[-1].known >= more[-1].known:
            return
        del self.cuts[bisect_right(self.cuts, cut.place, key=attrgetter("place")) :]
        del self.events[cut.events :]
        del self.signs[cut.signs :]
        last = more[-1]
        self.cuts += more
        self.events += segment.events[: last.events - cut.events]
        self.signs += segment.signs[: last.signs - cut.signs]
        self.text, self.rows = ended.text[: last.known], None


class Parses:
    """What is kept of the texts that were parsed last, for any thread.

    `read` parses a part of a text, and so many characters (`key`) say which answer one may be.
    """

    def __init__(self, read: Read = read_segment, key: int = KEY) -> None:
        self._read = read
        self._key = key
        self._lock = Lock()
        self._texts: OrderedDict[str, Parsed] = OrderedDict()
        self._growing: OrderedDict[str, _Growing] = OrderedDict()
        self._kept = self._ended = 0  # events

    def sizes(self) -> tuple[int, int, int, int]:
        """Return how many texts and events of these are kept, and how many answers and events."""
        return len(self._texts), self._kept, len(self._growing), self._ended

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._texts.clear()
            self._growing.clear()
            self._kept = self._ended = 0

    def of(self, text: str) -> Parsed:
        """Return what is known of a text; nobody may change it."""
        with self._lock:
            if (known := self._texts.get(text)) is not None:
                self._texts.move_to_end(text)
                return known
            growing = self._growing.get(text[: self._key])
            cut = growing.last_in(text) if growing is not None else _START
            events = growing.events[: cut.events] if growing is not None else []
            signs = growing.signs[: cut.signs] if growing is not None else []
            cuts = growing.cuts_to(cut) if growing is not None else []
            rows = growing.rows_in(text, cut) if growing is not None else None
        segment = rows.read(text, self._read) if rows is not None else None
        if segment is None:
            segment = self._read(text, cut.place, dict(cut.letters))
        if cut.place and not segment.whole:
            cut, events, signs, cuts = _START, [], [], []
            segment = self._read(text, 0, {})
        more = _cuts(text, cut, segment)
        if cut.place:
            found = Parsed(events + segment.events, signs + segment.signs, cuts + more)
        else:
            found = Parsed(segment.events, segment.signs, more)
        is_table = bool(segment.events) and segment.events[-1].name == "Table"
        with self._lock:
            self._keep(text, found)
            if (more or is_table) and len(text) > self._key:
                self._end(_Ended(text, cut, segment, more))
        return found

    def _keep(self, text: str, found: Parsed) -> None:
        if text not in self._texts:
            self._kept += len(found.events)
        self._texts[text] = found
        while len(self._texts) > MAX_TEXTS or (self._kept > MAX_EVENTS and len(self._texts) > 1):
            _text, oldest = self._texts.popitem(last=False)
            self._kept -= len(oldest.events)

    def _end(self, ended: _Ended) -> None:
        key = ended.text[: self._key]
        growing = self._growing.get(key) or _Growing()
        before = growing.size
        if ended.cut.place and ended.cut not in growing.cuts:
            return  # another thread has taken it away
        growing.end(ended)
        if not growing.size:
            return
        self._ended += growing.size - before
        self._growing[key] = growing
        self._growing.move_to_end(key)
        while len(self._growing) > MAX_GROWING or self._ended > MAX_EVENTS:
            _key, oldest = self._growing.popitem(last=False)
            self._ended -= oldest.size


def common(one: str, other: str) -> int:
    """Return how many characters two texts begin with that are the same."""
    if other.startswith(one):
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _cuts(text: str, cut: _Cut, segment: Segment) -> list[_Cut]:
    """Return where blocks have ended in what was read behind a cut."""
    cuts: list[_Cut] = []
    if not segment.whole or text.find("\n\n", cut.place) < 0:
        return cuts
    depth = signs = 0
    last, letters = cut.place, cut.letters
    for number, event in enumerate(segment.events):
        if event.phase == "close":
            depth -= 1
            continue
        if not depth and (known := _ended_at(text, event.start, last, segment.hold)):
            while signs < len(segment.signs) and segment.signs[signs] < event.start:
                signs += 1
            letters = _letters(text[last : event.start], letters)
            last = event.start
            cuts.append(_Cut(last, known, cut.events + number, cut.signs + signs, letters))
        depth += event.phase == "open"
    return cuts


def _ended_at(text: str, place: int, last: int, hold: int) -> int:
    """Return how much of a text says that what stands before a block has ended; 0 if none does."""
    if not last < place <= hold or text[place] in " \t\r":
        return 0
    return text.find("\n", place) + 1 if text.startswith("\n\n", place - 2) else 0


def _letters(part: str, letters: dict[str, int]) -> dict[str, int]:
    """Return the letters that stand for wide punctuation behind a part of a text."""
    if part.isascii():
        return letters
    more = dict(letters)
    without_wide_stops(part, more)
    return more
