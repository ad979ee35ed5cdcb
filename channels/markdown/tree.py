"""Parses Markdown into a flat list of events, each with its position in the source.

Each text is parsed once, however many ask, and each block of an answer that grows: see `growing`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from channels.markdown.growing import Parsed, Parses
from channels.markdown.segment import ADDRESS, WIDE_STOPS, MarkdownEvent

__all__ = ["ADDRESS", "WIDE_STOPS", "MarkdownEvent", "Parsed", "parse", "parsed", "unescaped"]

_WHOLE: Final = re.compile(r"(?<![A-Za-z0-9])https?://\S+")
PARSES: Final = Parses()


def parse(text: str) -> list[MarkdownEvent]:
    """Return the events of a Markdown text, in source order; others have the same list."""
    return PARSES.of(text).events


def parsed(text: str) -> Parsed:
    """Return all that is known of a Markdown text; nobody may change it."""
    return PARSES.of(text)


def unescaped(
    text: str, events: list[MarkdownEvent], places: list[int], *, knows: Collection[str] = ()
) -> list[int]:
    """Return those of the places of literals where another parser would find a mark.

    In code there is none, but for the pipes of a table, nor in what else it `knows` by an event's
    name. An address would change.
    """
    if not places:
        return []
    code = [
        event
        for event in events
        if event.phase != "close" and event.name in ("Code", "CodeBlock", *knows)
    ]
    addresses: list[tuple[int, int]] = []
    if events and "://" in text:
        addresses = list(_addresses(text, events, max(events[-1].end, places[-1] + 1)))
    found: list[int] = []
    at_code = at_address = 0
    for at in places:
        while at_code < len(code) and code[at_code].end <= at:
            at_code += 1
        while at_address < len(addresses) and addresses[at_address][1] <= at:
            at_address += 1
        if at_address < len(addresses) and addresses[at_address][0] <= at:
            continue
        is_code = at_code < len(code) and code[at_code].start <= at
        if not is_code or (code[at_code].name == "Code" and text[at] == "|"):
            found.append(at)
    return found


def _addresses(text: str, events: list[MarkdownEvent], stop: int) -> Iterator[tuple[int, int]]:
    """Yield where addresses are; the target of a link ends with it, the others at a blank."""
    links = [one for one in events if one.phase == "open" and one.name in ("Link", "Image")]
    at = end = 0
    for found in _WHOLE.finditer(text, events[0].start, stop):
        while at < len(links) and links[at].start <= found.start():
            end = max(end, links[at].end)
            at += 1
        yield found.start(), min(found.end(), end) if end > found.start() else found.end()
