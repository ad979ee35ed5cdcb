"""Clean an entry's meta: remove the invalid fields among those that Tapeway reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tape.entry import parse_date
from tape.payloads import is_list_of

_INBOX: Final = ("message_id", "author", "text")
"""Fields required with `inbox` in a person's message, because room memory and views read them."""

_TYPES: Final[Mapping[str, type]] = {
    **dict.fromkeys(("author", "lane", "reply_to", "thread", "turn"), str),
    **dict.fromkeys(("edit_of", "prompt_of", "part_of", "rewind"), int),
}
_LISTS: Final[Mapping[str, type]] = {"media": dict, "mentions": str}


def without_invalid(meta: dict[str, Any], note: Callable[[str], None]) -> dict[str, Any]:
    """Remove invalid fields from an entry's meta, and note each removal."""
    present = {name: value for name, value in meta.items() if value is not None}
    invalid = {name for name in present if not _is_valid(name, present[name])}
    if "inbox" in meta and not _is_arrived(meta):
        invalid.add("inbox")
    for name in sorted(invalid):
        note(f"invalid {name} in meta: removed")
    return {name: value for name, value in meta.items() if name not in invalid} if invalid else meta


def _is_valid(name: str, value: object) -> bool:
    if name in _TYPES:
        return type(value) is _TYPES[name]
    if name in _LISTS:
        return is_list_of(value, _LISTS[name])
    return name != "link" or (
        isinstance(value, dict)
        and isinstance(value.get("parent"), str | None)
        and is_list_of(value.get("to", []), str)
        and isinstance(value.get("calls", False), bool)
        and isinstance(value.get("answer"), str | None)
    )


def _is_arrived(meta: Mapping[str, Any]) -> bool:
    texts = all(isinstance(meta.get(name), str) for name in _INBOX)
    return texts and type(meta["inbox"]) is int and _is_moment(meta.get("said_at"))


def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        parse_date(value).timestamp()
    except (ValueError, OverflowError):
        return False
    return True
