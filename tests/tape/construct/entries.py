"""Entries for the tapes of these tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tape.entry import NewEntry, event, message

CALL = {"id": "c1", "type": "function", "function": {"name": "web.fetch", "arguments": "{}"}}


def said(text: str, **meta: Any) -> NewEntry:
    return message("user", text, **meta)


def noise(count: int, **meta: Any) -> list[NewEntry]:
    return [said(f"idle talk number {number}", **meta) for number in range(count)]


def edit(entry: int, content: str) -> NewEntry:
    return event("message.edit", {"entry": entry, "content": content})


def texts(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [str(one["content"]) for one in messages]
