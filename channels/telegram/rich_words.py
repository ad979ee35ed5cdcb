"""Collects the words of one block with their marks, and writes them as a rich text.

https://core.telegram.org/bots/api#richtext
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, Final, NamedTuple

from channels.markdown.render import Span, is_visible
from channels.markdown.tree import WIDE_STOPS
from channels.telegram.format import linkable

Rich = str | dict[str, Any] | list[Any]

_KINDS: Final = ("spoiler", "link", "bold", "italic", "strike", "code", "formula")
"""The kinds of marks, from the outermost to the innermost."""

_TYPES: Final = {"link": "url", "strike": "strikethrough"}
_ATOMS: Final = ("link", "code", "formula")
_ADDRESS: Final = re.compile(
    rf"(?<![A-Za-z0-9_.@-])https?://[^\s<>\"`|\\^{{}}{WIDE_STOPS}\u2018-\u201f\u3008-\u3011\u3014-\u301b"
    r"\uff08\uff09]+",
    re.IGNORECASE,
)
_STOPS: Final = ".,:;!?'*_~"
_BRACKETS: Final = {")": "(", "]": "["}


class RichWords:
    """The words of one block; the kinds of marks are those of `Span`, and `formula`."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[str] = []
        self._marks: list[Span] = []

    def write(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)

    def mark(self, kind: str, start: int, value: str = "") -> None:
        """Mark what was written since a position."""
        if self.size > start:
            self._marks.append(Span(kind, start, self.size, value))

    def since(self, start: int) -> str:
        """Return the words since a position at which a piece was written."""
        tail: list[str] = []
        left = self.size - start
        while left > 0:
            tail.append(self._parts[-1 - len(tail)])
            left -= len(tail[-1])
        return "".join(reversed(tail))

    def text(self) -> str:
        """Return the words without marks."""
        return "".join(self._parts)

    def formula(self) -> str:
        """Return the formula that the block consists of, or "" if it has other words."""
        if len(self._marks) != 1 or self._marks[0].kind != "formula":
            return ""
        (one,) = self._marks
        return self.text() if (one.start, one.end) == (0, self.size) else ""

    def lines(self) -> str:
        """Return the words with each address written out, for a reader who sees no marks."""
        text, pieces, last = self.text(), list[str](), 0
        for one in _disjoint(self._marks, "link"):
            pieces += [text[last : one.end], f" ({one.value})"]
            last = one.end
        return "".join((*pieces, text[last:]))

    def rich(self) -> tuple[Rich, int]:
        """Return the rich text and its depth; "" if nothing of it is visible."""
        text = self.text()
        if not is_visible(text):
            return "", 0
        marks = [*self._marks, *_addresses(text, self._marks)]
        layers = [_disjoint(marks, kind) for kind in _KINDS]
        used = [layer for layer in layers if layer]
        return _joined(_nested(list(_segments(text, used)), 0)), 1 + len(used)


class _Segment(NamedTuple):
    """A part of a text, and the mark of each layer that covers it."""

    text: str
    marks: tuple[Span | None, ...]


def _segments(text: str, layers: Sequence[Sequence[Span]]) -> Iterator[_Segment]:
    ends = {at for layer in layers for one in layer for at in (one.start, one.end)}
    reached = [0] * len(layers)
    for start, end in pairwise(sorted({0, len(text), *ends})):
        found: list[Span | None] = []
        for number, layer in enumerate(layers):
            while reached[number] < len(layer) and layer[reached[number]].end <= start:
                reached[number] += 1
            at = reached[number]
            covers = at < len(layer) and layer[at].start <= start
            found.append(layer[at] if covers else None)
        yield _Segment(text[start:end], tuple(found))


def _nested(segments: Sequence[_Segment], layer: int) -> list[Any]:
    if layer == len(segments[0].marks):
        return ["".join(one.text for one in segments)]
    found: list[Any] = []
    for mark, group in groupby(segments, key=lambda one: one.marks[layer]):
        inner = _nested(list(group), layer + 1)
        if mark is None:
            found += inner
        elif mark.kind == "formula":
            found.append({"type": "mathematical_expression", "expression": _joined(inner)})
        else:
            named = {"type": _TYPES.get(mark.kind, mark.kind), "text": _joined(inner)}
            found.append(named | ({"url": mark.value} if mark.kind == "link" else {}))
    return found


def _joined(pieces: list[Any]) -> Rich:
    return pieces[0] if len(pieces) == 1 else pieces


def _disjoint(marks: Iterable[Span], kind: str) -> list[Span]:
    """Return the marks of a kind in order, those that overlap as one."""
    found: list[Span] = []
    for mark in sorted((one for one in marks if one.kind == kind), key=attrgetter("start")):
        if found and mark.start < found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, mark.end))
        else:
            found.append(mark)
    return found


def _addresses(text: str, marks: Sequence[Span]) -> Iterator[Span]:
    """Yield the bare web addresses as links, since Telegram looks for none."""
    if "://" not in text:
        return
    taken = [one for kind in _ATOMS for one in _disjoint(marks, kind)]
    taken.sort(key=attrgetter("start"))
    at = 0
    for found in _ADDRESS.finditer(text):
        address = _trimmed(found[0])
        start, end = found.start(), found.start() + len(address)
        while at < len(taken) and taken[at].end <= start:
            at += 1
        is_free = at == len(taken) or taken[at].start >= end
        if is_free and linkable(address):
            yield Span("link", start, end, address)


def _trimmed(address: str) -> str:
    """Return an address without the bracket or stop that ends it, and what is behind that."""
    opened = dict.fromkeys(_BRACKETS.values(), 0)
    end = len(address)
    for at, char in enumerate(address):
        if char in opened:
            opened[char] += 1
        elif char in _BRACKETS:
            opened[_BRACKETS[char]] -= 1
            if opened[_BRACKETS[char]] < 0:
                end = at
                break
    return address[:end].rstrip(_STOPS)
