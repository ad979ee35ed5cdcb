"""The search terms of an entry, from its text (without the frame for the model) and its author."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tape.database.query_compiler import UNINDEXED_EVENTS
from tape.entry import ANCHOR, EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry, content_text
from tape.excerpts import EXCERPTS, excerpt_words
from tape.search.tokenizer import fold, terms

MAX_TEXT_CHARACTERS: Final = 100_000
"""Maximum searchable characters of an entry, more than any platform's message has."""

TALK: Final = ("message", "anchor", "system", "error")
"""The kinds of entry searched by default; others are searched on request."""


@dataclass(frozen=True, slots=True)
class Words:
    """The search terms of an entry, from its text and from its author's name.

    `characters` is the length of the longer one.
    """

    text: list[str]
    who: list[str]
    characters: int = 0


def words(entry: Entry, most: int = MAX_TEXT_CHARACTERS) -> Words:
    """Return the search terms from an entry's first `most` characters."""
    whole = searchable_text(entry)
    text = terms(fold(whole[:most]))
    name = entry.meta.get("name")
    spoken = text and entry.kind == MESSAGE and isinstance(name, str)
    return Words(
        text, terms(fold(str(name)[:most])) if spoken else [], max(len(whole), len(str(name)))
    )


def searchable_text(entry: Entry) -> str:
    payload = entry.payload
    if entry.kind == MESSAGE:
        return _message(entry)
    if entry.kind == ANCHOR:
        return " \n".join((str(entry.name or ""), *_values(payload.get("state"))))
    if entry.kind == EVENT:
        return _event(entry)
    if entry.kind == TOOL_CALL:
        return " \n".join(_values([call_words(call) for call in _list(payload.get("calls"))]))
    if entry.kind == TOOL_RESULT:
        return " \n".join(_values(payload.get("results")))
    return content_text(payload.get("content") or payload.get("message"))


def _event(entry: Entry) -> str:
    data = entry.payload.get("data")
    if entry.name not in UNINDEXED_EVENTS:
        return " \n".join((str(entry.name), *_values(data)))
    texts = [data.get("text"), data.get("content")] if isinstance(data, Mapping) else ["", ""]
    text, content = [one if isinstance(one, str) else "" for one in texts]
    return " \n".join(
        filter(None, [text, excerpt_words(content) if EXCERPTS in entry.meta else ""])
    )


def call_words(call: object) -> list[object]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return []
    return [function.get("name"), function.get("arguments")]


def _message(entry: Entry) -> str:
    text = entry.meta.get("text")
    if not isinstance(text, str):
        return content_text(entry.payload.get("content"))
    media = [one for one in _list(entry.meta.get("media")) if isinstance(one, Mapping)]
    details = [one.get(key) for one in media for key in ("name", "detail")]
    found = [text, *(piece for piece in details if isinstance(piece, str))]
    if entry.meta.get(EXCERPTS):  # who passes something on may look for it by its words
        found.append(excerpt_words(content_text(entry.payload.get("content"))))
    return " \n".join(found)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _values(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _values(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
