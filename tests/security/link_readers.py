"""Readers of what a channel shows: each returns the addresses that somebody may open from it.

They are more generous than any platform, and know nothing of how the gateway finds or judges links.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import unquote

from markdown_it import MarkdownIt

_APART: Final = re.compile(r"[\s<>\"'`|{}\u2026]+|\]\(|\)\]|\]\[")
_HOSTLIKE: Final = re.compile(r"\w[.\u3002\uff0e\uff61]\w")
_OPENS: Final = re.compile(r"[a-z][a-z+.-]*:\S", re.IGNORECASE)
_TARGET: Final = re.compile(r"\]\s*[(:]\s*<?([^\s>]+)")
_DISCORD: Final = re.compile(r"https?://[^\s<]+[^<.,:;\"'\]\s]")
_COMMON: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def of_text(text: str) -> Iterator[str]:
    """Yield what a platform may link in plain text, or a person copy out of code."""
    for word in _APART.split(text):
        bare = word.strip("()[]*_~.,;:!?")
        if "://" in bare or _HOSTLIKE.search(bare) or _OPENS.match(bare):
            yield bare


def of_telegram(text: str, entities: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the targets of entities, and all that looks like an address: code is copied."""
    yield from (str(one["url"]) for one in entities if "url" in one)
    yield from of_text(text)


def of_discord(content: str) -> Iterator[str]:
    """Yield what Discord's own Markdown links, and what it shows."""
    yield from (found[1] for found in _TARGET.finditer(content))
    yield from _DISCORD.findall(content)
    yield from of_text(content)
    yield from of_text(re.sub(r"[*_~|\\]", "", content))


def of_slack(markdown: str) -> Iterator[str]:
    """Yield what a reader of CommonMark, or of Slack's own markup, links."""
    yield from _common(markdown)
    yield from of_text(markdown)
    yield from (found.partition("|")[0] for found in re.findall(r"<([^<>\s]+)>", markdown))


def _common(markdown: str) -> Iterator[str]:
    for token in _COMMON.parse(markdown):
        shown = ""
        for inline in token.children or ():
            yield from (str(inline.attrs[key]) for key in ("href", "src") if key in inline.attrs)
            shown += "\n" if inline.type.endswith("break") else inline.content
        yield from of_text(shown or token.content)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src")]
        self.text += " " if tag in ("p", "li", "td", "br", "pre") else ""

    def handle_data(self, data: str) -> None:
        self.text += data


def of_page(html: str) -> Iterator[str]:
    """Yield where the page's links lead, and the addresses in its text."""
    page = _Page()
    page.feed(html)
    page.close()
    yield from page.found
    yield from of_text(page.text)


def of_terminal(text: str) -> Iterator[str]:
    """Yield what a terminal makes clickable: addresses in the text as it is."""
    yield from (found[1] for found in _TARGET.finditer(text))
    yield from of_text(text)


def told(address: str) -> str:
    """Return the letters and digits that a host is told by an address, in one form."""
    for _ in range(4):
        address = unquote(address)
    words = re.split(r"([.:/?#@=&\u3002])", address)
    address = "".join(_unicode(word) if word.startswith("xn--") else word for word in words)
    plain = (str(unicodedata.digit(char, char)) for char in unicodedata.normalize("NFKC", address))
    return "".join(char for char in "".join(plain).lower() if char.isalnum())


def _unicode(label: str) -> str:
    try:
        return label[4:].encode().decode("punycode")
    except (UnicodeError, ValueError):
        return label
