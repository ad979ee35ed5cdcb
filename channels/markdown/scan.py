"""Finds the positions where a Markdown text may be cut."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from channels.markdown.breakpoints import Cut, Frame, Leaf, Level, Number, Plan, chain, combines
from channels.markdown.spoilers import spoilers
from channels.markdown.tree import MarkdownEvent, parse

_MARKER: Final = re.compile(r"[ \t]*(?:[-+*]|(\d{1,9})[.)])(?:( {1,4})(?=[^ \n]))?")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[^\r\n]*")
_LINE: Final = re.compile(r"[^\r\n]+")
_STEPS: Final = {"open": 1, "close": -1, "leaf": 0}
MAX_DEPTH: Final = 100
_TICKS: Final = re.compile(r"`+")
_SPANS: Final = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image"})
_BLOCKS: Final = frozenset(
    {"Paragraph", "Heading", "List", "Item", "BlockQuote", "CodeBlock", "Table"}
)
_ROWS: Final = frozenset({"TableHead", "TableRow"})


def plan(text: str) -> Plan:
    """Return the plan of a text; no cut falls inside a grapheme.

    Text that is nested deeper than any person would read is planned as if it had no Markdown: each
    piece would repeat all of its marks.
    """
    events = parse(text)
    depth = max(accumulate((_STEPS[event.phase] for event in events), initial=0))
    return _Planner(text).plan(events if depth <= MAX_DEPTH else ())


def _spoiler(start: int, parent: Frame | None) -> Frame:
    return Frame("span", start, parent, "||", "||")


class _Planner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._plan = Plan(text)
        self._frame: Frame | None = None
        self._stack: list[Frame | None] = []
        self._lists: list[tuple[MarkdownEvent, list[int]]] = []
        self._spans = 0
        self._depth = 0
        self._is_first = True
        self._new_line = False
        self._after_heading = False
        self._after_block = False
        self._rows = 0
        self._code = False
        self._last = 0
        self._bars: deque[int] = deque()
        self._spoiler: Frame | None = None

    def plan(self, events: Sequence[MarkdownEvent]) -> Plan:
        if not events:
            self._flat()
        if "||" in self._text:
            self._bars.extend(spoilers(events, self._text))
        for event in events:
            if event.phase == "leaf":
                self._leaf(event)
            elif event.phase == "close":
                self._close(event)
            elif event.name in _SPANS:
                self._open_span(event)
            elif event.name in _ROWS:
                self._open_row(event)
            else:
                self._open_block(event)
        return self._plan

    def _flat(self) -> None:
        for found in _LINE.finditer(self._text):
            self._line(found.start())
            self._cut(found.start(), Level.LINE)
            self._plan.leaves.append(Leaf(*found.span(), None, Level.WORD))

    def _open_block(self, event: MarkdownEvent) -> None:
        self._stack.append(self._frame)
        if event.name == "CodeBlock":
            self._open_code(event)
            return
        if event.name in _BLOCKS:
            self._block_cut(event.start)
        if event.name == "BlockQuote":
            self._frame = Frame("quote", event.start, self._frame)
            self._depth += 1
            self._is_first = True
        elif event.name == "List":
            self._lists.append((event, []))
            self._is_first = True
        elif event.name == "Item":
            self._open_item(event)
        elif event.name == "Heading":
            marks = "#" * int(event.data["level"][1]) + " "
            opening = marks if self._text.startswith("#", event.start) else ""
            self._frame = Frame("heading", event.start, self._frame, opening)
        elif event.name == "Table":
            self._frame = Frame("table", event.start, self._frame)
            self._rows = 0

    def _block_cut(self, place: int) -> None:
        level = Level(min(self._depth, Level.LINE))
        if self._after_heading:
            level = Level.WORD
        self._line(place)
        if not self._is_first:
            self._cut(place, level)
        self._is_first = self._after_heading = self._after_block = self._new_line = False

    def _open_item(self, event: MarkdownEvent) -> None:
        marker = _MARKER.match(self._text, event.start)
        first, written = self._lists[-1]
        width, wider = 2, 0
        if marker is not None:
            width = len(marker[0]) + (not marker[2])
            if first.data is not None and marker[1]:
                wider = self._number(marker.start(1), marker[1], first, written)
        frame = Frame("item", event.start, self._frame, width=width, wider=wider)
        frame.list_start = first.start
        self._frame = frame
        self._depth += 1
        self._is_first = True

    def _number(self, start: int, digits: str, first: MarkdownEvent, written: list[int]) -> int:
        number = written[0] + 1 if written and int(digits) == written[1] else int(digits)
        written[:] = [number, int(digits)]
        self._plan.numbers.append(Number(start, len(digits), number, first.start, self._frame))
        return len(str(number)) - len(digits)

    def _open_code(self, event: MarkdownEvent) -> None:
        fence = _FENCE.match(self._text, event.start)
        if fence is None or event.data == "Indented":
            self._frame = Frame("indent", event.start, self._frame)
            self._block_cut(event.start)  # a piece that begins here needs this indent
        else:
            lead = self._lead(event.start)
            self._block_cut(event.start - lead)
            opening, marks = fence[0].rstrip() + "\n", fence[1]
            frame = Frame("fence", event.start, self._frame, opening, "\n" + marks, marks + "\n")
            frame.width = lead
            self._frame = frame
        self._code = self._is_first = True

    def _lead(self, place: int) -> int:
        """Return how far a fence is indented inside its container."""
        own = self._text[self._text.rfind("\n", 0, place) + 1 : place]
        if own.strip("> \t"):
            return 0
        _, mark, rest = own.rpartition(">")
        lead = len(rest) - len(mark)
        for frame in reversed(chain(self._frame)):
            if frame.kind == "quote":
                break
            lead -= frame.width
        return max(0, min(lead, 3))

    def _open_row(self, event: MarkdownEvent) -> None:
        self._stack.append(self._frame)
        if event.name == "TableRow":
            self._line(event.start)
            self._cut(event.start, Level.LINE if self._rows else Level.INSIDE)
            self._rows += 1

    def _close(self, event: MarkdownEvent) -> None:
        frame = self._frame
        self._frame = self._stack.pop()
        if event.name in _SPANS:
            self._close_span(event, frame)
            if self._spoiler is not None and self._spoiler not in chain(self._frame):
                # It began inside the span, and goes on behind it.
                self._spoiler = self._frame = _spoiler(self._spoiler.start, self._frame)
            return
        if event.name in ("BlockQuote", "Item"):
            self._depth -= 1
        elif event.name == "List":
            self._lists.pop()
        elif event.name == "TableHead":
            self._close_head(event)
        elif event.name == "CodeBlock":
            self._code = False
            self._line_of(event.end, frame)
            if frame is not None and frame.kind == "fence":
                self._close_fence(event, frame)
        self._after_heading = event.name == "Heading"
        if event.name in _BLOCKS:
            self._after_block = True
            self._is_first = False

    def _close_fence(self, event: MarkdownEvent, frame: Frame) -> None:
        last = self._text.rfind("\n", event.start, event.end)
        line = self._text[last + 1 : event.end].strip("> \t\r")
        marks = frame.closing.strip()
        if last < 0 or len(line) < len(marks) or line.strip(marks[0]):
            leaf = self._plan.leaves[-1] if self._plan.leaves else None
            end = leaf.end if leaf and leaf.frame is frame else event.start + len(frame.opening) - 1
            self._plan.left_open.append((end - (self._text[end - 1] == "\n"), frame))

    def _close_head(self, event: MarkdownEvent) -> None:
        head = self._text[event.start : event.end].strip()
        end = self._text.find("\n", event.end)
        under = self._text[event.end : end if end >= 0 else None]
        delimiter = under.strip().lstrip("> \t")
        if self._frame is not None:
            self._frame.opening = f"{head}\n{delimiter}\n"
        self._line_of(event.end + len(under), self._frame)

    def _leaf(self, event: MarkdownEvent) -> None:
        if self._code:
            self._code_lines(event)
            return
        if event.name == "Rule":
            self._block_cut(event.start)
            self._after_block = True
            self._plan.leaves.append(Leaf(event.start, event.end, self._frame, Level.WORD, True))
            return
        if event.name in ("SoftBreak", "HardBreak"):
            self._new_line = True
            return
        self._begin_inline(event)
        if event.name == "Text":
            self._words(event)
        else:
            self._formula_or_code(event)
        self._last = event.end

    def _words(self, event: MarkdownEvent) -> None:
        whole = len(event.data) != event.end - event.start
        start = event.start
        while self._bars and self._bars[0] < event.end:
            at = self._bars.popleft()
            self._run(start, at, whole)
            self._turn_spoiler(at)
            start = at + 2
        self._run(start, event.end, whole)

    def _run(self, start: int, end: int, whole: bool) -> None:
        if start < end:
            level = self._level(Level.WORD)
            self._plan.leaves.append(Leaf(start, end, self._frame, level, whole))

    def _turn_spoiler(self, at: int) -> None:
        """Begin a spoiler at two bars, or end the one that has begun."""
        if self._spoiler is None:
            self._spoiler = self._frame = _spoiler(at, self._frame)
            self._spans += 1
            return
        if self._frame is self._spoiler:
            self._frame = self._spoiler.parent
        self._spoiler = None
        self._spans -= 1

    def _begin_inline(self, event: MarkdownEvent) -> None:
        escaped = event.name == "Text" and self._text[event.start - 1 : event.start] == "\\"
        start = event.start - escaped
        if self._after_block:
            self._block_cut(start)
        elif self._new_line:
            self._line(start)
            self._cut(start, self._level(Level.LINE))
        elif event.name != "Text" and not self._spans:
            self._cut(event.start, Level.INSIDE, line=False)
        self._is_first = self._new_line = self._after_block = False

    def _level(self, level: Level) -> Level:
        frame = self._frame
        if self._spans or (frame is not None and frame.kind in ("table", "heading")):
            return Level.INSIDE
        return level

    def _formula_or_code(self, event: MarkdownEvent) -> None:
        ticks = _TICKS.match(self._text, event.start) if event.name == "Code" else None
        marks = ticks[0] if ticks else ""
        again = marks if len(marks) < 3 else ""  # three backticks would open a fence
        frame = Frame("span", event.start, self._frame, again, again)
        start, end = event.start + len(marks), event.end - len(marks)
        self._plan.leaves.append(Leaf(start, end, frame, Level.INSIDE))

    def _code_lines(self, event: MarkdownEvent) -> None:
        text = self._text
        self._plan.leaves.append(Leaf(event.start, event.end, self._frame, Level.INSIDE))
        start = event.start
        if text.startswith("\n", start) and text[start - 1] == "\r":
            start -= 1
        if self._is_first or self._new_line:
            self._code_line(start)
        while (found := text.find("\n", start, event.end)) >= 0:
            start = found + 1
            self._new_line = start == event.end
            if start < event.end:
                self._code_line(start)

    def _code_line(self, place: int) -> None:
        self._line(place)
        if not self._is_first:
            self._cut(place, Level.LINE)
        self._is_first = self._new_line = False

    def _open_span(self, event: MarkdownEvent) -> None:
        self._begin_inline(event)
        self._stack.append(self._frame)
        self._spans += 1
        marks = ""
        if event.name in ("Emphasis", "Strong"):
            marks = self._text[event.start] * (1 if event.name == "Emphasis" else 2)
        elif event.name == "Strikethrough":
            marks = "~~" if self._text.startswith("~~", event.start) else ""
        elif event.name == "Link" and self._text.startswith("[", event.start):
            marks = "["
        self._frame = Frame("span", event.start, self._frame, marks, marks)

    def _close_span(self, event: MarkdownEvent, frame: Frame | None) -> None:
        self._spans -= 1
        if event.name == "Link" and frame is not None and frame.opening:
            frame.closing = self._text[self._last : event.end]
        self._last = event.end

    def _line(self, place: int) -> None:
        self._plan.lines.append((place, self._frame))

    def _line_of(self, end: int, frame: Frame | None) -> None:
        start = self._text.rfind("\n", 0, end - 1) + 1
        line = self._text[start:end]
        self._plan.lines.append((start + len(line) - len(line.lstrip("> \t")), frame))

    def _cut(self, place: int, level: Level, *, line: bool = True) -> None:
        if 0 < place < len(self._text) and not combines(self._text[place]):
            self._plan.cuts.append(Cut(place, level, self._frame, line))
