"""Markdown for chats: parse it, render it, and cut it into pieces.

tree    events of a text          render     text with marks, and plain text
split   pieces within a limit     autoclose  an unfinished text
(scan, breakpoints, stitch and table are their parts)
"""

from channels.markdown.autoclose import close_open_marks
from channels.markdown.render import Rendered, Span, render_spans, text_outside_code, to_text
from channels.markdown.split import split
from channels.markdown.tree import MarkdownEvent, parse

__all__ = [
    "MarkdownEvent",
    "Rendered",
    "Span",
    "close_open_marks",
    "parse",
    "render_spans",
    "split",
    "text_outside_code",
    "to_text",
]
