"""Writes links whose addresses stand elsewhere in a text as links with their addresses.

`[tea][1]` or `[tea]` is one where a paragraph begins with `[1]: https://...` or `[tea]: ...`. To
chats such a line is text: what is far below would change what was shown long ago.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import Final, NamedTuple

from channels.markdown.tree import MarkdownEvent, parse

_LABEL: Final = r"(?:[^\[\]\\]|\\.)"
_DEFINITION: Final = re.compile(
    r"^[ >]{0,9}(?P<whole>\[(?!\^)(?P<label>(?:[^\[\]\\\n]|\\.){1,999})\]:[ \t]*"
    r"(?:<(?P<angled>[^<>\n]*)>|(?P<bare>[^\s<]\S*))"
    r"(?:[ \t]+(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|\((?P<round>[^()\n]*)\)))?)"
    r"[ \t]*$",
    re.MULTILINE,
)
_REFERENCE: Final = re.compile(
    rf"(?<!\\)\[(?P<text>(?:{_LABEL}|\[{_LABEL}{{0,999}}\](?:\([^()\n]*\))?){{1,999}})\]"
    rf"(?:\[(?P<label>{_LABEL}{{0,999}})\])?(?![\[(:])"
)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_UNFIT: Final = re.compile(r"[<>\\\s]")


class _Definition(NamedTuple):
    start: int
    end: int
    label: str
    target: str


def with_links(text: str) -> str:
    """Return a text in which links have their addresses; a definition that none has stays."""
    if "]:" not in text:
        return text
    candidates = list(_DEFINITION.finditer(text))
    if not candidates:
        return text
    events = parse(text)
    known: dict[str, _Definition] = {}
    for one in _defined(candidates, events):
        known.setdefault(one.label, one)
    if not known:
        return text
    used: dict[str, _Definition] = {}
    edits: list[tuple[int, int, str]] = []
    code = _code(events)
    for found in _REFERENCE.finditer(text):
        defined = known.get(_name(found["label"] or found["text"]))
        if defined is not None and not _inside(found.start(), code):
            used[defined.label] = defined
            edits.append((*found.span(), f"[{found['text']}]({defined.target})"))
    edits += [(one.start, one.end, "") for one in used.values()]
    parts, last = list[str](), 0
    for start, end, written in sorted(edits):
        if start >= last:
            parts += (text[last:start], written)
            last = end
    return "".join([*parts, text[last:]])


def _defined(candidates: list[re.Match[str]], events: list[MarkdownEvent]) -> Iterator[_Definition]:
    """Yield what is defined where a paragraph begins, or in the line below another definition."""
    begins = {event.start for event in events if event.name == "Paragraph"}
    last = -1
    for found in candidates:
        start = found.start("whole")
        if start not in begins and found.start() != last + 1:
            continue
        last = found.end()
        target = _ESCAPED.sub(r"\1", found["angled"] or found["bare"] or "")
        if _UNFIT.search(target):
            continue  # readers would differ on where it leads
        title = found["double"] or found["single"] or found["round"] or ""
        ended = '"{}"'.format(re.sub(r"[\\\"]", r"\\\g<0>", title)) if title else ""
        yield _Definition(
            start, found.end("whole"), _name(found["label"]), f"<{target}> {ended}".rstrip()
        )


def _name(label: str) -> str:
    return " ".join(label.split()).casefold()


def _code(events: list[MarkdownEvent]) -> list[tuple[int, int]]:
    return [
        (event.start, event.end)
        for event in events
        if event.phase != "close" and event.name in ("Code", "CodeBlock")
    ]


def _inside(place: int, code: list[tuple[int, int]]) -> bool:
    at = bisect_right(code, place, key=itemgetter(0)) - 1
    return at >= 0 and place < code[at][1]
