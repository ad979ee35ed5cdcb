"""Texts by others: sections of the Markdown descriptions of the distributions that are installed.

They are read where they lie, and nothing of them is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import distributions
from typing import Final

_HEADING: Final = re.compile(r"^(?=#{1,6} )", re.MULTILINE)
_FENCE: Final = re.compile(r"^ *(```|~~~)", re.MULTILINE)
MAX_SECTION: Final = 12_000
"""Maximum characters of a section that is taken; models write no longer answers."""

MIN_SECTION: Final = 40


def sections(most: int) -> list[str]:
    """Return so many sections, as many of one distribution as of another where there are enough."""
    found = sorted(set(_sections()))
    step = max(1, len(found) // most)
    return found[::step][:most]


def _sections() -> Iterator[str]:
    for one in distributions():
        described = one.metadata.json
        if "markdown" in str(described.get("description_content_type")):
            yield from _parts(str(described.get("description") or ""))


def _parts(text: str) -> Iterator[str]:
    """Yield what stands below each heading; what looks like one in code is none."""
    part = ""
    for piece in _HEADING.split(text.replace("\r\n", "\n")):
        part += piece
        if len(_FENCE.findall(part)) % 2 == 0:
            if MIN_SECTION <= len(part.strip()) <= MAX_SECTION:
                yield part.strip()
            part = ""
