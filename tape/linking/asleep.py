"""What is left of the messages that a room's window has forgotten, to find sleeping lanes by."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import Final, NamedTuple

REACH: Final = 800
"""Messages before a room's window of which an outline is kept."""

MAX_LANES: Final = 300
"""Maximum lanes of which outlines are kept; the one that has slept longest is dropped first."""


class Outline(NamedTuple):
    """What is left of a message beside its words; one of the agent's has no author."""

    lane: str
    key: str
    author: str
    minute: int


class Asleep:
    """The outlines of at most `reach` messages, oldest first; `lanes` counts those of each lane.

    They depend on these messages alone, so that a room that is read from the tape has the same.
    """

    __slots__ = ("_row", "_sizes", "lanes", "outlines", "reach")

    def __init__(self, reach: int = REACH) -> None:
        self.reach = reach
        self.outlines: list[Outline] = []
        self.lanes: dict[str, int] = {}
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

    def add(self, outline: Outline, words: Iterable[int]) -> None:
        """Keep the outline of the message that the window has just forgotten."""
        before = len(self._row)
        self._row += "".join(map(chr, words))
        self._sizes.append(len(self._row) - before)
        self.outlines.append(outline)
        self.lanes[outline.lane] = self.lanes.get(outline.lane, 0) + 1
        while len(self.outlines) > self.reach or len(self.lanes) > MAX_LANES:
            self._drop()

    def holders(self, words: Iterable[int], most: int) -> dict[int, list[int]]:
        """Map words to the places of the outlines that hold them, without what more hold."""
        ends = list(accumulate(self._sizes))
        found = {}
        for word in words:
            places = list(islice(self._places(chr(word), ends), most + 1))
            if 0 < len(places) <= most:
                found[word] = places
        return found

    def _drop(self) -> None:
        lane = self.outlines.pop(0).lane
        self._row = self._row[self._sizes.pop(0) :]
        self.lanes[lane] -= 1
        if not self.lanes[lane]:
            del self.lanes[lane]

    def _places(self, word: str, ends: list[int]) -> Iterator[int]:
        """Give the places of the outlines that hold a word."""
        at = -1
        while (at := self._row.find(word, at + 1)) >= 0:
            yield bisect_right(ends, at)
