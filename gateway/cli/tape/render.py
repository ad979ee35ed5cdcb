"""Render tape entries for a terminal, escaping unsafe characters in messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tape.entry import ANCHOR, EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, dump, entry_text

MAX_CHARACTERS: Final = 2_000
_UNSAFE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def as_text(entry: Mapping[str, Any]) -> str:
    """Return an entry as one line, or as several lines if its text has several."""
    meta = entry["meta"]
    lane = f"  [{meta['lane']}]" if meta.get("lane") else ""
    head = f"{entry['id']:>6}  {entry['date'][:19]}  {entry['kind']:<11}  {_who(entry)}{lane}"
    text = _shown(_content(entry)).strip()
    if not text:
        return _shown(head).rstrip()
    if "\n" not in text:
        return f"{_shown(head)}  {text}"
    return "\n        ".join([_shown(head), *text.split("\n")])


def prompt_text(shown: Mapping[str, Any]) -> str:
    """Return a model call's prompt as text: a heading, then every message."""
    exact = "exactly as sent" if shown["exact"] else shown["why"]
    if shown["exact"] and any(map(_has_images, shown["messages"])):
        exact += ", with images by name"
    status = f" ({shown['status']})" if shown["status"] else ""
    head = f"step {shown['step']}{status}, {len(shown['messages'])} messages; {exact}"
    return "\n".join([_escaped(head), *map(_message_text, shown["messages"])])


def _message_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [content or ""]
    lines = [_part(part) for part in parts if part]
    lines += [f"calls {_call(call)}" for call in message.get("tool_calls") or ()]
    of_call = f" of the call {message['tool_call_id']}" if "tool_call_id" in message else ""
    text = _escaped("\n".join([f"{message.get('role')}{of_call}:", *lines]))
    return "  " + text.replace("\n", "\n        ")


def _has_images(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(part.get("type") == "image_url" for part in content)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else _cut(dump(part))


def _who(entry: Mapping[str, Any]) -> str:
    meta, payload = entry["meta"], entry["payload"]
    if entry["kind"] == MESSAGE:
        author, name = meta.get("author"), meta.get("name")
        both = f"{name} ({author})" if name and author else ""
        return both or str(name or author or payload.get("role", ""))
    return str(payload.get("name", "")) if entry["kind"] in (ANCHOR, EVENT) else ""


def _content(entry: Mapping[str, Any]) -> str:
    kind, payload = entry["kind"], entry["payload"]
    if kind in (ANCHOR, EVENT):
        value = payload.get("state" if kind == ANCHOR else "data")
        return dump(value) if value else ""
    if kind == TOOL_CALL:
        return "\n".join(_call(call) for call in payload.get("calls", ()))
    if kind == TOOL_RESULT:
        results = payload.get("results", ())
        return "\n".join(one if isinstance(one, str) else dump(one) for one in results)
    text = entry["meta"].get("text")
    return text if isinstance(text, str) else entry_text(kind, payload)


def _call(call: object) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return dump(call)
    return f"{function.get('name', '')}({function.get('arguments', '')})"


def _shown(text: str) -> str:
    return _escaped(_cut(text.replace("\r\n", "\n").replace("\r", "\n")))


def _cut(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    return f"{text[:MAX_CHARACTERS]} ... ({len(text)} characters)"


def _escaped(text: str) -> str:
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
