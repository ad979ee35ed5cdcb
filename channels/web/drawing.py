"""Draws the events of a Markdown text as HTML for the page.

Nothing of a text becomes HTML by itself: each tag and attribute is written here, and all else is
escaped. An image becomes a link with the image's number; a formula becomes MathML (mathml.py), or
code where it cannot be drawn. What the page itself draws further (task boxes, footnotes) is left as
text that it knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from channels.markdown.literal import formulas
from channels.markdown.tree import MarkdownEvent
from channels.web.links import bare_links, href
from channels.web.mathml import MAX_SOURCE, mathml

HEADING_OFFSET: Final = 2
"""How many levels a message's headings are lowered, since the page itself uses h1 and h2."""

MAX_DEPTH: Final = 40
"""Maximum containers inside each other that are drawn; what is deeper is in the last of them."""

LONG_FORMULA: Final = 60
"""How many characters a formula in a line may have before it scrolls where the line is short."""

_WAYS: Final = ' target="_blank" rel="noopener noreferrer"'
_LEVEL: Final = re.compile(r"\D*(\d)")
_LANGUAGE: Final = re.compile(r"\S+")
_QUOTED: Final = re.compile(r"\n(?:[ \t]*>[ \t]?)+")
_PRICE: Final = re.compile(r"(?:[^\W_]|[.,;:!?'\" -]){2,}")
"""What stands between two dollar signs without being a formula, as in "$5 or 10$"."""

_OPENING: Final = {
    "Paragraph": "<p>",
    "BlockQuote": "<blockquote>\n",
    "Item": "<li>",
    "TableHead": "<thead>\n<tr>\n",
    "TableRow": "<tr>\n",
    "Emphasis": "<em>",
    "Strong": "<strong>",
}
_CLOSING: Final = {
    "Paragraph": "</p>\n",
    "BlockQuote": "</blockquote>\n",
    "Item": "</li>\n",
    "TableHead": "</tr>\n</thead>\n",
    "TableRow": "</tr>\n",
    "Emphasis": "</em>",
    "Strong": "</strong>",
}


def draw(events: Sequence[MarkdownEvent], source: str, images: int) -> tuple[str, list[str]]:
    """Return events of a source as HTML, and the addresses of their images.

    The links of these have numbers that begin at `images`.
    """
    drawing = _Drawing(source, images)
    drawing.draw(events)
    return "".join(drawing.parts), drawing.addresses


class _Drawing:
    def __init__(self, source: str, images: int) -> None:
        self.parts: list[str] = []
        self.addresses: list[str] = []
        self._source = source
        self._images = images
        self._run: list[str] = []
        self._closing: list[str] = []
        self._links = 0
        self._columns: Sequence[str] = ()
        self._column = 0
        self._rows = 0
        self._image: list[tuple[int, str]] = []  # where its label begins, and its address

    def draw(self, events: Sequence[MarkdownEvent]) -> None:
        math = self._formulas(events)
        behind = -1
        for event in events:
            if event.phase == "leaf":
                if event.end <= behind:
                    continue
                if event.name == "Text" and self._closing[-1:] != [_CODE_END]:
                    behind = self._text(event, math, behind)
                else:
                    self._leaf(event)
            elif event.phase == "open":
                self._flush()
                self._open(event)
            else:
                self._flush()
                self._close(event)
        self._flush()

    def _formulas(self, events: Sequence[MarkdownEvent]) -> list[tuple[int, int]]:
        r"""Return where `\(..\)` and `\[..\]` are, the last one first."""
        if not events:
            return []
        start, end = events[0].start, events[-1].end
        if self._source.find("\\", start, end) < 0:
            return []
        part = self._source[start:end]
        found = [(at, stop) for at, stop in formulas(part) if stop is not None]
        return [(at + start, stop + start) for at, stop in reversed(found)]

    def _text(self, event: MarkdownEvent, math: list[tuple[int, int]], behind: int) -> int:
        """Draw a text; return where the last formula in it ends."""
        at = max(event.start, behind)
        if not math or math[-1][0] >= event.end:
            self._run.append(event.data[at - event.start :])
            return behind
        while math and math[-1][0] < event.end:
            start, end = math.pop()
            if start < at or end - start > MAX_SOURCE + 4:
                continue
            self._run.append(event.data[at - event.start : start - event.start])
            self._flush()
            written = _QUOTED.sub("\n", self._source[start:end])
            self._formula(written[2:-2], written, is_block=written[1] == "[")
            at = behind = end
        self._run.append(event.data[max(0, at - event.start) :])
        return behind

    def _formula(self, source: str, written: str, *, is_block: bool) -> None:
        """Draw a formula; `written` has its marks as well."""
        drawn = mathml(source, written, is_block=is_block)
        if drawn is None:
            self.parts.append(f'<code class="tex">{escape(written)}</code>')
            return
        more = " math-block" if is_block else " math-long" if len(source) > LONG_FORMULA else ""
        self.parts.append(f'<span class="math{more}">{drawn}</span>')

    def _leaf(self, event: MarkdownEvent) -> None:
        name = event.name
        if name == "TaskListMarker":
            self._run.append("[x] " if event.data else "[ ] ")
            return
        self._flush()
        if name in ("SoftBreak", "HardBreak"):
            self.parts.append(" " if self._image else "<br />\n")
        elif name == "Rule":
            self.parts.append("<hr />\n")
        elif name == "Code":
            self.parts.append(f"<code>{escape(event.data)}</code>")
        elif name == "Text":
            self.parts.append(escape(event.data, quote=False))
        elif self._is_formula(event):
            marks = "$$" if name == "DisplayMath" else "$"
            written = f"{marks}{event.data}{marks}"
            self._formula(event.data, written, is_block=name == "DisplayMath")
        else:
            lines = escape(self._source[event.start : event.end]).split("\n")
            self.parts.append("<br />\n".join(lines))

    def _is_formula(self, event: MarkdownEvent) -> bool:
        if len(event.data) > MAX_SOURCE or not event.data.strip():
            return False
        if event.name == "DisplayMath":
            return True
        after = self._source[event.end : event.end + 1]
        is_apart = not (after.isalnum() or (after and after in "_$"))
        return is_apart and "\n" not in event.data and not _PRICE.fullmatch(event.data)

    def _flush(self) -> None:
        """Write the text that has come together, with links for the addresses in it."""
        if not self._run:
            return
        text, self._run = "".join(self._run), []
        last = 0
        if "://" in text and not self._links:
            for start, end, address in bare_links(text):
                self.parts.append(escape(text[last:start], quote=False))
                shown = escape(text[start:end])
                self.parts.append(f'<a href="{escape(address)}"{_WAYS}>{shown}</a>')
                last = end
        self.parts.append(escape(text[last:], quote=False))

    def _open(self, event: MarkdownEvent) -> None:
        opening, closing = self._tags(event)
        if len(self._closing) >= MAX_DEPTH and event.name not in ("Link", "Image", "CodeBlock"):
            opening = closing = ""
        if self._image and event.name != "Image":
            opening = closing = ""
        self.parts.append(opening)
        self._closing.append(closing)

    def _tags(self, event: MarkdownEvent) -> tuple[str, str]:
        """Return what begins and what ends a container."""
        name = event.name
        if name in ("TableHead", "TableRow"):
            self._column = 0
        if name in _OPENING:
            if name == "TableRow":
                self._rows += 1
                return "<tbody>\n<tr>\n" if self._rows == 1 else "<tr>\n", _CLOSING[name]
            return _OPENING[name], _CLOSING[name]
        if name == "List":
            return self._list(event)
        if name == "Heading":
            level = min(6, int(event.data["level"][1]) + HEADING_OFFSET)
            return f"<h{level}>", f"</h{level}>\n"
        if name == "CodeBlock":
            info = event.data["Fenced"] if isinstance(event.data, dict) else ""
            language = _LANGUAGE.search(info)
            kind = f' class="language-{escape(language[0])}"' if language else ""
            return f"<pre><code{kind}>", _CODE_END
        if name == "Strikethrough":
            is_single = not self._source.startswith("~~", event.start)
            return ("~", "~") if is_single else ("<s>", "</s>")
        if name == "Table":
            self._columns, self._rows = event.data, 0
            return "<table>\n", "</table>\n"
        if name == "TableCell":
            return self._cell()
        return self._link(event) if name == "Link" else self._begin_image(event)

    def _list(self, event: MarkdownEvent) -> tuple[str, str]:
        if event.data is None:
            return "<ul>\n", "</ul>\n"
        start = "" if event.data == 1 else f' start="{int(event.data)}"'
        return f"<ol{start}>\n", "</ol>\n"

    def _cell(self) -> tuple[str, str]:
        tag = "td" if self._rows else "th"
        column = self._columns[self._column] if self._column < len(self._columns) else "None"
        self._column += 1
        # The page's policy forbids a style that stands in the HTML.
        kind = "" if column == "None" else f' class="{column.lower()}"'
        return f"<{tag}{kind}>", f"</{tag}>\n"

    def _link(self, event: MarkdownEvent) -> tuple[str, str]:
        url = str(event.data["dest_url"])
        address = href(f"mailto:{url}" if event.data["link_type"] == "Email" else url)
        self._links += 1
        if address is None:
            return "", f" ({escape(url)})" if event.data["link_type"] == "Inline" else ""
        title = f' title="{escape(event.data["title"])}"' if event.data["title"] else ""
        return f'<a href="{escape(address)}"{title}{_WAYS}>', "</a>"

    def _begin_image(self, event: MarkdownEvent) -> tuple[str, str]:
        url = str(event.data["dest_url"])
        address = None if self._image else href(url)
        if address is not None:
            self.addresses.append(address)
        self._image.append((len(self.parts), url if self._image else address or url))
        self._links += 1
        if self._image[1:]:
            return "", ""
        if address is None:
            return "", f" ({escape(url)})"
        number = self._images + len(self.addresses) - 1
        return f'<a href="{escape(address)}"{_WAYS} data-image="{number}">', "</a>"

    def _close(self, event: MarkdownEvent) -> None:
        closing = self._closing.pop()
        if event.name == "Image":
            start, url = self._image.pop()
            if not "".join(self.parts[start + 1 :]).strip():
                self.parts.append(escape(url))
        elif event.name == "Table" and self._rows:
            self.parts.append("</tbody>\n")
        if event.name in ("Link", "Image"):
            self._links -= 1
        self.parts.append(closing)


_CODE_END: Final = "</code></pre>\n"
