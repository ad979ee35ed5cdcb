"""Writes Markdown as a rich message: explicit blocks, which Telegram neither parses nor searches.

No block is a file or an image, since Telegram fetches an image's address by itself; none has a
button, and no text is a mention. https://core.telegram.org/bots/api#inputrichmessage
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final
from unicodedata import bidirectional

from channels.markdown.render import ListNumbers
from channels.markdown.spoilers import spoilers
from channels.markdown.table import text_table
from channels.markdown.tree import MarkdownEvent, parse
from channels.telegram.format import LIMIT, begun, clean, linkable, size
from channels.telegram.rich_words import RichWords

MAX_BLOCKS: Final = 500
"""Maximum number of blocks of a message, counting those inside others, list items and rows."""

MAX_DEPTH: Final = 16  # maximum depth of blocks and marks inside each other
MAX_COLUMNS: Final = 20  # maximum number of columns of a table
MAX_CHARACTERS: Final = 32_768

Block = dict[str, Any]
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,40}")
_MARKS: Final = {"Strong": "bold", "Emphasis": "italic", "Strikethrough": "strike"}
_STRONG: Final = ("L", "R", "AL")  # what decides a text's direction: the first such letter
_ALIGNED: Final = {"Center": "center", "Right": "right"}


@lru_cache(maxsize=16)  # cached, since a piece is measured and then sent
def rich_message(markdown: str) -> Mapping[str, Any] | None:
    """Return a text as an InputRichMessage, or None if no rich message can show it.

    That is a text that has nothing visible, or exceeds one of Telegram's limits.
    """
    source = clean(markdown)
    blocks = _Writer(source).written()
    if not blocks:
        return None
    # Unlike a text, a rich message has the direction that it is given.
    strong = (kind for kind in map(bidirectional, source) if kind in _STRONG)
    direction = {"is_rtl": True} if next(strong, "L") != "L" else {}
    return {"blocks": blocks, "skip_entity_detection": True, **direction}


def rich_partial(markdown: str) -> Mapping[str, Any] | None:
    """Return the first message of an unfinished text as `rich_message` does."""
    return rich_message(begun(markdown, rich_size))


def rich_size(markdown: str) -> int:
    """Return the size of a text that may be sent in either form, at most LIMIT if both fit.

    Each piece fits a message with entities, too, in case a rich message is refused.
    """
    return max(size(markdown), -(-_blocks(markdown) * LIMIT // MAX_BLOCKS))


@lru_cache(maxsize=16)
def _blocks(markdown: str) -> int:
    writer = _Writer(clean(markdown))
    writer.written()
    return writer.count


class _Writer:
    def __init__(self, source: str) -> None:
        self.count = 0
        self._source = source
        self._size = 0
        self._deepest = 0
        self._shows = False
        self._open: list[list[Block]] = [[]]
        self._items: list[list[Block]] = []
        self._lists: list[ListNumbers] = []
        self._depth = 0
        self._run: RichWords | None = None
        self._starts: list[int] = []
        self._links: list[tuple[int, str]] = []
        self._spoilers: deque[int] = deque()
        self._hidden: int | None = None
        self._code: list[str] | None = None
        self._info = ""
        self._aligned: list[str] = []
        self._rows: list[list[RichWords]] = []

    def written(self) -> list[Block]:
        """Return the blocks, or none if they exceed a limit."""
        events = parse(self._source)
        if "||" in self._source:
            self._spoilers.extend(spoilers(events, self._source))
        for event in events:
            if event.phase == "leaf":
                self._leaf(event)
            else:
                begin, end = _CONTAINERS.get(event.name, (_nothing, _nothing))
                (begin if event.phase == "open" else end)(self, event)
        self._end_run()
        fits = self.count <= MAX_BLOCKS and self._deepest <= MAX_DEPTH
        fits = fits and self._size <= MAX_CHARACTERS
        return self._open[0] if fits and self._shows else []

    # -- words

    def _words(self) -> RichWords:
        """Return the words of the block under way; the text of a tight list has no paragraph."""
        if self._run is None:
            self._run = RichWords()
        return self._run

    def _leaf(self, event: MarkdownEvent) -> None:
        name, data = event.name, event.data
        if self._code is not None:
            self._code.append(data or "\n")
        elif name == "Text":
            self._text(event)
        elif name in ("SoftBreak", "HardBreak"):
            self._words().write(" " if self._rows else "\n")
        elif name == "Code":
            self._marked("code", data)
        elif name in ("InlineMath", "DisplayMath") and str(data).strip():
            self._marked("formula", str(data).strip())
        elif name == "TaskListMarker" and self._items:
            self._items[-1][-1] |= {"has_checkbox": True} | ({"is_checked": True} if data else {})
        elif name == "Rule":
            self._end_run()
            self._add({"type": "divider"})
        else:
            self._words().write(self._source[event.start : event.end])

    def _marked(self, kind: str, text: str) -> None:
        run = self._words()
        start = run.size
        run.write(text)
        run.mark(kind, start)

    def _text(self, event: MarkdownEvent) -> None:
        run, last = self._words(), 0
        while self._spoilers and self._spoilers[0] < event.end:
            at = self._spoilers.popleft() - event.start
            run.write(event.data[last:at])
            last = at + 2
            if self._hidden is None:
                self._hidden = run.size
            else:
                run.mark("spoiler", self._hidden)
                self._hidden = None
        run.write(event.data[last:])

    def begin_mark(self, event: MarkdownEvent) -> None:
        self._starts.append(self._words().size)
        self._write_tilde(event)

    def end_mark(self, event: MarkdownEvent) -> None:
        start = self._starts.pop()
        if not self._write_tilde(event):
            self._words().mark(_MARKS[event.name], start)

    def _write_tilde(self, event: MarkdownEvent) -> bool:
        """Write a single `~`, which means "about"; return whether the event was one."""
        if event.name != "Strikethrough" or self._source.startswith("~~", event.start):
            return False
        self._words().write("~")
        return True

    def begin_link(self, event: MarkdownEvent) -> None:
        self._links.append((self._words().size, str(event.data["dest_url"])))

    def end_link(self, _event: MarkdownEvent) -> None:
        """End a link, or an image, of which its label is shown as a link, too."""
        start, url = self._links.pop()
        run = self._words()
        label = run.since(start)
        if not label.strip():
            run.write(url)
        elif not self._links and linkable(url):
            run.mark("link", start, url)
        elif url and url != label:
            run.write(f" ({url})")

    # -- blocks

    def _add(self, block: Block, inside: int = 0) -> None:
        """Add a block, with the levels of the text inside it."""
        self.count += 1
        self._shows = self._shows or inside > 0
        self._deepest = max(self._deepest, self._depth + 1 + inside)
        self._open[-1].append(block)

    def _end_run(self, **of_heading: Any) -> None:
        """End the words under way as a paragraph, a formula, or a heading."""
        run, self._run, self._hidden = self._run, None, None
        if run is None:
            return
        text, depth = run.rich()
        self._size += run.size
        if formula := run.formula():
            self._add({"type": "mathematical_expression", "expression": formula}, 1)
        elif text:
            self._add({"type": "paragraph", "text": text, **of_heading}, depth)

    def begin_paragraph(self, _event: MarkdownEvent) -> None:
        self._end_run()

    def end_paragraph(self, _event: MarkdownEvent) -> None:
        self._end_run()

    def end_heading(self, event: MarkdownEvent) -> None:
        self._end_run(type="heading", size=int(str(event.data)[1:]))

    def begin_quote(self, _event: MarkdownEvent) -> None:
        self._end_run()
        self._depth += 1
        self._open.append([])

    def end_quote(self, _event: MarkdownEvent) -> None:
        self._end_run()
        blocks = self._open.pop()
        self._depth -= 1
        if blocks:  # Telegram refuses a quotation of nothing
            self._add({"type": "blockquote", "blocks": blocks})

    def begin_list(self, event: MarkdownEvent) -> None:
        self._end_run()
        self._depth += 1
        self._items.append([])
        self._lists.append(ListNumbers(event.data))

    def end_list(self, _event: MarkdownEvent) -> None:
        self._lists.pop()
        self._depth -= 1
        self._add({"type": "list", "items": self._items.pop()})

    def begin_item(self, event: MarkdownEvent) -> None:
        number = self._lists[-1].take(self._source, event.start)
        self._items[-1].append({"value": number[0], "type": "1"} if number else {})
        self._depth += 1
        self._open.append([])

    def end_item(self, _event: MarkdownEvent) -> None:
        self._end_run()
        item, blocks = self._items[-1][-1], self._open.pop()
        self._depth -= 1
        self.count += 1
        if not blocks:  # Telegram refuses an item without a block
            self.count += 1
            blocks = [{"type": "paragraph", "text": ""}]
        item["blocks"] = blocks

    def begin_code(self, event: MarkdownEvent) -> None:
        self._end_run()
        self._code = []
        self._info = event.data["Fenced"].strip() if isinstance(event.data, dict) else ""

    def end_code(self, _event: MarkdownEvent) -> None:
        code, info = "".join(self._code or ()).removesuffix("\n"), self._info
        self._code = None
        if not code.strip():
            code, info = info, ""  # the code was written on the fence's own line
        language = _LANGUAGE.match(info)
        self._preformatted(code, language[0] if language else "")

    def _preformatted(self, text: str, language: str = "") -> None:
        self._size += len(text)
        if text.strip():  # Telegram refuses a block of nothing
            named = {"language": language} if language else {}
            self._add({"type": "pre", "text": text, **named}, 1)

    # -- tables

    def begin_table(self, event: MarkdownEvent) -> None:
        self._end_run()
        self._aligned = [_ALIGNED.get(one, "left") for one in event.data or ()]

    def begin_row(self, _event: MarkdownEvent) -> None:
        self._rows.append([])

    def begin_cell(self, _event: MarkdownEvent) -> None:
        self._run = RichWords()

    def end_cell(self, _event: MarkdownEvent) -> None:
        self._rows[-1].append(self._words())
        self._run = None

    def end_table(self, _event: MarkdownEvent) -> None:
        rows, self._rows = self._rows, []
        width = max(map(len, rows), default=0)
        if width > MAX_COLUMNS:
            self._preformatted(text_table([[cell.lines() for cell in row] for row in rows]))
            return
        cells, inside = [], 0
        for number, row in enumerate(rows):
            padded = [*row, *(RichWords() for _ in range(width - len(row)))]
            found = [self._cell(cell, at, number == 0) for at, cell in enumerate(padded)]
            cells.append([cell for cell, _depth in found])
            inside = max(inside, *(depth for _cell, depth in found))
        self.count += len(rows)
        self._add({"type": "table", "cells": cells, "is_bordered": True}, 2 + inside)

    def _cell(self, run: RichWords, column: int, is_header: bool) -> tuple[Block, int]:
        text, depth = run.rich()
        self._size += run.size
        align = self._aligned[column] if column < len(self._aligned) else "left"
        cell: Block = {"align": align, "valign": "top"}
        if text:
            cell["text"] = text
        if is_header:
            cell["is_header"] = True
        return cell, depth


_Step = Callable[[_Writer, MarkdownEvent], None]


def _nothing(_writer: _Writer, _event: MarkdownEvent) -> None: ...


_CONTAINERS: Final[dict[str, tuple[_Step, _Step]]] = {
    "Paragraph": (_Writer.begin_paragraph, _Writer.end_paragraph),
    "Heading": (_Writer.begin_paragraph, _Writer.end_heading),
    "BlockQuote": (_Writer.begin_quote, _Writer.end_quote),
    "List": (_Writer.begin_list, _Writer.end_list),
    "Item": (_Writer.begin_item, _Writer.end_item),
    "CodeBlock": (_Writer.begin_code, _Writer.end_code),
    "Table": (_Writer.begin_table, _Writer.end_table),
    "TableHead": (_Writer.begin_row, _nothing),
    "TableRow": (_Writer.begin_row, _nothing),
    "TableCell": (_Writer.begin_cell, _Writer.end_cell),
    "Link": (_Writer.begin_link, _Writer.end_link),
    "Image": (_Writer.begin_link, _Writer.end_link),
    **dict.fromkeys(_MARKS, (_Writer.begin_mark, _Writer.end_mark)),
}
