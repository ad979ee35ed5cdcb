"""Read the part of a person's message that they did not write, in the form that models see.

Below its sender's words and files, a message may have excerpts: for each a line in brackets, then
its words, then what came in it. Only the gateway begins a line with `[` or `>> `.

    [forwarded message of #7 Zed, 2026-11-01 12:03]
    >> the words of somebody else
    [in it: photo, 640x480]
    [left out: 3 more files]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tape.entry import Entry, content_text

EXCERPTS: Final = "excerpts"
"""The key of a message's meta with a dict for each excerpt: `label`, `author`, `name`, `media`."""

OMITTED: Final = "omitted"
SOMEBODY: Final = "somebody"
"""Stands for an author without a known id."""

MARK: Final = ">> "
IN_IT: Final = "[in it: "
LEFT_OUT: Final = "[left out: "
QUOTED: Final = "[in what it replies to: "
FORWARDED: Final = "[forwarded from "
MAX_NAME: Final = 64

_BREAKS: Final = re.compile(r"[\[\]\s]+")
_INSIDE: Final = re.compile(r"\[[^\[\]]*\]")
_HEADER: Final = re.compile(rf"\[(?:[^\[\]]|{_INSIDE.pattern})*\]")
_QUOTE: Final = re.compile(
    rf"^(\[[^\]]*?), replying to (?P<quote>(?:[^\[\]]|{_INSIDE.pattern})*)\]", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Framed:
    """The lines of a message: the sender's, each excerpt's, and what was left out."""

    own: tuple[str, ...]
    excerpts: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...]

    @property
    def content(self) -> str:
        lines = [*self.own, *(line for one in self.excerpts for line in one), *self.left_out]
        return "\n".join(lines)


def foreign_media(entry: Entry) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what came in the quote and the excerpts of a message, with the id of who sent it."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for part in (entry.meta.get("quote"), *_list(entry.meta.get(EXCERPTS))):
        if isinstance(part, Mapping):
            media = [one for one in _list(part.get("media")) if isinstance(one, Mapping)]
            found += [(str(part.get("author") or SOMEBODY), one) for one in media]
    return found


def split(content: str) -> Framed:
    """Split a framed message with excerpts; its `content` is the same again."""
    own, excerpts, left_out = list[str](), list[list[str]](), list[str]()
    lines = content.split("\n")
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith(LEFT_OUT):
            left_out.append(line)
        elif line.startswith("[") and _is_inside(below) and not line.startswith(IN_IT):
            excerpts.append([line])
        elif excerpts and _is_inside(line):
            excerpts[-1].append(line)
        else:
            own.append(line)
    return Framed(tuple(own), tuple(map(tuple, excerpts)), tuple(left_out))


def header_of(content: str) -> str:
    """Return the header of a framed message, or ""; what a quoted message has is in it, too."""
    found = _HEADER.match(content)
    return found[0] if found else ""


def quote_in(content: str) -> str:
    """Return the words of what a framed message replies to, or else the name of its first file."""
    found = _QUOTE.search(content)
    return found["quote"].partition('"')[2].partition('"')[0] if found else ""


def without_quote(content: str, instead: str = "") -> str:
    """Return a framed message without the quote in its header."""
    said = f", replying to {instead}" if instead else ""
    return _QUOTE.sub(lambda found: f"{found[1]}{said}]", content, count=1)


def others_of(entry: Entry) -> str:
    """Return what stands in a message or an edit beside its sender's words, line by line, or "".

    That is from whom it was forwarded, what the quoted message has, the excerpts, and what was left
    out.
    """
    quote, meta = entry.meta.get("quote"), entry.meta
    quoted = isinstance(quote, Mapping) and bool(quote.get("media"))
    origin = _origin_line(meta.get("forwarded"))
    if not (quoted or origin or meta.get(EXCERPTS) or meta.get(OMITTED)):
        return ""
    content = _content(entry)
    inside = _INSIDE.findall(header_of(content)[1:]) if quoted else []
    lines = [f"{QUOTED}{one[1:]}" for one in inside]
    return "\n".join(filter(None, [origin, *lines, replace(split(content), own=()).content]))


def files_of(entry: Entry) -> str:
    """Return the lines that name the sender's own files in a message or an edit, or ""."""
    own = split(_content(entry)).own[1:]
    return "\n".join(line for line in own if line.startswith("["))


def _content(entry: Entry) -> str:
    data = entry.payload.get("data")
    held = data if isinstance(data, Mapping) else entry.payload
    return content_text(held.get("content"))


def _origin_line(origin: object) -> str:
    if not isinstance(origin, Mapping):
        return ""
    name = _BREAKS.sub(" ", str(origin.get("name") or SOMEBODY)).strip()
    return f"{FORWARDED}{name[:MAX_NAME]}]"


def excerpt_words(content: str) -> str:
    """Return the words of the excerpts in a framed message."""
    marked = (line for line in content.split("\n") if line.startswith(MARK))
    return "\n".join(line.removeprefix(MARK) for line in marked)


def without(content: str, drops: Callable[[int, str], bool]) -> tuple[str, Sequence[int]]:
    """Leave out the excerpts for which `drops` says so, by number and words.

    Returns the content, and the numbers of those that are left.
    """
    framed = split(content)
    numbered = enumerate(framed.excerpts)
    left = [n for n, lines in numbered if not drops(n, excerpt_words("\n".join(lines)))]
    kept = tuple(framed.excerpts[number] for number in left)
    return replace(framed, excerpts=kept).content, left


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _is_inside(line: str) -> bool:
    return line.startswith((MARK, IN_IT))
