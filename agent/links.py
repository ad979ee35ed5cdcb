"""Finds the links of a text, as any platform may find them.

It finds more than each of them links: a name such as `a.b`, and addresses inside code. What may
stand in an answer is the gateway's to judge (`gateway.links`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

MAX_LINK_CHARACTERS: Final = 700

_END: Final = r"""[^\s<>"`]"""
_RUN: Final = f"{_END}{{1,{MAX_LINK_CHARACTERS}}}"
_DOT: Final = r"[.\u3002\uff0e\uff61]"
_LINK: Final = re.compile(
    rf"""(?:
        [a-z][a-z0-9+.-]{{1,20}}://{_RUN}
      | (?:https?|mailto|tel|sms|data|javascript|vbscript|file|magnet|xmpp|tg|slack|discord):{_RUN}
      | (?:(?<![\w.+%@-]) (?:[\w.+%-]+@)? | (?<=[+%.@]))
        (?: (?:[\w-]+{_DOT}){{20}} [\w.\u3002\uff0e\uff61-]*
          | (?<!\d\.)(?:\d{{1,3}}{_DOT}){{3}} \d{{1,3}} (?![\w.-])
          | (?:[\w-]+{_DOT}){{1,19}} [a-z]{{2,24}} (?![\w\u0300-\u036f-])
          | (?:[\w-]+\.){{1,19}} (?:xn--[a-z0-9-]{{1,60}} | [^\W\d_]{{2,24}})
            (?![\w\u0300-\u036f-]) )
        {_DOT}? (?::\d+)? (?:[/?\#]{_END}{{0,{MAX_LINK_CHARACTERS}}})?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MAYBE: Final = re.compile(r"[:.\u3002\uff0e\uff61]")


def links_in(text: str) -> set[str]:
    """Return the links in a text."""
    return {text[start:end] for start, end in spans(text)}


def spans(text: str, at: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where links begin and end, as Markdown and the platforms see it."""
    if not _MAYBE.search(text, at):
        return
    while found := _LINK.search(text, at):
        start, end = found.span()
        start += len(found[0]) - len(found[0].lstrip("-"))  # an option of a command
        depth = {")": 0, "]": 0}
        for place in range(start, end):
            if text[place] in "([":
                depth[")" if text[place] == "(" else "]"] += 1
            elif text[place] in depth:
                depth[text[place]] -= 1
                if depth[text[place]] < 0:
                    end = place
                    break
        end = start + len(text[start:end].rstrip(".,;:!?*_~|'\\"))
        if end > start:
            yield start, end
        at = max(end, start + 1)
