"""Draws each block of an answer for Slack once, and counts it once, while the answer grows.

A block has ended where the next one stands at the margin behind a blank line; a line of code and a
row of a table end with their line. What begins a block that goes on is drawn again with what
follows. Where HTML, code inside a list or a mention may reach further, the rest of the text is one
block.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from channels.markdown.growing import common
from channels.markdown.kept import Kept
from channels.slack.drawing import (
    Count,
    counted,
    drawn,
    empty_lines,
    pings,
    settled_code,
    settled_part,
)

KEY: Final = 64
"""How many characters of a text say which answer it may be."""

_FENCE: Final = re.compile(r"(?P<mark>`{3,}(?=[^`\n]*\n)|~{3,})[^\n]*\n")
_BLANK: Final = re.compile(r"\n+")
_FORMULA: Final = re.compile(r"\\[(\[]")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_HEAD: Final = re.compile(r"(?P<head>\|[^\n`\\<]*)\n(?P<rule>\|[-:| \t]*)\n")
_RULE: Final = re.compile(r"[ \t]*:?-+:?[ \t]*")
_ROWS: Final = re.compile(r"(?:\|[^\n]*\n)+")
_JOINS: Final = re.compile(r"\\[(\[]|\r|<(?=[A-Za-z/!?])")
"""What may reach from one row into another: formulas and HTML."""


class Step(NamedTuple):
    """A part of a text that nothing changes that may follow.

    end     where it ends
    known   how much of the text says so
    shown   the length of its form
    units   the same in UTF-16 units
    total   the blocks in it that have ended
    begins  the lines that a block begins with that goes on: a fence, or the head of a table
    """

    end: int = 0
    known: int = 0
    shown: int = 0
    units: int = 0
    total: Count = Count()
    begins: str = ""

    @property
    def is_code(self) -> bool:
        """Whether the block that goes on is code."""
        return self.begins[:1] in ("`", "~")

    def after(self, form: str, known: tuple[int, int], count: Count, begins: str = "") -> Step:
        """Return the step to a place further on; `known` is its `end` and `known`."""
        shown, units = self.shown + len(form), self.units + units_of(form)
        return Step(*known, shown, units, self.total.plus(count), begins)


class Ended(NamedTuple):
    """The steps of a text, the text up to what the last one knows, and the form of that."""

    text: str
    shown: str
    steps: tuple[Step, ...]


NONE: Final = Ended("", "", (Step(),))
ENDED: Final = Kept[str, Ended](1_000_000)
"""What is kept of answers, up to so many characters of texts and forms."""


class Growing(NamedTuple):
    """A text: what has ended of it, and what is left.

    shown  the form of what has ended
    step   the last step
    rest   what is left, behind the lines that its block begins with
    """

    shown: str
    step: Step
    rest: str

    def form(self) -> str:
        """Return the form of the text."""
        return self.shown + self._rest()

    def _rest(self) -> str:
        form = self.rest if self.step.is_code else drawn(self.rest)
        return form[len(self.step.begins) :]

    def settled(self) -> str:
        """Return the form of an unfinished text, as far as nothing changes it that may follow."""
        form = settled_code(self.rest) if self.step.is_code else settled_part(self.rest)
        return self.shown + form[len(self.step.begins) :]

    def units(self) -> int:
        """Return the length of the form in UTF-16 units."""
        return self.step.units + units_of(self._rest())

    def total(self) -> Count:
        """Return the count of the text."""
        rest, (step, begins) = self.rest.rstrip(), (self.step, self.step.begins)
        if not rest:
            return step.total
        if step.is_code:
            return step.total.plus(Count(1, 0, empty_lines(rest, len(begins), len(rest))))
        if begins and _ROWS.fullmatch(rest + "\n"):
            return step.total.plus(Count(1, 1))
        return step.total.plus(counted(rest))


def units_of(form: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(form) if form.isascii() else len(form.encode("utf-16-le")) // 2


def ended_of(text: str) -> int:
    """Return how much of a text was drawn before as it is."""
    ended = ENDED.get(text[:KEY])
    return _last_in(ended, text).end if ended is not None else 0


def growing(text: str) -> Growing | None:
    """Return a text as what has ended of it and what is left, or None if it has a mention."""
    key = text[:KEY]
    before = ENDED.get(key) or NONE
    step = last = _last_in(before, text)
    steps, forms = list[Step](), [before.shown[: last.shown]]
    while found := _next(text, step):
        form, step = found
        forms.append(form)
        steps.append(step)
    shown = "".join(forms)
    if steps and (step.end > before.steps[-1].end or not before.text.startswith(text[: step.end])):
        known = before.steps[: before.steps.index(last) + 1]
        ended = Ended(text[: step.known], shown, (*known, *steps))
        ENDED.put(key, ended, len(ended.text) + len(shown))
    rest = step.begins + text[step.end :]
    return None if pings(rest) else Growing(shown, step, rest)


def _last_in(ended: Ended, text: str) -> Step:
    """Return the last step that a text has as well."""
    same = common(ended.text, text)
    return next(step for step in reversed(ended.steps) if step.known <= same)


def _next(text: str, step: Step) -> tuple[str, Step] | None:
    """Return the form of what has ended behind a step, and the step behind that."""
    if step.is_code:
        return _code(text, step)
    start, begins = step.end, step.begins
    behind = _behind_blank(text, start)
    if behind > start and _begins_line(text, behind):
        count = Count(1, 1, 1) if begins else Count(breaks=empty_lines(text, start, behind))
        blank = text[start:behind]
        return blank, step.after(blank, (behind, behind + 1), count)
    if begins:
        if end := _rows_end(text, start):
            form = drawn(begins + text[start:end])[len(begins) :]
            return form, step.after(form, (end, end), Count(), begins)
    elif opens := _opens(text, start):
        end = start + len(opens)
        return opens, step.after(opens, (end, end), Count(), opens)
    if (found := _block_end(text, start)) is None:
        return None
    part = text[start : found[0]]
    if _reaches(part) or not (part or begins):
        return None
    if text[found[0]] in "`~" and _FORMULA.search(part):
        return None
    form = drawn(begins + part)[len(begins) :]
    return form, step.after(form, found, counted(begins + part))


def _behind_blank(text: str, start: int) -> int:
    """Return where a run of newlines ends."""
    blank = _BLANK.match(text, start)
    return start if blank is None else blank.end()


def _begins_line(text: str, at: int) -> bool:
    """Return whether something stands here that is not indented."""
    return text[at : at + 1] not in ("", " ", "\t", "\r")


def _block_end(text: str, start: int) -> tuple[int, int] | None:
    """Return where a block ends, and how much of the text says so."""
    ends = list[tuple[int, int]]()
    at = text.find("\n\n", start)
    while at >= 0 and not _begins_line(text, behind := _behind_blank(text, at)):
        at = text.find("\n\n", behind)
    if at >= 0:
        ends.append((behind, behind + 1))
    for mark in ("```", "~~~"):
        at = text.find(mark, start, ends[0][0] if ends else len(text))
        if at >= 0 and text[at - 1 : at] in ("", "\n") and (fence := _FENCE.match(text, at)):
            ends.append((at, fence.end()))
    return min(ends, default=None)


def _reaches(part: str) -> bool:
    """Return whether something of a part may reach over a blank line, or has a mention."""
    if "```" in part or "~~~" in part or "\r" in part:
        return True
    return ("<" in part and _TAG.search(part) is not None) or bool(pings(part))


def _code(text: str, step: Step) -> tuple[str, Step] | None:
    """Return the lines of code that have ended, up to the fence that ends it."""
    start, mark = step.end, step.begins[: _size_of_mark(step.begins)]
    at, end, is_over = text.find(mark, start), text.rfind("\n", start) + 1, False
    while at >= 0 and not is_over:
        line, stop = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1
        if not stop:
            break
        before, after = text[line:at], text[at:stop].lstrip(mark[0])
        if before.strip(" ") == "" and len(before) < 4 and after.strip(" \t") == "\n":
            end, is_over = stop, True
        at = text.find(mark, stop)
    lines = text[start:end]
    if end <= start or pings(lines):
        return None
    count = Count(int(is_over), 0, empty_lines(text, start, end))
    return lines, step.after(lines, (end, end), count, "" if is_over else step.begins)


def _size_of_mark(fence: str) -> int:
    return len(fence) - len(fence.lstrip(fence[0]))


def _rows_end(text: str, start: int) -> int:
    """Return where the rows end that begin at a place and have ended, or 0 if none has."""
    rows = _ROWS.match(text, start)
    if rows is None:
        return 0
    end = rows.end()
    if joins := _JOINS.search(text, start, end):
        end = text.rfind("\n", start, joins.start()) + 1
    return 0 if pings(text[start:end]) else end


def _opens(text: str, start: int) -> str:
    """Return the lines at a place that begin code or a table to any parser, or nothing."""
    if not text.startswith(("```", "~~~", "|"), start):
        return ""
    if fence := _FENCE.match(text, start):
        return "" if pings(fence[0]) else fence[0]
    if (found := _HEAD.match(text, start)) is None:
        return ""
    head, rule = (one.rstrip().removeprefix("|").removesuffix("|") for one in found.groups())
    cells = rule.split("|")
    is_head = len(cells) == head.count("|") + 1 and all(map(_RULE.fullmatch, cells))
    return found[0] if is_head and not pings(found[0]) and drawn(found[0]) == found[0] else ""
