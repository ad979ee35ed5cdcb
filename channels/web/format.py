"""Renders Markdown as HTML for the page, without raw HTML; links open in a new tab.

An image becomes a link, so that the page loads nothing from other servers. The link has the image's
number among those of the text, by which a person can ask for it (`linked_images`).

The page itself turns formulas, task lists and footnotes into what one reads (assets/markup.js).
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache, lru_cache
from html import escape
from itertools import pairwise
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from channels.markdown.literal import literals, without_wide_stops
from channels.markdown.tree import parse, unescaped
from channels.web.inlines import add_inlines

_MATH: Final = ("InlineMath", "DisplayMath")
_FREE: Final = re.compile(r"[\ufdd0-\ufdef]")
MAX_MARKDOWN: Final = 20_000
MAX_BRACKETS: Final = 500
"""Maximum brackets that may begin a link or a formula: each may cost a look at the whole text."""

HEADING_OFFSET: Final = 2
"""How many levels a message's headings are lowered, since the page itself uses h1 and h2."""


@lru_cache(maxsize=512)
def to_html(text: str) -> str:
    """Render a message as HTML; HTML in the message is shown as text."""
    # Rendering some texts would block the event loop, so they are shown as written.
    if not is_rendered(text):
        return f"<pre>{escape(text)}</pre>"
    seen, shown = _prepared(text)
    return str(_markdown().render(seen)).translate(shown)


def _prepared(text: str) -> tuple[str, dict[int, str]]:
    """Return a text whose literals are escaped, and the letters that stand for wide punctuation."""
    text = _FREE.sub("\ufffd", text)
    places = literals(text, in_formulas=False)
    places = unescaped(text, parse(text), places, knows=_MATH) if places else []
    parts = [text[start:end] for start, end in pairwise([0, *places, len(text)])]
    return without_wide_stops("\\".join(parts))


def is_rendered(text: str) -> bool:
    """Return whether a text is short and plain enough to be rendered."""
    return len(text) <= MAX_MARKDOWN and text.count("[") + text.count(r"\(") <= MAX_BRACKETS


@lru_cache(maxsize=128)
def linked_images(text: str) -> tuple[str, ...]:
    """Return the URLs of the images in a message, in the order of the numbers of their links."""
    if not is_rendered(text):
        return ()
    inlines = (token.children or () for token in _markdown().parse(_prepared(text)[0]))
    images = (one for line in inlines for one in line if one.type == "image")
    return tuple(str(one.attrGet("src")) for one in images)


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True})
    markdown.enable(["table", "strikethrough"])
    add_inlines(markdown)
    markdown.add_render_rule("image", _image)
    markdown.add_render_rule("link_open", _link_open)
    for cell in ("th_open", "td_open"):
        markdown.add_render_rule(cell, _cell_open)
    markdown.core.ruler.push("headings_below", _lower_headings)
    return markdown


def _image(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: Any,
    env: MutableMapping[str, Any],
) -> str:
    token = tokens[index]
    number = env["images"] = env.get("images", -1) + 1
    source = escape(str(token.attrGet("src") or ""))
    label = escape(token.content or source)
    ways = 'target="_blank" rel="noopener noreferrer"'
    return f'<a href="{source}" {ways} data-image="{number}">{label}</a>'


def _link_open(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: Any,
    env: MutableMapping[str, Any],
) -> str:
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, index, options, env)


def _cell_open(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: Any,
    env: MutableMapping[str, Any],
) -> str:
    # The page's policy forbids a style that stands in the HTML.
    token = tokens[index]
    if style := token.attrs.pop("style", None):
        token.attrSet("class", str(style).removeprefix("text-align:"))
    return renderer.renderToken(tokens, index, options, env)


def _lower_headings(state: Any) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + HEADING_OFFSET)}"
