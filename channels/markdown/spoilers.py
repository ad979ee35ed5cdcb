"""Finds the spoilers of a text: what stands between two pairs of bars, hidden until one taps it.

More often, two bars are an operator: `a||b` hides nothing, `||the butler||` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final
from unicodedata import category, east_asian_width

from channels.markdown.tree import MarkdownEvent

_BARS: Final = re.compile(r"(?<!\|)\|\|(?!\|)")
_PARTS: Final = frozenset({"Paragraph", "Heading", "Item", "CodeBlock", "Table"})


def spoilers(events: Sequence[MarkdownEvent], source: str) -> list[int]:
    """Return where the bars of spoilers are in a source, in order: each second one is an end."""
    return _paired(events, source)[0]


def open_at(events: Sequence[MarkdownEvent], source: str) -> int | None:
    """Return where the spoiler begins that an unfinished text ends in, or None."""
    return _paired(events, source)[1]


def operators(events: Sequence[MarkdownEvent], source: str) -> list[int]:
    """Return where bars are in a source that neither begin nor end a spoiler."""
    pairs = set(spoilers(events, source))
    return [at for at, _opens, _closes in _bars(events, source) if at >= 0 and at not in pairs]


def _paired(events: Sequence[MarkdownEvent], source: str) -> tuple[list[int], int | None]:
    """Return the bars that are pairs, and those at which the last spoiler begins without an end."""
    found: list[int] = []
    begun: int | None = None
    for at, opens, closes in _bars(events, source):
        if at < 0:
            begun = None
        elif begun is None:
            begun = at if opens else None
        elif closes:
            found += (begun, at)
            begun = None
    return found, begun


def _bars(events: Sequence[MarkdownEvent], source: str) -> Iterator[tuple[int, bool, bool]]:
    """Yield each two bars, and whether they may open and close; -1 stands between paragraphs."""
    inside = 0
    for event in events:
        if event.name in ("Table", "CodeBlock"):
            inside += {"open": 1, "close": -1}.get(event.phase, 0)
        if event.phase == "open" and event.name in _PARTS:
            yield -1, False, False
        if event.name != "Text" or inside or "||" not in event.data:
            continue
        for bars in _BARS.finditer(source, event.start, event.end):
            start, end = bars.span()
            before, after = source[max(0, start - 1) : start], source[end : end + 1]
            yield start, _apart(before, after), _apart(after, before)


def _apart(outer: str, inner: str) -> bool:
    """Return whether bars may stand between an outer and an inner character."""
    if not inner or inner.isspace():
        return False
    return (
        not outer
        or outer.isspace()
        or category(outer)[0] in "PS"
        or east_asian_width(outer) in "WF"
    )
