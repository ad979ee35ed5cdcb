"""Markdown as plain text, for a line that shows how an answer begins."""

from __future__ import annotations

from typing import Final

from channels.markdown.tree import parse

_TEXTS: Final = frozenset({"Text", "Code", "InlineMath", "DisplayMath"})
_BREAKS: Final = frozenset({"SoftBreak", "HardBreak", "Rule"})
_BLOCKS: Final = frozenset({"Paragraph", "Heading", "Item", "CodeBlock", "TableHead", "TableRow"})


def plain(text: str) -> str:
    """Return what a reader of a Markdown text sees of it: its words, without its marks."""
    found: list[str] = []
    for event in parse(text):
        if event.phase == "leaf" and event.name in _TEXTS:
            found.append(str(event.data))
        elif event.name in _BREAKS or (event.phase == "close" and event.name in _BLOCKS):
            found.append("\n")
        elif event.phase == "close" and event.name == "TableCell":
            found.append(" ")
    lines = (line.strip() for line in "".join(found).split("\n"))
    return "\n".join(line for line in lines if line)
