"""Which addresses the page links, and how they are written in HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

_BARE: Final = re.compile(
    # Punctuation of Chinese and Japanese ends an address as a space does.
    r"(?<![A-Za-z])https?://[^\s<>\"`|\u3000-\u303f\uff00-\uffef]{1,2000}",
    re.IGNORECASE,
)
_HOST: Final = re.compile(r"(?i:https?)://([^/?#@:\[\]]*)")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_PICTURE: Final = re.compile(r"data:image/(?:gif|png|jpeg|webp);", re.IGNORECASE)
_SAFE: Final = "%;/?:@&=+$,-_.!~*'()#"
_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def href(url: str) -> str | None:
    """Return an address as a link has it, or None if the page links nothing of its scheme.

    An address without a scheme is one of the page's own server.
    """
    url = url.strip()
    scheme = _SCHEME.match(url)
    if scheme is not None and scheme[0].lower() not in _SCHEMES and not _PICTURE.match(url):
        return None
    if not url.isascii() and (host := _HOST.match(url)) is not None:
        try:
            plain = host[1].encode("idna").decode()
        except UnicodeError:
            plain = host[1]
        url = url[: host.start(1)] + plain + url[host.end(1) :]
    return quote(_PERCENT.sub("%25", url), safe=_SAFE, errors="replace")


def bare_links(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where addresses stand in a text, and what each links to."""
    for found in _BARE.finditer(text):
        shown = _without_punctuation(found[0])
        address = href(shown)
        if address is not None and not shown.endswith("://"):
            yield found.start(), found.start() + len(shown), address


def _without_punctuation(text: str) -> str:
    """Leave out what follows an address in a sentence, such as a bracket that it did not open."""
    over = {")": text.count(")") - text.count("("), "]": text.count("]") - text.count("[")}
    end, least = len(text), text.index("://") + len("://")
    while end > least:
        last = text[end - 1]
        if last in over and over[last] > 0:
            over[last] -= 1
        elif last not in ".,;:!?'*_~":
            break
        end -= 1
    return text[:end]
