"""Renders Markdown as plain text, with or without a list of its marks."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from channels.markdown.signs import with_signs
from channels.markdown.spoilers import spoilers
from channels.markdown.table import text_table
from channels.markdown.tree import MarkdownEvent, parse

_MARKS: Final = {"Strong": "bold", "Emphasis": "italic", "Strikethrough": "strike"}
_INLINE: Final = frozenset({*_MARKS, "Link", "Image"})
_NUMBER: Final = re.compile(r"[ \t]*(\d{1,9})([.)])")
_INVISIBLE: Final = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]+"
)
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,40}")


class Span(NamedTuple):
    """A mark on part of a rendered text.

    kind   bold, italic, strike, spoiler, code, pre, quote or link
    value  a link's URL, or a code block's language
    """

    kind: str
    start: int
    end: int
    value: str = ""


class Rendered(NamedTuple):
    """A text without Markdown syntax, and its nested marks, ordered by where they end."""

    text: str
    marks: list[Span]


def render_spans(
    markdown: str, *, linkable: Callable[[str], bool], plain: bool = False
) -> Rendered:
    """Render Markdown as text with a list of its marks.

    A link whose URL is not `linkable` becomes `label (url)`. If `plain`, quotes begin with `> `,
    since the reader sees no marks.
    """
    return _Renderer(markdown, linkable, plain).rendered()


def to_text(markdown: str) -> str:
    """Return Markdown as plain text that keeps all readable content."""
    return render_spans(markdown, linkable=lambda _url: False, plain=True).text


def text_outside_code(text: str) -> str:
    """Return a Markdown text without its code and without marks."""
    return "".join(_outside_code(parse(text)))


def is_visible(text: str) -> bool:
    """Return whether a Markdown text shows anything once it is rendered."""
    return bool(text) and _INVISIBLE.fullmatch(text) is None


def _outside_code(events: list[MarkdownEvent]) -> Iterator[str]:
    in_code = 0
    for event in events:
        if event.name == "CodeBlock":
            in_code += 1 if event.phase == "open" else -1
        elif event.phase == "close" and event.name not in _INLINE:
            yield "\n"
        elif event.phase == "leaf" and not in_code:
            yield event.data if event.name == "Text" else " "


class _Renderer:
    def __init__(self, source: str, linkable: Callable[[str], bool], plain: bool) -> None:
        self._source = with_signs(source)
        self._linkable = linkable
        self._plain = plain
        self._parts: list[str] = []
        self._size = 0
        self._marks: list[Span] = []
        self._open: list[int] = []
        self._lists: list[ListNumbers] = []
        self._quotes = 0
        self._links: list[tuple[int, str]] = []
        self._block_ended = False
        self._line_is_empty = False
        self._code: list[str] | None = None
        self._code_at = 0
        self._info = ""
        self._rows: list[list[str]] = []
        self._cell: list[str] | None = None
        self._spoilers: deque[int] = deque()
        self._hidden: int | None = None

    def rendered(self) -> Rendered:
        events = parse(self._source)
        if not self._plain and "||" in self._source:
            self._spoilers.extend(spoilers(events, self._source))
        for event in events:
            if event.phase == "leaf":
                self._leaf(event)
            else:
                begin, end = _CONTAINERS[event.name]
                (begin if event.phase == "open" else end)(self, event)
        return Rendered("".join(self._parts), self._marks)

    def _write(self, text: str) -> None:
        if self._cell is not None:
            self._cell.append(text)
            return
        self._line_is_empty = False
        self._parts.append(text)
        self._size += len(text)

    def _mark(self, kind: str, start: int, value: str = "") -> None:
        if self._cell is None and self._size > start:
            self._marks.append(Span(kind, start, self._size, value))

    def _margin(self) -> str:
        return "> " * (self._quotes if self._plain else 0) + "  " * len(self._lists)

    def _block(self, start: int, *, flush: bool = False) -> None:
        self._block_ended = False
        if self._line_is_empty or not self._size:
            return
        lines = "\n\n" if _blank_before(self._source, start) else "\n"
        self._write(lines if flush else lines + self._margin())

    def _leaf(self, event: MarkdownEvent) -> None:
        name, data = event.name, event.data
        if self._code is not None:
            self._code.append(data or "\n")
            return
        if self._block_ended or name == "Rule":
            self._block(event.start)
        if name == "Text":
            self._text(event)
        elif name in ("SoftBreak", "HardBreak"):
            self._write(" " if self._cell is not None else "\n" + self._margin())
        elif name == "Code":
            start = self._size
            self._write(data)
            self._mark("code", start)
        elif name == "Rule":
            self._write("———")
            self._block_ended = True
        elif name == "TaskListMarker":
            self._tick(data)
        else:
            self._write(self._source[event.start : event.end])  # a formula that has no signs

    def _text(self, event: MarkdownEvent) -> None:
        last = 0
        while self._spoilers and self._spoilers[0] < event.end:
            at = self._spoilers.popleft() - event.start
            self._write(event.data[last:at])
            last = at + 2
            if self._hidden is None:
                self._hidden = self._size
            else:
                self._mark("spoiler", self._hidden)
                self._hidden = None
        self._write(event.data[last:])

    def _tick(self, done: bool) -> None:
        if self._line_is_empty:
            self._size -= len(self._parts.pop())
        self._write("☑ " if done else "☐ ")

    def begin_block(self, event: MarkdownEvent) -> None:
        self._block(event.start)

    def end_block(self, _event: MarkdownEvent) -> None:
        self._block_ended = True

    def end_nothing(self, _event: MarkdownEvent) -> None: ...

    def begin_heading(self, event: MarkdownEvent) -> None:
        self._block(event.start)
        self._open.append(self._size)

    def end_heading(self, _event: MarkdownEvent) -> None:
        self._mark("bold", self._open.pop())
        self._block_ended = True

    def begin_quote(self, event: MarkdownEvent) -> None:
        outermost = not self._quotes
        self._block(event.start)
        self._quotes += 1
        if self._plain:
            self._write("> ")
        self._line_is_empty = True
        if outermost:
            self._open.append(self._size)

    def end_quote(self, _event: MarkdownEvent) -> None:
        self._quotes -= 1
        if not self._quotes:
            self._mark("quote", self._open.pop())
        self._block_ended = True

    def begin_list(self, event: MarkdownEvent) -> None:
        self._block(event.start)
        self._lists.append(ListNumbers(event.data))

    def end_list(self, _event: MarkdownEvent) -> None:
        self._lists.pop()
        self._block_ended = True

    def begin_item(self, event: MarkdownEvent) -> None:
        nested = self._lists.pop()
        if nested.started:
            self._block(event.start)
        self._lists.append(nested)
        self._write(nested.bullet(self._source, event.start))
        self._line_is_empty = True

    def begin_code(self, event: MarkdownEvent) -> None:
        self._code = []
        self._code_at = event.start
        self._info = event.data["Fenced"].strip() if isinstance(event.data, dict) else ""

    def end_code(self, _event: MarkdownEvent) -> None:
        code, info = "".join(self._code or ()).removesuffix("\n"), self._info
        self._code = None
        if not code.strip():
            code, info = info, ""  # the code was written on the fence's own line
        self._block(self._code_at, flush=True)
        start = self._size
        self._write(code)
        language = _LANGUAGE.match(info)
        self._mark("pre", start, language[0] if language else "")
        self._block_ended = True

    def begin_mark(self, event: MarkdownEvent) -> None:
        self._inline(event)
        self._open.append(self._size)
        self._write_tilde(event)

    def end_mark(self, event: MarkdownEvent) -> None:
        start = self._open.pop()
        if not self._write_tilde(event):
            self._mark(_MARKS[event.name], start)

    def _write_tilde(self, event: MarkdownEvent) -> bool:
        """Write a single `~`, which means "about"; return whether the event was one."""
        if event.name != "Strikethrough" or self._source.startswith("~~", event.start):
            return False
        self._write("~")
        return True

    def _inline(self, event: MarkdownEvent) -> None:
        if self._block_ended:
            self._block(event.start)

    def begin_link(self, event: MarkdownEvent) -> None:
        self._inline(event)
        start = self._size if self._cell is None else len(self._cell)
        self._links.append((start, str(event.data["dest_url"])))

    def end_link(self, _event: MarkdownEvent) -> None:
        start, url = self._links.pop()
        label = self._since(start)
        if not label.strip():
            self._write(url)
        elif self._cell is None and not self._links and self._linkable(url):
            self._mark("link", start, url)
        elif url and url != label:
            self._write(f" ({url})")

    def _since(self, start: int) -> str:
        if self._cell is not None:
            return "".join(self._cell[start:])
        size = self._size - start
        tail: list[str] = []
        while size > 0:
            tail.append(self._parts[-1 - len(tail)])
            size -= len(tail[-1])
        return "".join(reversed(tail))

    def begin_table(self, event: MarkdownEvent) -> None:
        self._block(event.start, flush=True)

    def begin_row(self, _event: MarkdownEvent) -> None:
        self._rows.append([])

    def begin_cell(self, _event: MarkdownEvent) -> None:
        self._cell = []

    def end_cell(self, _event: MarkdownEvent) -> None:
        self._rows[-1].append("".join(self._cell or ()))
        self._cell = None

    def end_table(self, _event: MarkdownEvent) -> None:
        start = self._size
        self._write(text_table(self._rows))
        self._mark("pre", start)
        self._rows = []
        self._block_ended = True


class ListNumbers:
    """The numbers of a list's items; `first` is the list's data, None for a list of bullets."""

    def __init__(self, first: int | None) -> None:
        self._ordered = first is not None
        self._written: int | None = None
        self._number = 0
        self.started = False

    def take(self, source: str, start: int) -> tuple[int, str] | None:
        """Return the number of the item that begins at a position, and the mark behind it."""
        self.started = True
        written = _NUMBER.match(source, start)
        if not self._ordered or written is None:
            return None
        number = int(written[1])
        # A list written as "1. 1. 1." is counted up; any other numbers are intended.
        self._number = self._number + 1 if number == self._written else number
        self._written = number
        return self._number, written[2]

    def bullet(self, source: str, start: int) -> str:
        number = self.take(source, start)
        return f"{number[0]}{number[1]} " if number else "• "


def _blank_before(source: str, start: int) -> bool:
    lines = 0
    while start and source[start - 1] in " \t\r\n>":
        start -= 1
        lines += source[start] == "\n"
    return lines > 1


_Step = Callable[[_Renderer, MarkdownEvent], None]
_CONTAINERS: Final[dict[str, tuple[_Step, _Step]]] = {
    "Paragraph": (_Renderer.begin_block, _Renderer.end_block),
    "Heading": (_Renderer.begin_heading, _Renderer.end_heading),
    "BlockQuote": (_Renderer.begin_quote, _Renderer.end_quote),
    "List": (_Renderer.begin_list, _Renderer.end_list),
    "Item": (_Renderer.begin_item, _Renderer.end_nothing),
    "CodeBlock": (_Renderer.begin_code, _Renderer.end_code),
    "Table": (_Renderer.begin_table, _Renderer.end_table),
    "TableHead": (_Renderer.begin_row, _Renderer.end_nothing),
    "TableRow": (_Renderer.begin_row, _Renderer.end_nothing),
    "TableCell": (_Renderer.begin_cell, _Renderer.end_cell),
    "Link": (_Renderer.begin_link, _Renderer.end_link),
    "Image": (_Renderer.begin_link, _Renderer.end_link),
    **dict.fromkeys(_MARKS, (_Renderer.begin_mark, _Renderer.end_mark)),
}
