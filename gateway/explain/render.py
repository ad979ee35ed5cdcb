"""A story for a terminal: what others wrote cannot drive it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gateway.explain.lookup import MOST
from gateway.explain.report import Report

_WIDTH: Final = 9


def to_text(story: Report) -> str:
    """Return a story as lines of text."""
    return "\n".join(printable(line) for line in _lines(story))


def _lines(story: Report) -> Iterator[str]:
    if story.missing:
        yield story.missing
    if story.options:
        yield f"{story.asked} may be several messages. Write instead:"
        yield from (f"  {option.write}  {option.says}" for option in story.options)
        if len(story.options) >= MOST:
            yield "  and perhaps more: name the chat as well, CHAT/MESSAGE"
    if story.head:
        yield story.head
        yield ""
    for line in story.lines:
        moment = line.at[:23].replace("T", " ")
        yield f"{moment:23}  {line.about:{_WIDTH}}  {line.says}"


def printable(text: str) -> str:
    """Return a text in which every character that a terminal would act upon is written out."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )
