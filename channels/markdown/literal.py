"""Finds what looks like a mark of Markdown in a text, and is none to the person who reads it.

CommonMark takes `100*100/400*56` for emphasis and `__init__.py` for bold, parts a cell of a table
at a pipe inside code, and drops the backslashes of paths, patterns and formulas. The rules here go
by single words, formulas and rows: what stands behind them changes nothing. Each takes a time that
grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import Final
from unicodedata import category, east_asian_width

MARKS: Final = "\\`*_~<>[]!|$&#=+-"
"""What may be a mark; the rest of a text never is."""

STAND_INS: Final = range(0xFDD0, 0xFDF0)
"""Code points that Unicode keeps free of characters."""

_STARS: Final = re.compile(r"\*+")
_PARTED: Final = re.compile(r"\n[ \t]*\n")
_OVER: Final = re.compile(r"\n(?:[ \t]*\n|\|)")
"""What no mark reaches over: a blank line, and the beginning of a row."""

_OPENING: Final = " \t\n\r([{\"'"
_BLANK: Final = re.compile(r"\s")
_WORD: Final = re.compile(r"\S+")
_ASCII: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_AFTER: Final = _ASCII | frozenset(")]")
_BEFORE: Final = _ASCII | frozenset("(")
_DUNDER: Final = re.compile(
    r"(?<![A-Za-z0-9_])__(?:[a-z][a-z0-9]*|[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+)__(?![A-Za-z0-9_])"
)
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_DRIVE: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:\\")
_NAMED: Final = re.compile(r"\\[A-Za-z0-9]")
_FORMULA: Final = re.compile(r"\\(?P<mark>[()\[\]\\])|\n[ \t]*\n")
_CITED: Final = re.compile(r"[\d,\s]*(?:[xX]\s*)?")
_DOLLARS: Final = re.compile(r"(?<![\\$])\$+")
_IN_DOLLARS: Final = re.compile(
    r"\$\$(?:[^$`\n]|\n(?![ \t]*\n)){1,2000}\$\$"
    r"|\$(?P<single>[^\s$`](?:[^$`\n]{0,200}[^\s$`])?)\$(?![\w$])"
)
_PRICE: Final = re.compile(
    r"(?:[^\W_]|[.,;:!?%'\" -]){2,}|\d(?!.*(?:\\[A-Za-z]|[\^_={}]))(?=[^ ]* )(?=.*?[^\W\d_]{2}).*"
    r"|\d[\d.,]* (?![-+*/=<>^|\\])(?:[^ ].* )?(?!\\)[^ ]+(?<![-+*/=<>^|]) \d[\d.,]*"
)
"""What stands between two signs of dollars without being a formula, as in "$5 or 10$"."""

_ENDS: Final = {"(": ")", "[": "]"}
_TICKS: Final = re.compile(r"`+")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_RULED: Final = re.compile(r"[-:| \t]+")
_RULE: Final = re.compile(r":?-+:?")
_BLOCK: Final = re.compile(
    r"#{1,6}[ \t]|```|~~~|(?:[-*+]|\d{1,9}[.)])[ \t]|([-*_])(?:[ \t]*\1){2,}\Z"
)
"""What ends a table as a blank line does."""

_MARGIN: Final = "> \t\r"
_RUNS: Final = re.compile(r"[*~]+")


def literals(text: str, *, in_formulas: bool = True) -> list[int]:
    """Return the positions of characters that are no marks, in order; some are inside code.

    Those `in_formulas` are left out for who knows formulas.
    """
    found: set[int] = set()
    if "*" in text:
        found.update(_stars(text))
    if "__" in text:
        for name in _DUNDER.finditer(text):
            found.update(at for at in range(*name.span()) if text[at] == "_")
    if "\\" in text:
        found.update(_backslashes(text))
        for start, end in formulas(text):
            if end is not None:
                whole = range(start, end)
                found.difference_update(whole)
                found.update(at for at in whole if in_formulas and text[at] in MARKS)
    if "$" in text:
        found.update(_dollars(text))
    if "|" in text and "-" in text:
        found.update(_pipes(text))
    return sorted(found)


def may_have_literals(text: str) -> bool:
    """Return whether to look for literals in a text at all."""
    return "*" in text or "__" in text or "\\" in text or ("|" in text and "-" in text)


def without_wide_stops(
    text: str, letters: dict[str, int] | None = None
) -> tuple[str, dict[int, str]]:
    """Return a text with letters of our own for wide punctuation beside marks, and what they show.

    Chinese, Japanese and Korean have no blanks around it; marks open and close beside it as well.
    `letters` are those that are taken already; new ones are added.
    """
    shown: dict[int, str] = {}
    if text.isascii():
        return text, shown
    letters = {} if letters is None else letters
    chars = list(text)
    for found in _RUNS.finditer(text):
        for at in (found.start() - 1, found.end()):
            char = text[at : at + 1] if at >= 0 else ""
            if char > "\x7f" and category(char)[0] == "P" and east_asian_width(char) in "WFA":
                letter = letters.setdefault(char, STAND_INS.start + len(letters))
                if letter in STAND_INS:
                    chars[at] = chr(letter)
                    shown[letter] = char
    return ("".join(chars) if shown else text), shown


def formulas(text: str) -> Iterator[tuple[int, int | None]]:
    r"""Yield where each formula in `\(..\)` or `\[..\]` is; the last may have no end yet."""
    start, end = -1, ""
    for found in _FORMULA.finditer(text):
        mark = found["mark"]
        if mark is None:
            start = -1
        elif start < 0 and mark in _ENDS and text[found.start() - 1 : found.start()] not in _ASCII:
            start, end = found.start(), _ENDS[mark]
        elif start >= 0 and mark == end:
            if end == ")" or not _CITED.fullmatch(text, start + 2, found.start()):
                yield start, found.end()
            start = -1
    if start >= 0:
        yield start, None


def _stars(text: str) -> Iterator[int]:
    """Yield the stars between ASCII letters, digits and brackets that are signs or in names."""
    opened, last = 0, 0
    waiting: set[int] = set()  # the lengths of marks that were opened words ago
    tick, code = text.find("`"), deque[tuple[int, int]]()
    for stars in _STARS.finditer(text):
        start, end = stars.span()
        if 0 <= tick < start:
            tick, code = -1, deque(_code_spans(text))
        while code and code[0][1] <= start:
            code.popleft()
        if code and code[0][0] <= start:  # it begins and ends nothing outside
            if text[start - 1] in _ASCII and text[end] in _ASCII:
                yield from range(start, end)
            continue
        if opened and _BLANK.search(text, last, start):
            opened = 0
        if waiting and _OVER.search(text, last, start):
            waiting.clear()
        last, length = end, end - start
        before, after = text[start - 1 : start], text[end : end + 1]
        if before in _ASCII and after in _ASCII:
            if length == 1:
                yield start
                continue
            begins = before.islower() and after.isupper()
            is_mark = opened == length or begins
        else:
            is_mark = bool(opened) or not (before in _AFTER and after in _BEFORE)
            is_mark = is_mark or (before in _ASCII and length in waiting)
            if after.strip() and not before.strip(_OPENING):
                waiting.add(length)
            elif is_mark and before.strip():
                waiting.discard(length)
        if not is_mark:
            yield from range(start, end)
        elif not opened and after.strip() and not (before in _ASCII and after == "("):
            opened = length
        else:
            opened = 0


def _dollars(text: str) -> Iterator[int]:
    """Yield the signs of dollars that begin or end no formula, but are money or a variable's.

    A formula in two signs has no blank behind the first and before the last, and no code; a formula
    in four may have more lines. Another parser takes all between `$5` and `$HOME` for one.
    """
    ends = 0
    for found in _DOLLARS.finditer(text):
        start, end = found.span()
        if start < ends:
            continue
        is_behind = text[max(0, start - 1) : start] in _ASCII  # `US$3` and `5$`
        formula = None if is_behind else _IN_DOLLARS.match(text, start)
        if formula is not None and not _PRICE.fullmatch(formula["single"] or ""):
            ends = formula.end()
        else:
            yield from range(start, end)


def _backslashes(text: str) -> Iterator[int]:
    """Yield the backslashes of paths and patterns, and what they would escape."""
    for word in _WORD.finditer(text):
        if "\\" not in word[0]:
            continue
        is_path = "{" in word[0] or "}" in word[0] or _DRIVE.search(word[0]) is not None
        if not is_path and not _NAMED.search(word[0]):
            continue
        for found in _ESCAPE.finditer(word[0], 1):
            if found.end() < len(word[0]):
                yield word.start() + found.start()
                if found[1] in MARKS:
                    yield word.start() + found.start() + 1


def _pipes(text: str) -> Iterator[int]:
    """Yield the pipes in a table's code, and those between more cells than its head has."""
    columns, head, start, quotes = 0, (0, 0), 0, 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].strip(_MARGIN)
        depth, quotes = quotes, _quotes(text[start:end])
        is_row = columns and line and depth == quotes  # a table ends with its quote
        if is_row and not _BLOCK.match(line):
            yield from _in_row(text, start, end, columns)
        elif (columns := _columns(line)) and "|" in text[slice(*head)]:
            yield from _in_code(text, *head)
        else:
            columns = 0
        head, start = (start, end), end + 1


def _quotes(line: str) -> int:
    """Return how many quotes a line stands in."""
    return line[: len(line) - len(line.lstrip(_MARGIN))].count(">") if ">" in line else 0


def _columns(line: str) -> int:
    """Return how many columns a line under a table's head has, or 0 if it is none."""
    if "|" not in line or not _RULED.fullmatch(line):
        return 0
    cells = line.removeprefix("|").removesuffix("|").split("|")
    return len(cells) if all(_RULE.fullmatch(cell.strip()) for cell in cells) else 0


def _in_row(text: str, start: int, end: int, columns: int) -> Iterator[int]:
    cells = text[start:end].lstrip(_MARGIN).rstrip().removeprefix("|").removesuffix("|").split("|")
    if len(cells) <= columns and all(_is_whole(cell) for cell in cells):
        return  # as nearly all rows
    code = set(_in_code(text, start, end))
    yield from code
    parts = [one.start() for one in _PIPE.finditer(text, start, end) if one.start() not in code]
    if parts and not text[start : parts[0]].strip(_MARGIN):
        del parts[0]
    if parts and not text[parts[-1] + 1 : end].strip():
        del parts[-1]
    yield from parts[columns - 1 :]


def _is_whole(cell: str) -> bool:
    """Return whether no code goes on behind a cell; it may where this is not sure."""
    return "`" not in cell or ("``" not in cell and cell.count("`") % 2 == 0)


def _in_code(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the pipes in the code of a line."""
    for begin, stop in _paired_ticks(text, start, end):
        yield from (found.start() for found in _PIPE.finditer(text, begin, stop))


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where code seems to be inside each paragraph."""
    start = 0
    for parted in _PARTED.finditer(text):
        yield from _paired_ticks(text, start, parted.start())
        start = parted.end()
    yield from _paired_ticks(text, start, len(text))


def _paired_ticks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what stands between as many backticks and as many again."""
    ticks = list(_TICKS.finditer(text, start, end))
    places: dict[int, list[int]] = {}
    for at, one in enumerate(ticks):
        places.setdefault(len(one[0]), []).append(at)
    at = 0
    while at < len(ticks):
        same = places[len(ticks[at][0])]
        after = bisect_right(same, at)
        if after < len(same):
            yield ticks[at].end(), ticks[same[after]].start()
            at = same[after]
        at += 1
