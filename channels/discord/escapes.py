"""Finds what Discord would take for a mark, and is none.

Discord reads by rules of its own: a mark ends at the next of its kind, whatever stands between, and
lines further on. What the parser takes for text is therefore escaped, and marks are left out around
code and addresses with the same sign, since Discord would end them there.
https://support.discord.com/hc/en-us/articles/210298617-Markdown-Text-101-Chat-Formatting-Bold-Italic-Underline
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from channels.markdown import MarkdownEvent
from channels.markdown.spoilers import operators
from channels.markdown.tree import unescaped

_MARKED: Final = "\\*_~|`["
_SIGN: Final = re.compile(r"\*+|_+|~~+|`+|\\(?=[^0-9A-Za-z\s])")
_ADDRESS: Final = re.compile(r"https?://\S+")
_STYLES: Final = {"Emphasis": 1, "Strong": 2, "Strikethrough": 2}


def escapes(events: list[MarkdownEvent], text: str, signs: Sequence[int]) -> list[int]:
    """Return the places before which a backslash is needed, in order; `signs` are no marks."""
    bars = [at + one for at in operators(events, text) for one in (0, 1)] if "||" in text else []
    found = [at for at in {*signs, *bars, *_in_texts(events, text)} if text[at] in _MARKED]
    return unescaped(text, events, sorted(found))


def _in_texts(events: Sequence[MarkdownEvent], text: str) -> Iterator[int]:
    """Yield the signs in what is text to the parser, but for those that are escaped already."""
    code, end = 0, 0
    for event in events:
        if event.name == "CodeBlock":
            code += {"open": 1, "close": -1}.get(event.phase, 0)
        if event.name != "Text" or code:
            continue
        start = event.start
        is_escaped = text[start - 1 : start] == "\\" and end != start
        end = event.end
        for found in _SIGN.finditer(text, start, end):
            if not _is_harmless(text, *found.span()):
                yield from range(
                    found.start() + (is_escaped and found.start() == start), found.end()
                )


def _is_harmless(text: str, start: int, end: int) -> bool:
    """Return whether Discord sees a sign, too: a star between blanks, a line within a name."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if end - start > 1:
        return False
    if text[start] == "*":
        return bool(before) and before in " \t" and after.isspace()
    return text[start] == "_" and _is_ascii_word(before) and _is_ascii_word(after)


def _is_ascii_word(char: str) -> bool:
    return char.isascii() and char.isalnum()


def unsafe_marks(events: Sequence[MarkdownEvent], text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of marks that Discord would end elsewhere, as inside code or an address."""
    opened: list[MarkdownEvent] = []
    unsafe: dict[int, MarkdownEvent] = {}
    for event in events:
        if event.name in _STYLES:
            if event.phase == "open":
                outer = opened[-1] if opened else None
                if _is_merged(event, outer, text) or _is_again(event, opened, text):
                    unsafe[event.start] = event
                opened.append(event)
            elif opened:
                opened.pop()
        elif opened and (signs := _whole(event, text)):
            unsafe |= {one.start: one for one in opened if text[one.start] in signs}
    for one in unsafe.values():
        size = _STYLES[one.name]
        if text[one.start : one.start + size] == text[one.start] * size:
            yield one.start, one.start + size
            yield one.end - size, one.end


def _is_merged(event: MarkdownEvent, outer: MarkdownEvent | None, text: str) -> bool:
    """Return whether a mark ends at another of its sign that is not the end of what it is in."""
    sign = text[event.start]
    if text[event.end : event.end + 1] != sign:
        return False
    if outer is None or outer.end - _STYLES[outer.name] != event.end:
        return True
    return sign == "_" and text[event.start - 1] != sign


def _is_again(event: MarkdownEvent, outer: Sequence[MarkdownEvent], text: str) -> bool:
    """Return whether a text is emphasized twice: Discord takes two stars that meet for bold."""
    return event.name == "Emphasis" and any(
        one.name == "Emphasis" and text[one.start] == text[event.start] for one in outer
    )


def _whole(event: MarkdownEvent, text: str) -> str:
    """Return the code or the addresses of an event, which cannot be escaped."""
    if event.name == "Code":
        return text[event.start : event.end]
    if event.name == "Link" and event.phase == "open":
        return str(event.data["dest_url"])
    if event.name == "Text" and "://" in event.data:
        return " ".join(found[0] for found in _ADDRESS.finditer(text, event.start, event.end))
    return ""
