"""Entries of a tape as a person reads them in a terminal.

What others wrote is data: characters that would move the cursor, colour the screen or turn the
writing round are shown as what they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tape.entry import ANCHOR, EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, dump, entry_text

LONGEST: Final = 2_000
_UNFIT: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def as_text(entry: Mapping[str, Any]) -> str:
    """Return an entry as one line, and more where its text has more."""
    meta = entry["meta"]
    lane = f"  [{meta['lane']}]" if meta.get("lane") else ""
    head = f"{entry['id']:>6}  {entry['date'][:19]}  {entry['kind']:<11}  {_who(entry)}{lane}"
    text = _shown(_what(entry)).strip()
    if not text:
        return _shown(head).rstrip()
    if "\n" not in text:
        return f"{_shown(head)}  {text}"
    return "\n        ".join([_shown(head), *text.split("\n")])


def _who(entry: Mapping[str, Any]) -> str:
    meta, payload = entry["meta"], entry["payload"]
    if entry["kind"] == MESSAGE:
        author = meta.get("author")
        name = meta.get("name")
        if name and author:
            return f"{name} ({author})"
        return str(name or author or payload.get("role", ""))
    return str(payload.get("name", "")) if entry["kind"] in (ANCHOR, EVENT) else ""


def _what(entry: Mapping[str, Any]) -> str:
    kind, payload = entry["kind"], entry["payload"]
    if kind == ANCHOR:
        return _json(payload.get("state"))
    if kind == EVENT:
        return _json(payload.get("data"))
    if kind == TOOL_CALL:
        return "\n".join(_call(call) for call in payload.get("calls", ()))
    if kind == TOOL_RESULT:
        return "\n".join(
            one if isinstance(one, str) else dump(one) for one in payload.get("results", ())
        )
    said = entry["meta"].get("text")
    return said if isinstance(said, str) else entry_text(kind, payload)


def _call(call: object) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return dump(call)
    return f"{function.get('name', '')}({function.get('arguments', '')})"


def _json(value: object) -> str:
    return dump(value) if value else ""


def _shown(text: str) -> str:
    """Return a text that does nothing to a terminal."""
    shown = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(shown) > LONGEST:
        shown = f"{shown[:LONGEST]} ... ({len(text)} characters)"
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", shown)
