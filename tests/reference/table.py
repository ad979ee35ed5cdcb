"""Tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table; a bar within a cell is escaped."""
    heads = list(headings)
    yield _line(heads)
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield _line(row)


def _line(cells: Iterable[str]) -> str:
    shown = (" ".join(cell.split()).replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(shown)} |".replace("|  |", "| |")
