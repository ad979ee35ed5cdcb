"""What people see of a `markdown` block on Slack, by its published rules; for `tests.shown` only.

The block is standard Markdown: headings, marks, links, lists, boxes, quotes, code, lines, tables;
an image is shown as the text of a link. HTML is shown as text. `reader_inline` reads lines.
https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.fakes.slack.reader_inline import Lines, label_of

_BREAK: Final = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FENCE: Final = re.compile(r"(?P<lead> {0,3})(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
_CLOSING: Final = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_QUOTE: Final = re.compile(r"^ {0,3}> ?")
_ITEM: Final = re.compile(
    r"(?P<lead> {0,3})(?P<mark>[-+*]|(?P<number>\d{1,9})[.)])(?P<gap>[ \t]+|$)"
)
_RULED: Final = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINED: Final = re.compile(
    r" {0,3}\[(?P<label>(?:[^\[\]\\]|\\.)+)\]:[ \t]*(?:<(?P<angled>[^<>]*)>|(?P<bare>[^\s<]\S*))"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$"
)
_BOX: Final = re.compile(r"\[(?P<done>[ xX])\](?=[ \t])")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_MAX_DEPTH: Final = 12


@dataclass(slots=True)
class Read:
    """Hold the text that people see, and where its links lead."""

    text: str = ""
    targets: list[str] = field(default_factory=list)


def read(markdown: str) -> Read:
    """Return what people see of a text of standard Markdown."""
    lines = markdown.expandtabs(4).split("\n")
    found = dict(_definitions(lines))
    read = Read()
    read.text = "\n".join(_Blocks(found, read.targets).read(lines))
    return read


def _definitions(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what a link may find its address by; the first of a name counts."""
    found: dict[str, str] = {}
    for line in lines:
        if one := _DEFINED.match(line.lstrip(" >-*+")):
            found.setdefault(label_of(one["label"]), one["angled"] or one["bare"] or "")
    yield from found.items()


class _Blocks:
    def __init__(self, definitions: Mapping[str, str], targets: list[str]) -> None:
        self._lines = Lines(definitions, targets)

    def read(self, lines: list[str], depth: int = 0) -> Iterator[str]:
        at, numbers = 0, dict[str, int]()
        while at < len(lines):
            line = lines[at]
            item = _ITEM.match(line)
            if not line.strip():
                at += 1
            elif line.startswith("    "):
                stop = _while(lines, at, lambda one: not one.strip() or one.startswith("    "))
                yield from (one[4:] for one in lines[at:stop])
                at = stop
            elif fence := _FENCE.match(line):
                at = yield from self._fence(lines, at, fence)
            elif heading := _HEADING.match(line):
                yield self._lines.read(_CLOSING.sub("", line[heading.end() :]))
                at += 1
            elif _BREAK.match(line):
                at += 1
            elif _QUOTE.match(line):
                stop = _lazily(lines, at, lambda one: _QUOTE.match(one) is not None)
                inside = [_QUOTE.sub("", one, count=1) for one in lines[at:stop]]
                yield from self.read(inside, depth + 1) if depth < _MAX_DEPTH else inside
                at = stop
            elif item:
                at = yield from self._item(lines, at, item, numbers, depth)
                continue
            else:
                at = yield from self._paragraph(lines, at)
            if line.strip():
                numbers = {}

    def _fence(self, lines: list[str], at: int, fence: re.Match[str]) -> Generator[str, None, int]:
        mark, lead = fence["mark"], len(fence["lead"])
        closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
        at += 1
        while at < len(lines) and not closing.match(lines[at]):
            line = lines[at]
            yield line[min(lead, len(line) - len(line.lstrip(" "))) :]
            at += 1
        return at + 1

    def _item(
        self, lines: list[str], at: int, item: re.Match[str], numbers: dict[str, int], depth: int
    ) -> Generator[str, None, int]:
        gap = len(item["gap"])
        width = item.end() if 1 <= gap <= 4 else item.end("mark") + 1
        inner = " " * width
        stop = _lazily(lines, at, lambda one: not one.strip() or one.startswith(inner), first=True)
        while stop > at + 1 and not lines[stop - 1].strip():
            stop -= 1
        inside = [lines[at][width:], *(_dedented(one, width) for one in lines[at + 1 : stop])]
        mark = "• "
        if item["number"]:
            kind = item["mark"][-1]
            numbers[kind] = numbers[kind] + 1 if kind in numbers else int(item["number"])
            mark = f"{numbers[kind]}{kind} "
        if box := _BOX.match(inside[0]):
            mark += "☐ " if box["done"] == " " else "☑ "
            inside[0] = inside[0][box.end() :]
        shown = list(self.read(inside, depth + 1)) if depth < _MAX_DEPTH else inside
        yield mark + (shown[0] if shown else "")
        yield from shown[1:]
        return stop

    def _paragraph(self, lines: list[str], at: int) -> Generator[str, None, int]:
        if at + 1 < len(lines) and _rules(lines[at + 1], lines[at]):
            columns = len(_cells(lines[at]))
            stop = _while(lines, at + 2, _is_row)
            for row in (lines[at], *lines[at + 2 : stop]):
                yield " | ".join(self._lines.read(cell) for cell in _cells(row)[:columns])
            return stop
        start = at
        while at < len(lines) and (defined := _DEFINED.match(lines[at])):
            self._lines.targets.append(defined["angled"] or defined["bare"] or "")
            at += 1
        if at > start:
            return at
        at += 1
        while at < len(lines) and lines[at].strip():
            if _UNDERLINE.match(lines[at]):
                yield self._lines.read(_joined(lines[start:at]))
                return at + 1
            if _begins(lines[at]):
                break
            at += 1
        yield self._lines.read(_joined(lines[start:at]))
        return at


def _joined(lines: list[str]) -> str:
    return "\n".join(line.lstrip(" ") for line in lines)


def _dedented(line: str, width: int) -> str:
    return line[min(width, len(line) - len(line.lstrip(" "))) :]


def _begins(line: str) -> bool:
    """Return whether a line ends the paragraph above it."""
    item = _ITEM.match(line)
    starts = item is not None and item["gap"] != "" and item["number"] in (None, "1")
    return starts or any(one.match(line) for one in (_FENCE, _HEADING, _BREAK, _QUOTE))


def _rules(line: str, head: str) -> bool:
    """Return whether a line makes the one above it the head of a table."""
    head = _ITEM.sub("", head.strip(" >"), count=1)
    return "|" in head and bool(_RULED.match(line)) and len(_cells(head)) == len(_cells(line))


def _is_row(line: str) -> bool:
    """Return whether a table goes on with a line; any number of an item ends it."""
    item = _ITEM.match(line)
    return bool(line.strip()) and not _begins(line) and not (item and item["gap"])


def _while(lines: list[str], at: int, holds: Callable[[str], bool]) -> int:
    while at < len(lines) and holds(lines[at]):
        at += 1
    return at


def _lazily(lines: list[str], at: int, holds: Callable[[str], bool], *, first: bool = False) -> int:
    """Return where a quote or an item ends; a paragraph in it may go on without its mark."""
    fence = ""
    is_text, is_table = True, False
    stop = at + first
    if first:
        begun = re.match(r"\s*(?:[-+*>]|\d+[.)]|\s)*(`{3,}|~{3,})", lines[at])
        fence = begun[1] if begun else ""
        is_text = not fence and bool(_ITEM.sub("", lines[at], count=1).strip())
    while stop < len(lines):
        line = lines[stop]
        if holds(line):
            text = line.strip(" >")
            if fence:
                fence = "" if text.startswith(fence) and not text.strip(fence[0]) else fence
                is_text = False
            elif found := re.match(r"(?:[-+*>]|\d+[.)]|\s)*(`{3,}|~{3,})", text):
                fence, is_text = found[1], False
            else:
                is_table = (
                    _is_row(text) if is_table else stop > at and _rules(text, lines[stop - 1])
                )
                is_text = bool(text) and not _HEADING.match(text) and not _BREAK.match(text)
                is_text = is_text and not is_table  # a table goes on with its mark only
        elif not is_text or fence or not line.strip() or _begins(line) or _ITEM.match(line):
            break
        stop += 1
    return stop


def _cells(row: str) -> list[str]:
    """Return the cells of a row; a pipe in code parts them, too, unless it is escaped."""
    row = row.strip()
    row = row.removeprefix("|")
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(row)]
