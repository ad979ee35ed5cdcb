"""Renders a table as lines of plain text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import Final
from unicodedata import combining, east_asian_width

MAX_ALIGNED: Final = 80
"""Maximum width of an aligned table in columns; screens would wrap the lines of a wider one."""


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, with aligned columns if it is narrow; the first row is the header."""
    widths = [max(map(_width, column)) for column in zip_longest(*rows, fillvalue="")]
    if sum(widths) + 3 * (len(widths) - 1) > MAX_ALIGNED:
        return "\n".join(" | ".join(row).rstrip() for row in rows)
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = zip_longest(row, widths, fillvalue="")
    return " | ".join(
        str(cell) + " " * (int(width) - _width(str(cell))) for cell, width in cells
    ).rstrip()


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_columns(char) for before, char in pairwise("\0" + text) if before != "\u200d")


def _columns(char: str) -> int:
    if combining(char) or char in "\u200d\ufe0e\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return 0
    return 2 if east_asian_width(char) in "WF" else 1
