"""Parses each row of a table that grows once.

What a row is depends on the table's head and on nothing else of it, so that the head and the last
rows are parsed in the place of the whole table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from channels.markdown.segment import MarkdownEvent, Read, Segment

_UNSURE: Final = ("\\", "<", "]:")
"""What may reach from one row into another: formulas, HTML and definitions."""

Letters = dict[str, int]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a text's last table but for the last one, behind the last block that has ended.

    since          where what was read begins, with the blocks before the table
    text           the text before the last row
    head           where the table's head begins and ends
    table          which of the events opens the table
    events, signs  those before the last row
    letters        which letters stand for wide punctuation there
    """

    since: int
    text: str
    head: tuple[int, int]
    table: int
    events: list[MarkdownEvent]
    signs: list[int]
    letters: Letters

    def read(self, text: str, read: Read) -> Segment | None:
        """Return what a text is from `since` on, or None if it does not go on as these rows do."""
        begin, end = self.head
        last, size = len(self.text), end - begin
        if any(text.find(one, last) >= 0 for one in _UNSURE):
            return None
        found = read(text[begin:end] + text[last:], 0, dict(self.letters))
        at = next((at for at, one in enumerate(found.events) if one.name == "TableRow"), 0)
        if not at or not found.whole or found.events[at].start != size:
            return None

        def placed(place: int) -> int:
            return place + (last - size if place >= size else begin)

        table = found.events[0]
        events = self.events.copy()
        events[self.table] = table._replace(start=begin, end=placed(table.end))
        events += [
            MarkdownEvent(one.phase, one.name, one.data, placed(one.start), placed(one.end))
            for one in found.events[at:]
        ]
        signs = self.signs + [placed(one) for one in found.signs if one >= size]
        return Segment(events, signs, placed(found.hold), whole=True)


def rows_of(
    text: str, since: int, segment: Segment, letters: Callable[[int], Letters]
) -> Rows | None:
    """Return the rows of the table that a text ends in, or None if none is to be kept."""
    events = segment.events
    if not events or events[-1].name != "Table" or not segment.whole:
        return None
    begin, stop = events[-1].start, events[-1].end
    end = text.find("\n", text.find("\n", begin) + 1) + 1
    last = text.rfind("\n", 0, stop - 1) + 1
    is_apart = not begin or text[begin - 1] == "\n"
    if not is_apart or not 0 < end < last or any(text.find(one, begin) >= 0 for one in _UNSURE):
        return None
    row = _opened(events, "TableRow", last)
    table = _opened(events, "Table", begin)
    if row < 0 or table < 0:
        return None
    signs = [one for one in segment.signs if one < last]
    return Rows(since, text[:last], (begin, end), table, events[:row], signs, letters(last))


def _opened(events: list[MarkdownEvent], name: str, start: int) -> int:
    """Return which event opens the last container of a name, or -1 if it begins elsewhere."""
    at = len(events) - 1
    while at >= 0 and not (events[at].phase == "open" and events[at].name == name):
        at -= 1
    return at if at >= 0 and events[at].start == start else -1
