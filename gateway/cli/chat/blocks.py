"""Cuts a Markdown text that grows into its top-level blocks; each line is read once."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_FENCE: Final = re.compile(r" {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))\Z")
_BEGINS: Final = re.compile(r"(?:[-+*]|\d{1,9}[.)])[ \t]+\S|#{1,6}[ \t]|`{3,}[^`]*\Z|~{3,}")
"""A line that begins a block of its own, whatever stands above it."""

_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")


class TextBlock(NamedTuple):
    """A top-level block.

    text      its Markdown, or the code in a fence
    language  the language of a fence; None if it is no fence
    spaced    whether a blank line stands above it
    """

    text: str
    language: str | None = None
    spaced: bool = False


class BlockReader:
    """Reads a text piece by piece; `open` is the block at its end, which may still grow.

    The first `ended` characters belong to blocks that have ended; `start` of them were read before.
    """

    def __init__(self, start: int = 0, *, spaced: bool = False) -> None:
        self.ended = self._size = start
        self._lines: list[str] = []
        self._rest = ""
        self._blanks = 0
        self._fence = ""
        self._language: str | None = None
        self._spaced = spaced

    def feed(self, piece: str) -> list[TextBlock]:
        """Return the blocks that a piece of text ends."""
        *lines, self._rest = (
            (self._rest + piece).split("\n") if "\n" in piece else [self._rest + piece]
        )
        done = [block for line in lines for block in self._line(line)]
        return done + self._before(self._rest, self._size)

    def close(self) -> list[TextBlock]:
        """Return the blocks that the end of the text ends."""
        done = self._line(self._rest) if self._rest else []
        self._rest = ""
        return done + (self._end(self._size) if self._lines or self._language is not None else [])

    @property
    def open(self) -> TextBlock:
        lines = [*self._lines, *[""] * self._blanks, self._rest]
        return TextBlock("\n".join(lines), self._language, self._spaced)

    def _line(self, line: str) -> list[TextBlock]:
        start, self._size = self._size, self._size + len(line) + 1
        if self._language is not None:
            mark = line.strip()
            if len(mark) >= len(self._fence) and not mark.strip(self._fence[0]):
                return self._end(self._size)
            self._lines.append(line)
            return []
        if not line.strip():
            self._blanks += bool(self._lines)
            self._spaced = self._spaced or not self._lines
            return []
        done = self._before(line, start)
        fence = None if self._lines else _FENCE.match(line)
        if fence is None:
            self._lines += [*[""] * self._blanks, line]
            self._blanks = 0
        else:
            self._fence = fence[1] or fence[3]
            self._language = (fence[2] or fence[4] or "").strip()
        return done

    def _before(self, line: str, start: int) -> list[TextBlock]:
        if self._language is not None or not self._lines or not line[:1].strip():
            return []
        ends = self._blanks or _HEADING.match(self._lines[0]) or _BEGINS.match(line)
        return self._end(start) if ends else []

    def _end(self, place: int) -> list[TextBlock]:
        self.ended = place
        block = TextBlock("\n".join(self._lines), self._language, self._spaced)
        self._lines, self._language, self._fence = [], None, ""
        self._spaced, self._blanks = self._blanks > 0, 0
        return [block]
