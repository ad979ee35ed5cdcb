"""Print rows as a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def print_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print rows as a table with a header; if there are none, say so on standard error."""
    table = [columns, *([str(row.get(name) or "") for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print_line("  ".join(padded).rstrip())
    if len(table) == 1:
        print("(nothing)", file=sys.stderr)


def print_line(line: str) -> None:
    """Print a line, escaping characters that the terminal's encoding lacks."""
    try:
        sys.stdout.write(f"{line}\n")
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        sys.stdout.write(f"{line.encode(encoding, 'backslashreplace').decode(encoding)}\n")
