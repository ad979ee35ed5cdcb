"""The positions where a Markdown text may be cut, and the marks that are open at each."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from operator import itemgetter
from typing import Final, NamedTuple
from unicodedata import category

from channels.markdown.tree import ADDRESS, WIDE_STOPS

_CJK: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_BREAK: Final = re.compile(
    r"(?P<stop>[.!?\u2026]+[\"'\u2019\u201d)]*[ \t]+"
    r"|[\u2026\u3002\uff01\uff1b\uff1f]+[\u2019\u201d\u300d\u300f\uff09]*[ \t\u3000]*)"
    rf"|[ \t\u3000]+|(?<=[{_CJK}{WIDE_STOPS}])(?=[{_CJK}])"
)
_CODE_SPACES: Final = re.compile(r"(?<=\S)[ \t]+")


class Level(IntEnum):
    """The quality of a cut, best first; a worse level is used only if no better one fits."""

    BLOCK = 0
    ITEM = 1
    LINE = 2
    SENTENCE = 3
    WORD = 4
    INSIDE = 5
    GRAPHEME = 6


@dataclass(slots=True, eq=False)
class Frame:
    """A construct around a position: a quote, item, fence, indent, table, heading or span.

    opening, closing  text added after and before a cut, so that the construct continues
    short             a shorter opening, used if `opening` does not fit
    width             how far the lines of an item or a fence are indented
    list_start        for an item: where its list began, if that was in an earlier piece
    wider             how many more digits the item's number has then
    """

    kind: str
    start: int
    parent: Frame | None
    opening: str = ""
    closing: str = ""
    short: str = ""
    width: int = 0
    wider: int = 0
    list_start: int = 0


class Cut(NamedTuple):
    """A position where a piece may begin; `line` says whether a line's content begins there."""

    place: int
    level: Level
    frame: Frame | None
    line: bool = False


class Leaf(NamedTuple):
    """A run of text in the source.

    level  the level of cuts between its words
    whole  whether it cannot be cut, because its source differs from its text
    """

    start: int
    end: int
    frame: Frame | None
    level: Level
    whole: bool = False


class Number(NamedTuple):
    """The number of an ordered item: its position and digits in the source, and its true value."""

    start: int
    digits: int
    number: int
    list_start: int
    frame: Frame | None


@dataclass(slots=True)
class Plan:
    """The structure of a text; each list is in source order.

    `cuts` has the cuts between lines; `words` finds the cuts inside lines on demand.
    """

    text: str
    cuts: list[Cut] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    lines: list[tuple[int, Frame | None]] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    left_open: list[tuple[int, Frame]] = field(default_factory=list)
    """Fences without a closing line, each with the position where its code ends."""

    def words(self, start: int, stop: int) -> list[Cut]:
        """Return the cuts of every level between two positions."""
        first, last = (bisect_left(self.cuts, (place,)) for place in (start, stop))
        found = self.cuts[first:last]
        at = max(0, bisect_right(self.leaves, start, key=itemgetter(0)) - 1)
        behind = bisect_left(self.leaves, stop, key=itemgetter(0))
        for leaf in self.leaves[at:behind]:
            single = leaf.end - leaf.start == 1 and not self.text[leaf.start].isspace()
            if not (leaf.whole or single):  # hostile text has thousands of leaves of one character
                found += _words(self.text, leaf, max(start, leaf.start), min(stop, leaf.end))
        return sorted(found, key=itemgetter(0))


def _words(text: str, leaf: Leaf, start: int, end: int) -> Iterator[Cut]:
    addresses = [found.span() for found in ADDRESS.finditer(text, start, end)]
    for found in (_CODE_SPACES if is_code(leaf.frame) else _BREAK).finditer(text, start, end):
        place = found.end()
        if place == leaf.end and (is_code(leaf.frame) or not found[0].isspace()):
            continue
        if not start < place < len(text) or combines(text[place]):
            continue
        if any(begin < place < stop for begin, stop in addresses):
            continue
        if text[place] == "`" and leaf.frame is not None and leaf.frame.kind == "span":
            continue  # the piece's own mark would merge with the span's
        is_stop = leaf.level is Level.WORD and found.lastgroup == "stop"
        yield Cut(place, Level.SENTENCE if is_stop else leaf.level, leaf.frame)


def chain(frame: Frame | None) -> list[Frame]:
    """Return a frame and the frames around it, outermost first."""
    frames: list[Frame] = []
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    return frames[::-1]


def is_code(frame: Frame | None) -> bool:
    return frame is not None and (
        frame.kind in ("fence", "indent") or frame.opening.startswith("`")
    )


def combines(char: str) -> bool:
    """Return whether a character combines with the character before it."""
    return not char.isascii() and (
        char in "\u200c\u200d" or category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"
    )
