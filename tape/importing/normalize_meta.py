"""The marks in an entry's meta that views and rooms read: what is not as we write it is taken off.

Anything else in a meta is its writer's own and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tape.entry import parse_date

_INBOX: Final = ("message_id", "author", "text")
"""What a person's message has beside its number: rooms and histories read it."""


def without_unfit(meta: dict[str, Any], note: Callable[[str], None]) -> dict[str, Any]:
    """Take off the marks that no reader could read, with a word on each."""
    unfit = {
        name for name, fits in _MARKS.items() if meta.get(name) is not None and not fits(meta[name])
    }
    if "inbox" in meta and not _is_arrived(meta):
        unfit.add("inbox")
    for name in sorted(unfit):
        note(f"its {name} is not as tapes have it: taken off")
    return {name: value for name, value in meta.items() if name not in unfit} if unfit else meta


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
    """Tell whether a message that has arrived says all that a room is made of."""
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


_MARKS: Final[Mapping[str, Callable[[object], bool]]] = {
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
