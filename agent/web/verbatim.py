"""Whether a person asked for a URL: it then stands in that person's own message."""

from __future__ import annotations

import re
from typing import Final

_BEFORE: Final = re.compile(r"[\w+\-.%=/@:?&#]")
_GOES_ON: Final = re.compile(r"[.,;:!?]*+[^\s<>\"'()\[\]{}|`*.,;:!?]")


def stands_in(url: str, text: str) -> bool:
    """Return whether a URL stands verbatim in a text, and not only as the beginning of another."""
    if not url.startswith(("http://", "https://")):
        return False
    place = text.find(url)
    while place >= 0:
        before = text[max(0, place - 1) : place]
        if not _BEFORE.match(before) and not _GOES_ON.match(text, place + len(url)):
            return True
        place = text.find(url, place + 1)
    return False
