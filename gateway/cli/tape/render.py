"""Tape entries for people's eyes: a transcript, one line a hit, and the prompts of a turn."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import wcwidth

from gateway.cli.screen import (
    BOLD,
    HIT,
    clipped,
    columns,
    hanging,
    lane_label,
    local_time,
    on_terminal,
    one_line,
    painted,
    safe,
    short_time,
)
from gateway.explain.words import edited_words, words_of
from gateway.wording import counted
from tape.context import MESSAGE_EDIT
from tape.entry import Entry

MAX_CHARACTERS: Final = 2_000
MAX_NAME: Final = 20  # columns of a name before a match
SPOKEN: Final = ("message", "tool_call", "tool_result", "anchor", "error")
"""The kinds of a transcript; events and system texts are shown with `--all`."""

CHANGES: Final = {MESSAGE_EDIT: "edited", "message.delete": "deleted"}
"""The events that a transcript shows as well, and their words."""

_INDENT: Final = 15  # columns before a transcript's text: the entry's number and its time
_ROLES: Final = {"assistant": "agent", "system": "system", "user": "user"}


class Transcript:
    """Prints entries as a conversation, with the day above the first entry of each day."""

    def __init__(self) -> None:
        self._day = ""

    def lines(self, entry: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of an entry: number, time, who, lane and text."""
        day = local_time(entry["date"], "%A, %Y-%m-%d")
        if day != self._day:
            self._day = day
            yield painted(day, BOLD)
        head = f"{entry['id']:>6}  {local_time(entry['date'], '%H:%M')}  {_heading(entry)}"
        text = _cut(safe(_content(entry))).strip()
        yield from hanging(head, f" {text}" if text else "", _INDENT)


def hit_line(entry: Mapping[str, Any], query: str) -> str:
    """Return a match of a search on one line, around the first word that was looked for."""
    head = f"{entry['id']:>6}  {short_time(entry['date'])}  {_heading(entry, MAX_NAME)} "
    text = one_line(_content(entry))
    words = [re.escape(one_line(word)) for word in query.replace('"', " ").split()]
    found = re.compile("|".join(words) or r"(?!)", re.IGNORECASE)
    room = max(columns() - wcwidth.width(wcwidth.strip_sequences(head)), 20)
    if on_terminal() and wcwidth.width(text) > room:
        first = found.search(text)
        at = max(0, wcwidth.width(text[: first.start()]) - room // 3) if first else 0
        rest = wcwidth.clip(text, at + 1, at + room - 1) if at else wcwidth.clip(text, 0, room - 1)
        text = f"…{rest}" if at else f"{rest}…"
    return head + found.sub(lambda hit: painted(hit[0], HIT), text)


def prompt_text(shown: Mapping[str, Any]) -> str:
    """Return a model call's prompt as text: a heading, then every message."""
    exact = "exactly as sent" if shown["exact"] else shown["why"]
    if shown["exact"] and any(map(_has_images, shown["messages"])):
        exact += ", with images by name"
    status = f" ({shown['status']})" if shown["status"] else ""
    head = f"step {shown['step']}{status}, {counted(len(shown['messages']), 'message')}; {exact}"
    return "\n".join([safe(head), *map(_message_text, shown["messages"])])


def _message_text(message: Mapping[str, Any]) -> str:
    lines = list(_parts(message.get("content")))
    lines += [f"calls {_call(call)}" for call in message.get("tool_calls") or ()]
    of_call = f" of the call {message['tool_call_id']}" if "tool_call_id" in message else ""
    text = safe("\n".join([f"{message.get('role')}{of_call}:", *lines]))
    return "  " + text.replace("\n", "\n        ")


def _has_images(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(part.get("type") == "image_url" for part in content)


def _heading(entry: Mapping[str, Any], most: int = MAX_CHARACTERS) -> str:
    """Return who says or does it, with a name of at most some columns, and in which lane."""
    meta, payload, kind = entry["meta"], entry["payload"], entry["kind"]
    lane = f" {lane_label(str(meta['lane']))}" if meta.get("lane") else ""
    if kind == "message":
        role = str(payload.get("role", ""))
        own = "note" if meta.get("hint") else _ROLES.get(role, role)
        who = clipped(one_line(meta.get("name") or meta.get("author") or own), most)
        return f"{painted(who, BOLD)}{lane}:"
    name = one_line(payload.get("name", ""))
    if kind == "event" and name in CHANGES:
        data = payload["data"]
        return f"{CHANGES[name]} {one_line(data.get('entry'))}{lane}{':' if 'text' in data else ''}"
    heads = {"tool_call": "→ calls", "tool_result": "← result", "anchor": f"⚓ {name}"}
    return f"{heads.get(kind, f'{one_line(kind)} {name}'.rstrip())}{lane}:"


def _content(entry: Mapping[str, Any]) -> str:
    kind, payload = entry["kind"], entry["payload"]
    if kind == "anchor":
        state = payload.get("state")
        return _state(state) if state else ""
    if kind == "event":
        data, name = payload.get("data") or {}, payload.get("name")
        if name in CHANGES:
            return edited_words(Entry(**entry)) if name == MESSAGE_EDIT else ""
        return _dump(data) if data else ""
    if kind == "tool_call":
        return "\n".join(_call(call) for call in payload.get("calls", ()))
    if kind == "tool_result":
        results = payload.get("results", ())
        return "\n".join(one if isinstance(one, str) else _dump(one) for one in results)
    if isinstance(entry["meta"].get("text"), str):
        return words_of(Entry(**entry)) + _attached(payload.get("content"))
    return "\n".join(_parts(payload.get("content") or payload.get("message")))


def _attached(content: object) -> str:
    parts = content if isinstance(content, list) else []
    images = [part for part in parts if isinstance(part, Mapping) and "text" not in part]
    return "".join(f"\n{_part(part)}" for part in images)


def _state(state: object) -> str:
    """Return an anchor's state as its summary, or as `name: value` lines."""
    if not isinstance(state, Mapping):
        return _dump(state)
    both = ((name, one if isinstance(one, str) else _dump(one)) for name, one in state.items())
    return "\n".join(value if name == "summary" else f"{name}: {value}" for name, value in both)


def _parts(content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else [content or ""]:
        if part:
            yield _part(part)


def _part(part: object) -> str:
    """Return a part of a message: its text, or `[image NAME]`."""
    if not isinstance(part, Mapping):
        return str(part)
    if isinstance(part.get("text"), str):
        return str(part["text"])
    if part.get("type") != "image_url":
        return _cut(_dump(part))
    image = part.get("image_url")
    url = str(image.get("url", "")) if isinstance(image, Mapping) else ""
    return f"[image {'in the message' if url.startswith('data:') else url.rpartition('/')[2]}]"


def _call(call: object) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return _dump(call)
    given = function.get("arguments", "")
    with suppress(ValueError, TypeError):  # a model may escape every letter that is not ASCII
        given = _dump(json.loads(given))
    return f"{function.get('name', '')}({given})"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    return f"{text[:MAX_CHARACTERS]} ... ({len(text)} characters)"
