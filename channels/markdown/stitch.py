"""Turns the text between two cuts into complete Markdown: fixes its marks, numbers and indents."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import Final

from channels.markdown.breakpoints import Cut, Frame, Leaf, Level, Plan, chain, is_code

_WOULD_BE_MARK: Final = re.compile(r"[-+](?=[\s+-]|$)|[*_~`#>=|]|\d{1,9}(?P<stop>[.)])(?=\s|$)")
_EMPTY_QUOTED: Final = re.compile(r"^[ \t]+(?=>[ \t>]*$)", re.MULTILINE)
_OMITTED: Final = ("table", "fence")
_PLACE: Final = itemgetter(0)


class Stitcher:
    def __init__(self, text: str, plan: Plan, limit: int) -> None:
        self._text = text
        self._plan = plan
        self._room = limit // 2

    def piece(self, start: Cut, end: Cut, *, short: bool = False) -> str:
        """Return the piece between two cuts; `short` leaves out a repeated header or fence."""
        stop = max(start.place, self._stop(start, end))
        body = self._body(start, stop)
        return self._opening(start, short) + body + self._closing(start, end)

    def at(self, place: int) -> Cut | None:
        """Return a cut at a position, or None if a cut there would break a construct."""
        leaf = self._leaf(place)
        if leaf is None or (leaf.whole and leaf.start < place) or self._text[place - 1] == "\n":
            return None
        if self._text[place] in " \t\r\n" and not is_code(leaf.frame):
            return None
        if "`" in self._text[place - 1 : place + 1] and leaf.frame and leaf.frame.kind == "span":
            return None
        return Cut(place, Level.GRAPHEME, leaf.frame)

    def broken(self, place: int) -> Cut:
        """Return a cut inside a span; after it, only the blocks around the span continue."""
        at = bisect_right(self._plan.leaves, place, key=_PLACE) - 1
        frame = self._plan.leaves[max(at, 0)].frame if self._plan.leaves else None
        while frame is not None and frame.kind == "span":
            frame = frame.parent
        return Cut(place, Level.GRAPHEME, frame)

    def _leaf(self, place: int) -> Leaf | None:
        """Return the leaf around a position, or the second of two adjacent leaves."""
        leaves = self._plan.leaves
        escaped = self._text[place : place + 1] == "\\" and not self._in(place)
        at = bisect_right(leaves, place + escaped, key=_PLACE) - 1
        if at < 0 or place >= leaves[at].end:
            return None
        leaf = leaves[at]
        return leaf if leaf.start < place or (at and leaves[at - 1].end == place) else None

    def _in(self, place: int) -> Leaf | None:
        leaves = self._plan.leaves
        at = bisect_right(leaves, place, key=_PLACE) - 1
        return leaves[at] if at >= 0 and place < leaves[at].end else None

    def _opening(self, cut: Cut, short: bool) -> str:
        frames = chain(cut.frame)
        prefix = _prefix(frames, cut.place)
        openings, _ = self._marks(frames, prefix, short)
        return prefix + openings

    def _closing(self, start: Cut, end: Cut) -> str:
        frames = chain(end.frame)
        return self._marks(frames, _prefix(frames, start.place), short=False)[1]

    def _marks(self, frames: list[Frame], prefix: str, short: bool) -> tuple[str, str]:
        """Return the text that opens and the text that closes the frames, shortened if too long."""
        opening = "".join(
            frame.short if short and frame.kind in _OMITTED else frame.opening for frame in frames
        )
        closing = "".join(frame.closing for frame in reversed(frames))
        if len(opening) + len(closing) > self._room:
            opening = "".join(frame.short for frame in frames)
            closing = "".join(frame.closing for frame in frames if frame.short)
        return opening.replace("\n", "\n" + prefix), closing.replace("\n", "\n" + prefix)

    def _escaped(self, cut: Cut) -> list[tuple[int, int, str]]:
        """Return the edit that adds a backslash if the piece would begin with a mark."""
        found = _WOULD_BE_MARK.match(self._text, cut.place)
        if found is None or cut.level in (Level.BLOCK, Level.ITEM):
            return []
        leaf = self._in(cut.place)
        if leaf is None or leaf.whole or is_code(leaf.frame):
            return []
        place = found.start("stop") if found["stop"] else cut.place
        return [(place, place, "\\")]

    def _stop(self, start: Cut, end: Cut) -> int:
        """Return where the text before a cut ends, without the space between the pieces."""
        text, place = self._text, end.place
        if is_code(end.frame) and end.frame is not None and end.frame.start < place:
            if not end.line:
                return place
            stop = text.rfind("\n", 0, place)
            return stop - 1 if text[stop - 1] == "\r" else stop
        at = bisect_left(self._plan.leaves, place, key=_PLACE) - 1
        leaf = self._plan.leaves[at] if at >= 0 else None
        text_end = min(place, leaf.end) if leaf else 0
        first = max(text_end if leaf and is_code(leaf.frame) else 0, start.place)
        return self._content_end(first, max(text_end, start.place), place)

    def _content_end(self, first: int, text_end: int, place: int) -> int:
        """Return `place` moved back over spaces and over the marks of empty quotes."""
        text = self._text
        while place > first:
            if text[place - 1] in " \t\r\n":
                place -= 1
                continue
            line = text.rfind("\n", text_end, place) + 1
            if text[place - 1] != ">" or not line or text[line:place].strip("> \t"):
                break
            place = line
        return place

    def _body(self, start: Cut, stop: int) -> str:
        edits = self._numbers(start.place, stop) + self._escaped(start)
        if edits or any(frame.kind == "item" for frame in chain(start.frame)):
            edits += self._dedents(start.place, stop)
        edits += self._closed_fences(start.place, stop)
        if not edits:
            return self._text[start.place : stop]
        parts: list[str] = []
        last = start.place
        for begin, end, replacement in sorted(edits):
            if begin >= last and end <= stop:
                parts += (self._text[last:begin], replacement)
                last = end
        return "".join([*parts, self._text[last:stop]])

    def _closed_fences(self, start: int, stop: int) -> list[tuple[int, int, str]]:
        """Return the edits that close fences which have no closing line."""
        left = self._plan.left_open
        first, last = (bisect_right(left, place, key=_PLACE) for place in (start, stop))
        return [
            (place, place, frame.closing.replace("\n", "\n" + _prefix(chain(frame), start)))
            for place, frame in left[first:last]
        ]

    def _numbers(self, start: int, stop: int) -> list[tuple[int, int, str]]:
        """Return the edits that renumber items whose list began in an earlier piece."""
        numbers = self._plan.numbers
        first, last = (bisect_left(numbers, place, key=_PLACE) for place in (start, stop))
        items = [item for item in numbers[first:last] if item.list_start < start]
        edits = []
        for item in items:
            written = self._text[item.start : item.start + item.digits]
            if str(item.number) != written:
                edits.append((item.start, item.start + item.digits, str(item.number)))
        line = self._text.rfind("\n", 0, items[0].start) + 1 if items else 0
        if line > start:  # outside an item, a number does not end a paragraph
            edits.append((line, line, _prefix(chain(items[0].frame), start) + "\n"))
        return edits

    def _dedents(self, start: int, stop: int) -> list[tuple[int, int, str]]:
        """Return the edits that remove the indents of items which began in an earlier piece."""
        lines = self._plan.lines
        first, last = (bisect_right(lines, place, key=_PLACE) for place in (start, stop))
        edits = []
        for place, frame in lines[first:last]:
            begin = self._text.rfind("\n", 0, place) + 1
            if (
                begin > start
                and _reindented(frame, start)
                and not self._text[begin:place].strip("> \t")
            ):
                edits.append((begin, place, _prefix(chain(frame), start)))
        known = {begin for begin, _, _ in edits}
        for found in _EMPTY_QUOTED.finditer(self._text, start, stop):
            before = bisect_right(lines, found.start(), key=_PLACE) - 1
            if found.start() not in known and before >= 0 and _reindented(lines[before][1], start):
                edits.append((*found.span(), ""))
        return edits


def _prefix(frames: list[Frame], piece_start: int) -> str:
    """Return what each line inside these frames begins with, in a piece from `piece_start`."""
    parts = []
    for frame in frames:
        if frame.kind == "quote":
            parts.append("> ")
        elif frame.kind == "item" and frame.start >= piece_start:
            wider = frame.wider if frame.list_start < piece_start else 0
            parts.append(" " * (frame.width + wider))
        elif frame.kind == "fence":
            parts.append(" " * frame.width)
        elif frame.kind == "indent":
            parts.append("    ")
    return "".join(parts)


def _reindented(frame: Frame | None, piece_start: int) -> bool:
    return any(
        held.kind == "item"
        and (held.start < piece_start or (held.wider != 0 and held.list_start < piece_start))
        for held in chain(frame)
    )
