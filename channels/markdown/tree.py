"""Parses Markdown into a flat list of events, each with its position in the source.

pyromark reports every position, including those of marks inside a paragraph, and takes a tenth of
the time of a pure Python parser. Raw HTML, link definitions (`[1]: https://...`) and marks inside
bare addresses are kept as text: chats do not show them, and all text must be kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final, Literal, NamedTuple

import pyromark

from channels.markdown.literal import MARKS, literals, without_wide_stops

_OPTIONS: Final = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_MATH
)
WIDE_STOPS: Final = r"\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
"""Chinese and Japanese punctuation, for use in a regex character class."""

_BRACKETS: Final = r"\u2018-\u201f\u3008-\u3011\u3014-\u301b\uff08\uff09"
ADDRESS: Final = re.compile(
    rf"(?<![A-Za-z0-9])https?://[^\s<>()\[\]{{}}`\"'*|{WIDE_STOPS}{_BRACKETS}]+"
)
"""A bare web address, without any Chinese punctuation around it."""

_WHOLE: Final = re.compile(r"(?<![A-Za-z0-9])https?://\S+")
_BARE: Final = re.compile(rf"(?<!\]\()(?<!<)(?:{ADDRESS.pattern})")
_UNFIT: Final = re.compile(r"[\x00-\x08\x0e-\x16\ud800-\udfff\ufdd0-\ufdef]")
_DEFINITION: Final = re.compile(
    r"^([ \t>*+\-\d.)]*\[(?:[^\[\]\\]|\\.){1,999})\](?=:)", re.MULTILINE
)
_HIDDEN: Final = dict(zip(MARKS, map(chr, (*range(1, 9), *range(0x0E, 0x17))), strict=True))
_ANY_HIDDEN: Final = re.compile(r"[\x01-\x08\x0e-\x16\ufdd0-\ufdef]")
_SHOWN: Final[dict[int, str]] = str.maketrans({hidden: char for char, hidden in _HIDDEN.items()})
_HIDE: Final = str.maketrans({"_": _HIDDEN["_"], "~": _HIDDEN["~"]})
_TAG: Final = re.compile(rb"<(?![A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>)")
"""The beginning of an HTML tag; an address in angle brackets (`<https://...>`) is a link."""

_TARGET: Final = re.compile(r"\]\(<?[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*")
"""The target of a link, in which no mark is found, and in which a hidden one would end it."""

_HTML_ROUNDS: Final = 3


class MarkdownEvent(NamedTuple):
    """An event at `source[start:end]`.

    phase  `open` or `close` for a container, otherwise `leaf`
    name   Paragraph, Heading, List, Item, BlockQuote, CodeBlock, Table, TableHead, TableRow,
           TableCell, Emphasis, Strong, Strikethrough, Link, Image; Text, Code, InlineMath,
           DisplayMath, SoftBreak, HardBreak, Rule, TaskListMarker
    data   the parser's data: a string, a number, a mapping, or None
    """

    phase: Literal["open", "close", "leaf"]
    name: str
    data: Any
    start: int
    end: int


def parse(text: str) -> list[MarkdownEvent]:
    """Return the events of a Markdown text, in source order."""
    source = _UNFIT.sub("\ufffd", text)
    seen, shown = _without_literals(source, _without_addresses(source))
    if "]:" in seen:
        seen = _DEFINITION.sub(rf"\1{_HIDDEN[']']}", seen)
    found = _events(seen)
    if "<" in seen:
        seen, found = _without_html(seen, found)
    events = _read(found) if seen.isascii() else _in_characters(_read(found), seen)
    if seen == source:
        return events
    return [
        event._replace(data=_as_shown(event.data, shown)) if _hides(event.data) else event
        for event in events
    ]


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
    addresses = list(_addresses(text, events)) if "://" in text else []
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


def _addresses(text: str, events: list[MarkdownEvent]) -> Iterator[tuple[int, int]]:
    """Yield where addresses are; the target of a link ends with it, the others at a blank."""
    links = [one for one in events if one.phase == "open" and one.name in ("Link", "Image")]
    at = end = 0
    for found in _WHOLE.finditer(text):
        while at < len(links) and links[at].start <= found.start():
            end = max(end, links[at].end)
            at += 1
        yield found.start(), min(found.end(), end) if end > found.start() else found.end()


def _events(source: str) -> list[tuple[Any, Any]]:
    found = pyromark.events_with_range(source, options=_OPTIONS)
    # A loop of Python's own, unlike `list`, lets other threads run between two events.
    return [event for event in found]  # noqa: C416


def _without_addresses(source: str) -> str:
    """Hide the marks inside bare addresses (`https://a.org/_b_`), so that they are not parsed."""
    if "://" not in source or ("_" not in source and "~" not in source):
        return source

    def hidden(found: re.Match[str]) -> str:
        is_whole = source[found.end() : found.end() + 1] == "("
        kept = found[0] if is_whole else found[0].rstrip("_~")
        return kept.translate(_HIDE) + found[0][len(kept) :]

    return _BARE.sub(hidden, source)


def _without_literals(source: str, seen: str) -> tuple[str, dict[int, str]]:
    """Hide what is no mark, and wide punctuation beside marks; return how to show it again."""
    places = literals(source)
    if places and "](" in source:
        targets = {at for found in _TARGET.finditer(source) for at in range(*found.span())}
        places = [at for at in places if at not in targets or source[at] == "|"]
    if places:
        chars = list(seen)
        for at in places:
            chars[at] = _HIDDEN[source[at]]
        seen = "".join(chars)
    seen, shown = without_wide_stops(seen)
    return seen, _SHOWN | shown


def _without_html(source: str, found: list[tuple[Any, Any]]) -> tuple[str, list[tuple[Any, Any]]]:
    """Hide HTML tags and parse again until none is left, since hiding one may reveal another."""
    for _ in range(_HTML_ROUNDS):
        html = [(at["start"], at["end"]) for payload, at in found if _is_html(payload)]
        if not html:
            return source, found
        raw = bytearray(source.encode())
        for start, end in html:
            raw[start:end] = _TAG.sub(_HIDDEN["<"].encode(), raw[start:end])
        source = raw.decode()
        found = _events(source)
    source = source.replace("<", _HIDDEN["<"])
    return source, _events(source)


def _is_html(payload: Any) -> bool:
    return isinstance(payload, dict) and (
        "Html" in payload or "InlineHtml" in payload or payload.get("Start") == "HtmlBlock"
    )


def _read(found: list[tuple[Any, Any]]) -> list[MarkdownEvent]:
    """Convert the parser's events to ours; their positions are still byte offsets."""
    events: list[MarkdownEvent] = []
    for payload, at in found:
        phase: Literal["open", "close", "leaf"] = "leaf"
        name, data = payload, None
        if not isinstance(payload, str):
            ((name, data),) = payload.items()
            if name in ("Start", "End"):
                phase = "open" if name == "Start" else "close"
                name, data = (data, None) if isinstance(data, str) else next(iter(data.items()))
        events.append(MarkdownEvent(phase, name, data, at["start"], at["end"]))
    return events


def _in_characters(events: list[MarkdownEvent], source: str) -> list[MarkdownEvent]:
    """Convert the positions of events from bytes to characters."""
    raw = source.encode()
    places: dict[int, int] = {}
    last = count = 0
    for place in sorted({place for event in events for place in event[3:]}):
        count += len(raw[last:place].decode())
        places[place] = count
        last = place
    return [
        MarkdownEvent(phase, name, data, places[start], places[end])
        for phase, name, data, start, end in events
    ]


def _hides(data: Any) -> bool:
    if isinstance(data, str):
        return _ANY_HIDDEN.search(data) is not None
    return isinstance(data, dict)


def _as_shown(data: Any, shown: dict[int, str]) -> Any:
    if isinstance(data, str):
        return data.translate(shown)
    if isinstance(data, dict):
        return {key: _as_shown(value, shown) for key, value in data.items()}
    return data
