"""Renders Markdown as HTML for the page, without raw HTML; links open in a new tab.

An image becomes a link, so that the page loads nothing from other servers. The link has the image's
number among those of the text, by which a person can ask for it (`linked_images`).

The page itself turns task lists and footnotes into what one reads (assets/markup.js).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from channels.markdown.kept import Kept
from channels.markdown.tree import parsed
from channels.web.defined import with_links
from channels.web.drawing import draw

MAX_KEPT: Final = 1_000_000
"""Maximum characters of blocks whose HTML is kept, and of that HTML."""

BLOCKS: Final = Kept[tuple[str, int], tuple[str, list[str]]](MAX_KEPT)


@lru_cache(maxsize=512)
def to_html(text: str) -> str:
    """Render a message as HTML; HTML in the message is shown as text."""
    return _drawn(text)[0]


@lru_cache(maxsize=128)
def linked_images(text: str) -> tuple[str, ...]:
    """Return the URLs of the images in a message, in the order of the numbers of their links."""
    return tuple(_drawn(text)[1])


def _drawn(text: str) -> tuple[str, list[str]]:
    text = with_links(text)
    known = parsed(text)
    parts, images = list[str](), list[str]()
    for block in known.blocks(text):
        key = (text[block.start : block.end], len(images))
        found = BLOCKS.get(key)
        if found is None:
            found = draw(known.events[block.first : block.last], text, len(images))
            BLOCKS.put(key, found, len(key[0]) + len(found[0]))
        parts.append(found[0])
        images += found[1]
    return "".join(parts), images
