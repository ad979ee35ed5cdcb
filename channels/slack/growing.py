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
from channels.slack.drawing import Count, counted, drawn, pings, settled_end

KEY: Final = 64
"""How many characters of a text say which answer it may be."""

_FENCE: Final = re.compile(r"(?P<mark>`{3,}(?=[^`\n]*\n)|~{3,})[^\n]*\n")
_ENDS: Final = re.compile(rf"\n\n+(?=[^ \t\r\n])|^{_FENCE.pattern}", re.MULTILINE)
_BLANK: Final = re.compile(r"\n+(?=[^ \t\r\n])")
_BREAK: Final = re.compile(r"(?<=[^\n]\n)[ \t]*\n")
_REACHES: Final = re.compile(r"```|~~~|\r|<(?=[A-Za-z/!?])")
"""What may reach over a blank line, or over a line at the margin."""

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
    count   the blocks in it that have ended
    begins  the lines that a block begins with that goes on: a fence, or the head of a table
    """

    end: int = 0
    known: int = 0
    shown: int = 0
    units: int = 0
    count: Count = Count()
    begins: str = ""

    @property
    def is_code(self) -> bool:
        """Whether the block that goes on is code."""
        return self.begins[:1] in ("`", "~")

    def after(self, form: str, known: tuple[int, int], count: Count, begins: str = "") -> Step:
        """Return the step to a place further on; `known` is its `end` and `known`."""
        shown, units = self.shown + len(form), self.units + units_of(form)
        return Step(*known, shown, units, self.count.plus(count), begins)


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

    def settled(self, size: int) -> str:
        """Return the form that nothing changes that may follow the first characters of a text."""
        step = self.step
        rest = self.rest[: max(0, size - step.end + len(step.begins))]
        end = settled_end(rest, (), is_code=step.is_code)
        form = rest[:end] if step.is_code else drawn(rest, end)
        return self.shown + form[len(step.begins) :]

    def units(self) -> int:
        """Return the length of the form in UTF-16 units."""
        return self.step.units + units_of(self._rest())

    def count(self) -> Count:
        """Return the count of the text."""
        rest, (step, begins) = self.rest.rstrip(), (self.step, self.step.begins)
        if not rest:
            return step.count
        breaks = len(_BREAK.findall(rest))
        if step.is_code:
            return step.count.plus(Count(1, 0, breaks))
        if begins and _ROWS.fullmatch(rest + "\n"):
            return step.count.plus(Count(1, 1))
        return step.count.plus(counted(rest))


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
    if blank := _BLANK.match(text, start):
        count = (
            Count(1, 1, 1)
            if begins
            else Count(breaks=len(_BREAK.findall(text, start, blank.end())))
        )
        return blank[0], step.after(blank[0], (blank.end(), blank.end() + 1), count)
    if begins:
        if end := _rows_end(text, start):
            form = drawn(begins + text[start:end])[len(begins) :]
            return form, step.after(form, (end, end), Count(), begins)
    elif opens := _opens(text, start):
        end = start + len(opens)
        return opens, step.after(opens, (end, end), Count(), opens)
    found = _ENDS.search(text, start)
    if found is None:
        return None
    end, known = (found.start(), found.end()) if found["mark"] else (found.end(), found.end() + 1)
    part = text[start:end]
    if _REACHES.search(part) or pings(part) or not (part or begins):
        return None
    form = drawn(begins + part)[len(begins) :]
    return form, step.after(form, (end, known), counted(begins + part))


def _code(text: str, step: Step) -> tuple[str, Step] | None:
    """Return the lines of code that have ended, up to the fence that ends it."""
    mark = step.begins[: len(step.begins) - len(step.begins.lstrip(step.begins[0]))]
    closing = re.compile(rf"^ {{0,3}}{mark}{mark[0]}*[ \t]*\n", re.MULTILINE)
    found = closing.search(text, step.end)
    end = found.end() if found else text.rfind("\n", step.end) + 1
    lines = text[step.end : end]
    if end <= step.end or pings(lines):
        return None
    count = Count(int(found is not None), 0, len(_BREAK.findall(text, step.end, end)))
    return lines, step.after(lines, (end, end), count, "" if found else step.begins)


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
    if fence := _FENCE.match(text, start):
        return "" if pings(fence[0]) else fence[0]
    if (found := _HEAD.match(text, start)) is None:
        return ""
    head, rule = (one.rstrip().removeprefix("|").removesuffix("|") for one in found.groups())
    cells = rule.split("|")
    is_head = len(cells) == head.count("|") + 1 and all(map(_RULE.fullmatch, cells))
    return found[0] if is_head and not pings(found[0]) and drawn(found[0]) == found[0] else ""
