"""A report as text for a terminal, safe from control characters in other people's text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gateway.explain.lookup import MAX_MATCHES
from gateway.explain.report import Report

_WIDTH: Final = 9


def to_text(report: Report) -> str:
    """Return a report as text."""
    return "\n".join(printable(line) for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    if report.missing:
        yield report.missing
    if report.options:
        yield f"{report.asked} may be several messages. Write instead:"
        yield from (f"  {option.write}  {option.says}" for option in report.options)
        if len(report.options) >= MAX_MATCHES:
            yield "  and perhaps more: name the chat as well, CHAT/MESSAGE"
    if report.head:
        yield report.head
        yield ""
    for line in report.lines:
        moment = line.at[:23].replace("T", " ")
        yield f"{moment:23}  {line.about:{_WIDTH}}  {line.says}"


def printable(text: str) -> str:
    """Return a text with every control character written out."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )
