"""From Markdown to what Discord draws, in pieces that it takes.

Discord draws most of it by itself. What it does not is changed in its place, and the rest stays as
it was written: tables become aligned text, images links, small headings bold.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from channels.markdown.autoclose import close_open_marks
from channels.markdown.render import draw
from channels.markdown.split import split
from channels.markdown.tree import MarkdownEvent, parse

LIMIT: Final = 2000
_SEEN: Final = 3
_LOWEST: Final = 3
"""Discord draws headings down to this level."""

_LEVEL: Final = re.compile(r"\D*(\d)")
_UNFIT: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_MARKS: Final = re.compile(r"[ \t]*#{1,6}[ \t]*")
_CLOSING: Final = re.compile(r"[ \t]+#+[ \t]*\Z")
_ZERO_WIDTH: Final = "\u200b"


class _Change(NamedTuple):
    start: int
    end: int
    instead: str


def render(markdown: str) -> str:
    """Return a text as it is sent; of any length."""
    return _render(markdown)


@lru_cache(maxsize=16)
def _render(markdown: str) -> str:
    """Change what Discord does not draw; kept, since whoever measures a piece sends it next."""
    text = _UNFIT.sub("", markdown.replace("\r\n", "\n"))
    parts: list[str] = []
    at = 0
    for change in sorted(_changes(text)):
        if change.start >= at:
            parts += (text[at : change.start], change.instead)
            at = change.end
    return "".join([*parts, text[at:]]).strip()


def size(markdown: str) -> int:
    """Return the length of a text as Discord counts it: in code points."""
    return len(render(markdown))


def pieces(markdown: str, limit: int = LIMIT) -> list[str]:
    """Cut a text into pieces that fit once they are rendered."""
    return split(markdown, limit, size)


def render_partial(markdown: str, limit: int = LIMIT) -> str:
    """Return what the first message shows of a text that is still being written."""
    begun = markdown[: _SEEN * limit]
    first = split(close_open_marks(begun), limit, size)[:1]
    return render(first[0]) if first else ""


def _changes(text: str) -> list[_Change]:
    return _Reader(text).changes()


class _Reader:
    """Finds what Discord does not draw."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[_Change] = []

    def changes(self) -> list[_Change]:
        events = parse(self._text)
        ends = _ends(events)
        for at, event in enumerate(events):
            if event.phase == "leaf":
                if event.name == "TaskListMarker":
                    self._change(event.start, event.end, "☑" if event.data else "☐")
            elif event.phase == "open":
                self._block(event, events[at + 1 : ends[at]])
        return self._found

    def _block(self, event: MarkdownEvent, inside: list[MarkdownEvent]) -> None:
        if event.name == "Table":
            self._table(event)
        elif event.name == "Image":
            self._image(event)
        elif event.name == "Heading":
            self._heading(event, inside)
        elif event.name == "CodeBlock":
            self._code(event, inside)
        elif event.name == "Strong" and self._text.startswith("__", event.start):
            # Two low lines underline in Discord.
            self._change(event.start, event.start + 2, "**")
            self._change(event.end - 2, event.end, "**")

    def _change(self, start: int, end: int, instead: str) -> None:
        self._found.append(_Change(start, end, instead))

    def _table(self, event: MarkdownEvent) -> None:
        source = self._text[event.start : event.end]
        prefix = self._prefix(event.start)
        if prefix:
            source = source.replace(f"\n{prefix}", "\n")
        drawn = draw(source, linkable=lambda _url: False).text
        tail = "\n" if source.endswith("\n") else ""
        self._change(event.start, event.end, self._fence(drawn, "", prefix) + tail)

    def _image(self, event: MarkdownEvent) -> None:
        url = str(event.data["dest_url"])
        label = draw(self._text[event.start : event.end], linkable=lambda _url: True).text
        self._change(event.start, event.end, f"{label} ({url})" if label != url else url)

    def _heading(self, event: MarkdownEvent, inside: list[MarkdownEvent]) -> None:
        level = _level(event, self._text)
        said = self._text[event.start : event.end].rstrip("\n")
        end = event.start + len(said)
        marks = _MARKS.match(said)
        if marks is None or not said.lstrip().startswith("#"):  # underlined with = or -
            line = said.rfind("\n")
            self._change(event.start, event.start, "#" * level + " ")
            self._change(event.start + line, end, "")
        elif level > _LOWEST and inside:
            closing = _CLOSING.search(said)
            stop = event.start + closing.start() if closing else end
            bold = "" if any(one.name == "Strong" for one in inside) else "**"
            self._change(event.start, event.start + marks.end(), bold)
            self._change(stop, end, bold)

    def _code(self, event: MarkdownEvent, inside: list[MarkdownEvent]) -> None:
        """Fence what is fenced otherwise, or only indented."""
        source = self._text[event.start : event.end]
        plain = source.startswith("```") and not source.startswith("````")
        code = "".join(str(one.data or "") for one in inside if one.phase == "leaf")
        if plain and "```" not in code:
            return
        info = event.data["Fenced"].strip() if isinstance(event.data, dict) else ""
        prefix = self._prefix(event.start)
        tail = "\n" if source.endswith("\n") else ""
        fenced = self._fence(code, info, prefix) + tail
        start = event.start
        if not isinstance(event.data, dict):  # the indent of its first line stands before it
            line = self._text.rfind("\n", 0, start) + 1
            start = line + len(prefix) if not self._text[line:start].strip("> \t") else start
        self._change(start, event.end, fenced)

    def _fence(self, code: str, info: str, prefix: str) -> str:
        safe = code.replace("```", f"`{_ZERO_WIDTH}``").removesuffix("\n")
        return f"```{info}\n{safe}\n```".replace("\n", f"\n{prefix}")

    def _prefix(self, place: int) -> str:
        """Return what a line begins with inside a quote."""
        line = self._text.rfind("\n", 0, place) + 1
        before = self._text[line:place]
        return before if ">" in before and not before.strip("> \t") else ""


def _ends(events: list[MarkdownEvent]) -> list[int]:
    """Return for each event that opens where the one is that closes it."""
    ends = list(range(len(events)))
    stack: list[int] = []
    for at, event in enumerate(events):
        if event.phase == "open":
            stack.append(at)
        elif event.phase == "close" and stack:
            ends[stack.pop()] = at
    return ends


def _level(event: MarkdownEvent, text: str) -> int:
    marks = _MARKS.match(text, event.start)
    if marks is not None and "#" in marks[0]:
        return marks[0].count("#")
    found = _LEVEL.match(str(event.data))
    return int(found[1]) if found else 1
