"""Markdown for chats: parsing, rendering, and splitting into pieces.

tree    parses into events        render     renders text with marks, or plain text
split   cuts text into pieces     autoclose  closes the marks of unfinished text
kept    keeps drawn blocks      signs      writes simple formulas with signs
(tree uses growing, rows, segment and literal; split uses scan, breakpoints and stitch; render uses
table and spoilers)
"""

from channels.markdown.autoclose import close_open_marks
from channels.markdown.render import Rendered, Span, render_spans, text_outside_code, to_text
from channels.markdown.split import first, split
from channels.markdown.tree import MarkdownEvent, parse

__all__ = [
    "MarkdownEvent",
    "Rendered",
    "Span",
    "close_open_marks",
    "first",
    "parse",
    "render_spans",
    "split",
    "text_outside_code",
    "to_text",
]
