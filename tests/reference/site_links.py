"""A hook of MkDocs: what a page links to outside `docs` stands in the site without its link."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any, Final

LINK: Final = re.compile(r"(?<!!)\[([^\]\n]+)\]\(((?:\.\./)+[^)\s]*)\)")


def on_page_markdown(markdown: str, page: Any, **_more: Any) -> str:
    """Return a page's Markdown; MkDocs calls this by its name."""
    return within(markdown, page.file.src_uri)


def within(markdown: str, source: str) -> str:
    """Return the Markdown of the page at `source`, with links inside `docs` alone."""
    depth = len(PurePosixPath(source).parts) - 1
    outside = "../" * (depth + 1)
    return LINK.sub(lambda link: link[1] if link[2].startswith(outside) else link[0], markdown)
