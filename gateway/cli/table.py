"""Print rows as a table or as JSON, and lines as the terminal's encoding allows."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

import wcwidth

from gateway.cli.screen import (
    BOLD,
    clipped,
    columns,
    on_terminal,
    one_line,
    padded,
    painted,
    print_note,
    safe,
)
from gateway.printing import print_out, print_words, redactor_in_use

_NUMBER: Final = re.compile(r"\d+(\.\d+)?")


def print_table(
    names: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    *,
    empty: str = "(nothing)",
    fill: str = "",
) -> None:
    """Print rows as a table with a header, or say on standard error that there are none.

    On a terminal, the column `fill` (else the last) is cut so that each row stays on one line, and
    after it the others from the widest on.
    """
    cells = [[one_line(row.get(name) or "") for name in names] for row in rows]
    widths = [
        max(map(wcwidth.width, (name, *column)))
        for name, column in zip(names, zip(*cells, strict=True) if cells else names, strict=True)
    ]
    fill = fill or names[-1]
    numbers = {
        number
        for number, column in enumerate(zip(*cells, strict=True))
        if any(column) and all(_NUMBER.fullmatch(cell) for cell in column if cell)
    }
    over = sum(widths) + 2 * (len(names) - 1) - columns() if on_terminal() else 0
    for at in sorted(range(len(names)), key=lambda at: (names[at] != fill, -widths[at])):
        cut = min(over, widths[at] - max(len(names[at]), 8))
        if cut > 0 and at not in numbers:
            widths[at], over = widths[at] - cut, over - cut
    if cells or not on_terminal():  # programs find the header even if nothing is below it
        print_out(painted(_line(names, widths, numbers), BOLD))
    for line in cells:
        print_out(_line(map(clipped, line, widths), widths, numbers))
    if not cells:
        print_note(empty)


def print_json(value: object, indent: int | None = None, *, words: bool = False) -> None:
    """Print JSON, in which what drives a terminal or cannot be encoded is escaped as well.

    What looks like a secret is taken out, unless these are people's words.
    """
    in_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")
    clean = redactor_in_use().value(value, lines=not words)
    print_words(safe(json.dumps(clean, ensure_ascii=in_ascii, indent=indent)))


def _line(cells: Iterable[str], widths: Sequence[int], numbers: Container[int]) -> str:
    both = enumerate(zip(cells, widths, strict=True))
    return "  ".join(
        cell.rjust(width) if at in numbers else padded(cell, width) for at, (cell, width) in both
    ).rstrip()
