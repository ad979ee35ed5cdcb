"""Normalization of meta: fields that Tapeway reads are removed if they are invalid.

All other fields belong to their writer and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tape.entry import parse_date

_INBOX: Final = ("message_id", "author", "text")
"""Fields that a person's message needs together with `inbox`: room memory and views read them."""


def without_invalid(meta: dict[str, Any], note: Callable[[str], None]) -> dict[str, Any]:
    """Remove invalid fields from a meta, with a note on each."""
    invalid = {
        name
        for name, is_valid in _FIELDS.items()
        if meta.get(name) is not None and not is_valid(meta[name])
    }
    if "inbox" in meta and not _is_arrived(meta):
        invalid.add("inbox")
    for name in sorted(invalid):
        note(f"invalid {name} in meta: removed")
    return {name: value for name, value in meta.items() if name not in invalid} if invalid else meta


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return type(value) is int


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _is_link(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("parent"), str | None)
        and _are_texts(value.get("to", []))
    )


def _is_arrived(meta: Mapping[str, Any]) -> bool:
    texts = all(_is_text(meta.get(name)) for name in _INBOX)
    return texts and _is_number(meta["inbox"]) and _is_moment(meta.get("said_at"))


def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        parse_date(value).timestamp()
    except (ValueError, OverflowError):
        return False
    return True


_FIELDS: Final[Mapping[str, Callable[[object], bool]]] = {
    "author": _is_text,
    "edit_of": _is_number,
    "lane": _is_text,
    "link": _is_link,
    "media": _are_objects,
    "mentions": _are_texts,
    "prompt_of": _is_number,
    "reply_to": _is_text,
    "thread": _is_text,
    "turn": _is_text,
}
