"""Closes the Markdown marks that are still open in an unfinished text."""

from __future__ import annotations

import re
from typing import Final

from channels.markdown.literal import literals
from channels.markdown.spoilers import open_at, spoilers
from channels.markdown.tree import parse

_HALF_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)(?:\](?:\([^()\n]*)?)?\Z")
_HALF_MARK: Final = re.compile(r"(?:\*{1,3}|_{1,3}|~{1,2}|`{1,3}|<[^<>\s]*|!)\Z")
_FENCE: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_MARKS: Final = re.compile(r"\\.|`+|\*{1,3}|~~")


def close_open_marks(text: str) -> str:
    """Return an unfinished text without partial Markdown at its end.

    An open fence stays open. A partial link becomes its label, and a partial mark is left out. Open
    code, bold, italic and strike are closed, and so is a spoiler: it hides what there is of it.
    """
    events = parse(text)
    if not events or events[-1].name == "CodeBlock":
        return text
    start = text.rfind("\n\n", 0, len(text.rstrip())) + 1
    head, tail = text[:start], _HALF_MARK.sub("", text[start:].rstrip())
    tail = _HALF_LINK.sub(_label, tail)
    if "||" not in tail:
        return head + tail + _open_marks(tail)
    begun = open_at(parse(head + tail), head + tail)
    if begun is None:
        return head + tail + _without_code(_open_marks(tail))
    tail = tail.rstrip("|\\ \t\r\n")  # bars beside bars are none, nor are those behind a backslash
    closed = f"{head}{tail}{_without_code(_open_marks(tail))}||"
    if begun in spoilers(parse(closed), closed):
        return closed
    return close_open_marks(text[:begun])


def _label(link: re.Match[str]) -> str:
    """Return the label of a partial link; bars in it would stand beside others without it."""
    return "" if "|" in link[1] else link[1]


def _without_code(marks: str) -> str:
    """Leave code open that may yet be a spoiler."""
    return marks.replace("`", "")


def add_paragraph(text: str, paragraph: str) -> str:
    """Return an unfinished text with a last paragraph, which no open mark or fence swallows."""
    text = close_open_marks(text.rstrip()).rstrip()
    whole = f"{text}\n\n{paragraph}"
    events = parse(whole)
    if not events or events[-1].name != "CodeBlock":
        return whole
    begun = next(event for event in reversed(events) if event.phase == "open")
    fence = _FENCE.match(whole, begun.start)
    return f"{text}\n{fence[1]}\n\n{paragraph}" if fence else whole


def _open_marks(tail: str) -> str:
    stack: list[str] = []
    signs = set(literals(tail))
    for found in _MARKS.finditer(tail):
        mark = found[0]
        if (
            found.start() in signs
            or mark.startswith("\\")
            or (stack and stack[-1].startswith("`") and mark != stack[-1])
        ):
            continue
        if stack and stack[-1] == mark:
            stack.pop()
        elif tail[found.end() : found.end() + 1].strip():
            stack.append(mark)
    return "".join(reversed(stack))
