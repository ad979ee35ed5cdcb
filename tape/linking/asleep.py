"""What is left of the messages that a room's window has forgotten, to find sleeping lanes by."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from struct import error
from sys import getsizeof
from typing import Final, NamedTuple

REACH: Final = 800
"""Messages before a room's window of which an outline is kept."""

BYTES_AN_OUTLINE: Final = 190  # without its words

MAX_LANES: Final = 300
"""Maximum lanes of which outlines are kept; the one that has slept longest is dropped first."""


UNREADABLE: Final = (ValueError, TypeError, LookupError, AttributeError, OverflowError, error)
"""What is raised for data that is not what was written."""


class Outline(NamedTuple):
    """What is left of a message beside its words; one of the agent's has no author."""

    lane: str
    key: str
    author: str
    minute: int


class Outlines(NamedTuple):
    """Outlines, oldest first: `row` has a character for each of their words, `sizes` how many."""

    outlines: list[Outline]
    row: str
    sizes: array[int]


@dataclass(frozen=True, slots=True)
class Closed:
    """Outlines as they were written: in blocks, which may have some that are too old by now."""

    blocks: tuple[bytes, ...]
    read: Callable[[bytes], Outlines]


class Asleep:
    """The outlines of at most `reach` messages, oldest first; `lanes` counts those of each lane.

    They depend on these messages alone, so that a room that is read from the tape has the same.
    """

    __slots__ = ("_closed", "_lanes", "_later", "_outlines", "_row", "_sizes", "reach")

    def __init__(self, reach: int = REACH, closed: Closed | None = None) -> None:
        """`closed` is what was kept before, and read if it is needed."""
        self.reach = reach
        self._closed = closed
        self._later: list[tuple[Outline, Iterable[int]]] = []
        self._outlines: list[Outline] = []
        self._lanes: dict[str, int] = {}
        # A character stands for each word: to search a row of them is fast, and takes a tenth of
        # the memory that a map of words to lanes would.
        self._row = ""
        self._sizes = array("B")

    def __len__(self) -> int:
        return len(self.outlines)

    def __iter__(self) -> Iterator[tuple[Outline, array[int]]]:
        """Give each outline with its words."""
        end = 0
        for outline, size in zip(self.outlines, self._sizes, strict=True):
            start, end = end, end + size
            yield outline, array("H", map(ord, self._row[start:end]))

    @property
    def outlines(self) -> list[Outline]:
        self._open()
        return self._outlines

    @property
    def lanes(self) -> dict[str, int]:
        self._open()
        return self._lanes

    @property
    def size(self) -> int:
        """About how many bytes the outlines take."""
        count = len(self._outlines) + len(self._later)
        closed = sum(map(len, self._closed.blocks)) if self._closed is not None else 0
        return closed + BYTES_AN_OUTLINE * count + getsizeof(self._row)

    def parts(self, most: int) -> tuple[tuple[bytes, ...], Outlines]:
        """Return the blocks of what was not read, if they are fewer than `most`, and the rest."""
        if self._closed is None or len(self._closed.blocks) >= most:
            return (), Outlines(self.outlines, self._row, self._sizes)
        later = Asleep(self.reach)
        for outline, words in self._later:
            later.add(outline, words)
        return self._closed.blocks, later.parts(most)[1]

    def add(self, outline: Outline, words: Iterable[int]) -> None:
        """Keep the outline of the message that the window has just forgotten."""
        if self._closed is not None:
            self._later.append((outline, words))
            return
        before = len(self._row)
        self._row += "".join(map(chr, words))
        self._sizes.append(len(self._row) - before)
        self._outlines.append(outline)
        self._lanes[outline.lane] = self._lanes.get(outline.lane, 0) + 1
        self._trim()

    def holders(self, words: Iterable[int], most: int) -> dict[int, list[int]]:
        """Map words to the places of the outlines that hold them, without what more hold."""
        self._open()
        ends = list(accumulate(self._sizes))
        found = {}
        for word in words:
            places = list(islice(self._places(chr(word), ends), most + 1))
            if 0 < len(places) <= most:
                found[word] = places
        return found

    def _open(self) -> None:
        if self._closed is None:
            return
        closed, later = self._closed, self._later
        self._closed, self._later = None, []
        for block in closed.blocks:
            try:
                outlines, row, sizes = closed.read(block)
            except UNREADABLE:  # a room does without, and no message waits for it
                continue
            self._outlines += outlines
            self._row += row
            self._sizes += sizes
        for outline in self._outlines:
            self._lanes[outline.lane] = self._lanes.get(outline.lane, 0) + 1
        for outline, words in later:
            self.add(outline, words)
        self._trim()

    def _trim(self) -> None:
        while len(self._outlines) > self.reach or len(self._lanes) > MAX_LANES:
            self._drop()

    def _drop(self) -> None:
        lane = self._outlines.pop(0).lane
        self._row = self._row[self._sizes.pop(0) :]
        self._lanes[lane] -= 1
        if not self._lanes[lane]:
            del self._lanes[lane]

    def _places(self, word: str, ends: list[int]) -> Iterator[int]:
        """Give the places of the outlines that hold a word."""
        at = -1
        while (at := self._row.find(word, at + 1)) >= 0:
            yield bisect_right(ends, at)
