"""Renders a block of Markdown as lines of a terminal, wrapped at words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final

import wcwidth

from channels.markdown import render_spans

MARKS: Final = {"bold": "1", "italic": "3", "strike": "9", "code": "36"}
DIM: Final = "2"
_HEAD: Final = re.compile(r"(?:> )*[ ]*(?:(?:•|\d{1,9}[.)]) )?(?:[☐☑] )?")
_WIDE: Final = r"\u2e80-\u2fff\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60"
_CLOSING: Final = r"\u3001\u3002\u3009\u300b\u300d\u300f\u3011\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
_WORD: Final = re.compile(
    rf"\s+|[\u2018\u201c\u300a\u300c\uff08]*[{_WIDE}][{_CLOSING}\u2019\u201d]*|[^\s{_WIDE}]+"
)
_RULE: Final = re.compile(r"[-+]{4,}")


def paint_markdown(markdown: str, columns: int) -> list[str]:
    """Render Markdown; nothing is left out, and links are shown with their addresses."""
    text, marks = render_spans(markdown, linkable=lambda _url: False, plain=True)
    styles = [""] * len(text)
    for mark in marks:
        for place in range(mark.start, mark.end) if mark.kind in MARKS else ():
            styles[place] += f";{MARKS[mark.kind]}"
    lines: list[str] = []
    place = 0
    for line in text.replace("\t", " ").split("\n"):
        lines += _wrapped(line, styles[place : place + len(line)], columns)
        place += len(line) + 1
    return lines


def paint_code(language: str, code: str, columns: int) -> list[str]:
    """Render code between two marks, of which the first has the language."""
    lines = code.expandtabs(4).split("\n")
    rows = [row for line in lines for row in _wrapped(line, ["36"] * len(line), columns - 2)]
    return [paint(f"╭─ {language}".rstrip(), DIM), *(f"  {row}" for row in rows), paint("╰─", DIM)]


def paint_text(text: str, columns: int, style: str) -> list[str]:
    """Return a text without marks, wrapped at words, in one style."""
    return _wrapped(text, [style] * len(text), columns)


def paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def _wrapped(line: str, styles: Sequence[str], columns: int) -> list[str]:
    if _RULE.fullmatch(line):
        line = line[:columns]  # the line below the head of a table
    head = _HEAD.match(line)
    start = end = head.end() if head else 0
    if len(line) * (1 if line.isascii() else 2) <= columns:  # no character is wider
        end = max(start, len(line.rstrip()))
        return [(line[:start] + _painted(line[start:end], styles[start:end])).rstrip()]
    quote = line[:start].count("> ") * "> "
    indent = quote + " " * min(wcwidth.width(line[:start]) - len(quote), max(columns // 2, 0))
    used = wcwidth.width(line[:start])
    lead, rows = line[:start], list[tuple[str, int, int]]()
    for word in _WORD.finditer(line, start):
        text = word[0]
        size = len(text) if text.isascii() else wcwidth.width(text)
        if not text.isspace():
            if used + size > columns and end > start:
                rows.append((lead, start, end))
                start, lead, used = word.start(), indent, wcwidth.width(indent)
            end = word.end()
        used += size
    rows.append((lead, start, end))
    return [(lead + _painted(line[a:b], styles[a:b])).rstrip() for lead, a, b in rows]


def _painted(text: str, styles: Sequence[str]) -> str:
    if not any(styles):  # as most lines
        return text
    parts = groupby(zip(text, styles, strict=True), key=lambda one: one[1])
    runs = [("".join(char for char, _style in run), style) for style, run in parts]
    return "".join(f"\x1b[{style.strip(';')}m{run}\x1b[0m" if style else run for run, style in runs)
