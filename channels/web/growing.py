"""Holds back the formula at the end of an answer that is still being written.

Its source would be drawn as text, with emphasis in it, and a moment later as a formula.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from channels.markdown.literal import formulas
from channels.markdown.tree import parsed

MAX_HELD: Final = 400
"""Maximum characters that wait for the end of a formula; what is longer is shown as it stands."""

_BEGUN: Final = re.compile(r"\$\$|\$(?=\\[A-Za-z])")
"""What surely begins a formula; behind another `$` there may be an amount."""

_UNSURE: Final = re.compile(r"(?<!\$)\$\\?\Z|(?<!\\)\\\Z")
"""A sign whose meaning depends on the next one."""


@lru_cache(maxsize=32)
def settled(text: str) -> str:
    """Return an unfinished text up to a formula that has begun and not ended."""
    if "$" not in text and "\\" not in text:
        return text
    known = parsed(text)
    if not known.events or known.events[-1].name == "CodeBlock":
        return text
    if unsure := _UNSURE.search(text, max(0, len(text) - 3)):
        text = text[: unsure.start()]
        known = parsed(text)
    first, block = (known.cuts[-1].events, known.cuts[-1].place) if known.cuts else (0, 0)
    block = max(block, text.rfind("\n\n", 0, len(text.rstrip())))
    places = [block + at for at, end in formulas(text[block:]) if end is None]
    signs = set(known.signs)
    places += [one.start() for one in _BEGUN.finditer(text, block) if one.start() in signs]
    code = [event for event in known.events[first:] if event.name == "Code"]
    held = [
        at
        for at in places
        if at >= len(text) - MAX_HELD and not any(one.start <= at < one.end for one in code)
    ]
    return text[: min(held)] if held else text
