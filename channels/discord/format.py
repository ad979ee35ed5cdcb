"""Converts Markdown to Discord's dialect, in pieces within Discord's limit.

Discord renders most Markdown itself. We replace only what it does not render: tables become aligned
text, images become links, small headings become bold, and simple formulas are written with signs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from channels.discord.escapes import escapes, unsafe_marks
from channels.markdown import MarkdownEvent, close_open_marks, first, render_spans, split
from channels.markdown.signs import with_signs
from channels.markdown.tree import parsed

LIMIT: Final = 2000
_PARTIAL_LIMITS: Final = 3
"""Maximum source length of a partial text, in multiples of the limit: marks make it longer."""

_MAX_HEADING: Final = 3  # highest heading level that Discord renders
_LEVEL: Final = re.compile(r"\D*(\d)")
_UNFIT: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_MARKS: Final = re.compile(r"[ \t]*#{1,6}[ \t]*")
_CLOSING: Final = re.compile(r"[ \t]+#+[ \t]*\Z")
_CLOSED: Final = re.compile(r"\n[ \t>]*```\Z")  # Discord shows no code before its end
_ANY_MARK: Final = re.compile(r"[\\*_~|`]")
_ZERO_WIDTH: Final = "\u200b"

_Change = tuple[int, int, str]  # start and end of a change in the source, and its replacement


@lru_cache(maxsize=16)
def render(markdown: str) -> str:
    """Return the text to send, of any length; cached, since a piece is measured and then sent."""
    text = with_signs(_UNFIT.sub("", markdown.replace("\r\n", "\n")))
    parts: list[str] = []
    at = 0
    for start, end, replacement in sorted(_Rewriter(text).changes()):
        if start >= at:  # skip a change inside an earlier change
            parts += (text[at:start], replacement)
            at = end
    return "".join([*parts, text[at:]]).strip()


def size(markdown: str) -> int:
    """Return the length of a text as Discord counts it, in code points."""
    return len(render(markdown))


def pieces(markdown: str, limit: int = LIMIT) -> list[str]:
    """Cut a text into pieces that fit within the limit once they are rendered."""
    return split(markdown, limit, size)


def render_partial(markdown: str, limit: int = LIMIT) -> str:
    """Return the text of the first message while the answer is still being written."""
    beginning = markdown[: _PARTIAL_LIMITS * limit]
    shown = first(close_open_marks(beginning), limit, size)
    return render(shown) if shown else ""


class _Rewriter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[_Change] = []

    def changes(self) -> list[_Change]:
        events, signs, _cuts = parsed(self._text)
        ends = _ends(events)
        self._escape(events, signs)
        for at, event in enumerate(events):
            if event.phase == "leaf":
                self._leaf(event)
            elif event.phase == "open":
                self._block(event, events[at + 1 : ends[at]])
        return self._found

    def _leaf(self, event: MarkdownEvent) -> None:
        if event.name == "TaskListMarker":
            self._change(event.start, event.end, "☑" if event.data else "☐")
        elif event.name == "Rule":  # Discord has none, and would take stars for marks
            rule = self._text[event.start : event.end]
            self._change(event.start, event.start + len(rule.rstrip()), "---")

    def _escape(self, events: list[MarkdownEvent], signs: list[int]) -> None:
        """Escape what Discord would take for a mark, but in what is replaced as a whole."""
        drawn = {
            at
            for event in events
            if event.phase == "open" and event.name in ("Table", "Image")
            for at in range(event.start, event.end)
        }
        for at in escapes(events, self._text, signs):
            if at not in drawn:
                self._change(at, at, "\\")
        for start, end in unsafe_marks(events, self._text):
            self._change(start, end, "")

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
            # In Discord, two underscores mean underlining.
            self._change(event.start, event.start + 2, "**")
            self._change(event.end - 2, event.end, "**")

    def _change(self, start: int, end: int, replacement: str) -> None:
        self._found.append((start, end, replacement))

    def _table(self, event: MarkdownEvent) -> None:
        source = self._text[event.start : event.end]
        prefix = self._prefix(event.start)
        if prefix:
            source = source.replace(f"\n{prefix}", "\n")
        table = render_spans(source, linkable=lambda _url: False).text
        tail = "\n" if source.endswith("\n") else ""
        self._change(event.start, event.end, self._fence(table, "", prefix) + tail)

    def _image(self, event: MarkdownEvent) -> None:
        url = str(event.data["dest_url"])
        label = render_spans(self._text[event.start : event.end], linkable=lambda _url: True).text
        shown = _ANY_MARK.sub(r"\\\g<0>", label)
        self._change(event.start, event.end, f"{shown} ({url})" if label != url else url)

    def _heading(self, event: MarkdownEvent, inside: list[MarkdownEvent]) -> None:
        level = _level(event, self._text)
        heading = self._text[event.start : event.end].rstrip("\n")
        end = event.start + len(heading)
        marks = _MARKS.match(heading)
        if marks is None or not heading.lstrip().startswith("#"):  # underlined with = or -
            line = heading.rfind("\n")
            self._change(event.start, event.start, "#" * level + " ")
            self._change(event.start + line, end, "")
        elif level > _MAX_HEADING and inside:
            closing = _CLOSING.search(heading)
            stop = event.start + closing.start() if closing else end
            bold = "" if any(one.name == "Strong" for one in inside) else "**"
            self._change(event.start, event.start + marks.end(), bold)
            self._change(stop, end, bold)

    def _code(self, event: MarkdownEvent, inside: list[MarkdownEvent]) -> None:
        """Fence code that is indented, or whose fence has no end or is not known to Discord."""
        source = self._text[event.start : event.end]
        plain = source.startswith("```") and not source.startswith("````")
        code = "".join(str(one.data or "") for one in inside if one.phase == "leaf")
        if plain and "```" not in code and code.strip() and _CLOSED.search(source.rstrip()):
            return
        info = event.data["Fenced"].strip() if isinstance(event.data, dict) else ""
        if not code.strip():  # Discord would take the end of an empty block for its code
            code, info = info or " ", ""
        prefix = self._prefix(event.start)
        tail = "\n" if source.endswith("\n") else ""
        fenced = self._fence(code, info, prefix) + tail
        start = event.start
        if not isinstance(event.data, dict):  # the event starts after the first line's indent
            line = self._text.rfind("\n", 0, start) + 1
            start = line + len(prefix) if not self._text[line:start].strip("> \t") else start
        self._change(start, event.end, fenced)

    def _fence(self, code: str, info: str, prefix: str) -> str:
        safe = code.replace("```", f"`{_ZERO_WIDTH}``").removesuffix("\n")
        return f"```{info}\n{safe}\n```".replace("\n", f"\n{prefix}")

    def _prefix(self, place: int) -> str:
        line = self._text.rfind("\n", 0, place) + 1
        before = self._text[line:place]
        return before if ">" in before and not before.strip("> \t") else ""


def _ends(events: list[MarkdownEvent]) -> list[int]:
    """Return, for each event, the index of its closing event; for a leaf, its own index."""
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
