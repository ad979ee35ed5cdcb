"""Parses a part of a Markdown text into a flat list of events, each with its place in the source.

pyromark reports every position, including those of marks inside a paragraph, and takes a tenth of
the time of a pure Python parser. Raw HTML, link definitions (`[1]: https://...`) and marks inside
bare addresses are kept as text: chats do not show them, and all text must be kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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

_BARE: Final = re.compile(rf"(?<!\]\()(?<!<)(?:{ADDRESS.pattern})")
_UNFIT: Final = re.compile(r"[\x00-\x08\x0e-\x16\ud800-\udfff\ufdd0-\ufdef]")
_DEFINITION: Final = re.compile(
    r"^([ \t>*+\-\d.)]*\[(?:[^\[\]\\\n]|\\.|\\?\n(?![ \t]*\n)){1,999})\](?=:)", re.MULTILINE
)
_HIDDEN: Final = dict(zip(MARKS, map(chr, (*range(1, 9), *range(0x0E, 0x17))), strict=True))
_SHOWN: Final[dict[int, str]] = str.maketrans({hidden: char for char, hidden in _HIDDEN.items()})
_HIDE: Final = str.maketrans({"_": _HIDDEN["_"], "~": _HIDDEN["~"]})
_TAG: Final = re.compile(rb"<(?![A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>)")
"""The beginning of an HTML tag; an address in angle brackets (`<https://...>`) is a link."""

_TARGET: Final = re.compile(r"\]\(<?[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*")
"""The target of a link, in which no mark is found, and in which a hidden one would end it."""

_ANGLED: Final = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>")
"""An address in angle brackets, in which a hidden mark would leave no link."""

_BLANK_LINE: Final = re.compile(rb"\n[ \t]*\r?\n")
_HTML_ROUNDS: Final = 3
_new: Final = tuple.__new__


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


class Segment(NamedTuple):
    """What a part of a text is.

    events  its events; their positions are those in the text
    signs   the positions in the text of what looks like a mark and is none
    hold    the position of HTML that would go on behind a blank line, or the end of the part
    whole   whether what was found stands for itself, and does not change with the rest of the text
    """

    events: list[MarkdownEvent]
    signs: list[int]
    hold: int
    whole: bool


Read = Callable[[str, int, dict[str, int]], Segment]
"""Parses a part of a text, as `read_segment` does."""


def read_segment(text: str, start: int, letters: dict[str, int]) -> Segment:
    """Read a text from the start of a block that follows a blank line.

    `letters` are those that the text before it took for wide punctuation; new ones are added.
    """
    source = _UNFIT.sub("\ufffd", text[start:] if start else text)
    signs = literals(source)
    seen, shown = _without_literals(source, _without_addresses(source), signs, letters)
    if "]:" in seen:
        seen = _DEFINITION.sub(rf"\1{_HIDDEN[']']}", seen)
    found, hold, whole = _events(seen), len(seen), True
    if "<" in seen:
        seen, found, hold, whole = _without_html(seen, found)
    events = _placed(found, seen, start, shown if seen != source else None)
    if start:
        signs = [at + start for at in signs]
    return Segment(events, signs, hold + start, whole)


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


def _without_literals(
    source: str, seen: str, signs: list[int], letters: dict[str, int]
) -> tuple[str, dict[int, str]]:
    """Hide what is no mark, and wide punctuation beside marks; return how to show it again."""
    if signs and "](" in source:
        targets = {at for found in _TARGET.finditer(source) for at in range(*found.span())}
        signs = [at for at in signs if at not in targets or source[at] == "|"]
    if signs and "<" in source:
        angled = {at for found in _ANGLED.finditer(source) for at in range(*found.span())}
        signs = [at for at in signs if at not in angled or source[at] == "|"]
    if signs:
        chars = list(seen)
        for at in signs:
            chars[at] = _HIDDEN[source[at]]
        seen = "".join(chars)
    seen, shown = without_wide_stops(seen, letters)
    return seen, _SHOWN | shown


def _without_html(
    source: str, found: list[tuple[Any, Any]]
) -> tuple[str, list[tuple[Any, Any]], int, bool]:
    """Hide HTML tags and parse again until none is left, since hiding one may reveal another.

    Return the source and its events, the `hold` of a segment in characters, and its `whole`.
    """
    hold = len(source)
    for _ in range(_HTML_ROUNDS):
        html = [(at["start"], at["end"]) for payload, at in found if _is_html(payload)]
        if not html:
            return source, found, hold, True
        raw = bytearray(source.encode())
        for start, end in html:
            if _BLANK_LINE.search(raw, start, end):
                hold = min(hold, len(raw[:start].decode()))
            raw[start:end] = _TAG.sub(_HIDDEN["<"].encode(), raw[start:end])
        source = raw.decode()
        found = _events(source)
    source = source.replace("<", _HIDDEN["<"])
    return source, _events(source), hold, False


def _is_html(payload: Any) -> bool:
    return isinstance(payload, dict) and (
        "Html" in payload or "InlineHtml" in payload or payload.get("Start") == "HtmlBlock"
    )


def _placed(
    found: list[tuple[Any, Any]], source: str, base: int, shown: dict[int, str] | None
) -> list[MarkdownEvent]:
    """Convert the parser's events to ours; it counts bytes from the start of the part."""
    places = None if source.isascii() else _in_characters(found, source)
    events: list[MarkdownEvent] = []
    for payload, at in found:
        phase, name, data = "leaf", payload, None
        if payload.__class__ is dict:
            [(name, data)] = payload.items()
            if name == "Start" or name == "End":
                phase = "open" if name == "Start" else "close"
                [(name, data)] = data.items() if data.__class__ is dict else [(data, None)]
        start, end = at["start"], at["end"]
        if places is not None:
            start, end = places[start], places[end]
        if shown is not None and data is not None:
            data = _as_shown(data, shown)
        # `MarkdownEvent(...)` would take as long again as the rest of this loop.
        events.append(_new(MarkdownEvent, (phase, name, data, start + base, end + base)))
    return events


def _in_characters(found: list[tuple[Any, Any]], source: str) -> dict[int, int]:
    """Return the position in characters of each position in bytes."""
    raw = source.encode()
    places: dict[int, int] = {}
    last = count = 0
    for place in sorted({place for _payload, at in found for place in (at["start"], at["end"])}):
        count += len(raw[last:place].decode())
        places[place] = count
        last = place
    return places


def _as_shown(data: Any, shown: dict[int, str]) -> Any:
    if isinstance(data, str):
        return data if data.isprintable() else data.translate(shown)
    if isinstance(data, dict):
        return {key: _as_shown(value, shown) for key, value in data.items()}
    return data
