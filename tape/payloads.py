"""What a payload must hold, so that views can show it: stores refuse others.

A tape may still hold entries from before this rule. Views leave them out and report them to
`left_out`, which health shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tape.entry import ANCHOR, EVENT, KINDS, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry, NewEntry
from tape.erasing import ERASED, erased_on
from tape.errors import AppendRefused
from tape.query import MESSAGE_CHANGES
from tape.turn_events import ENTRY_LISTS, TURN_RETAKE, TURN_START

MAX_LEFT_OUT: Final = 100  # maximum entries that `left_out` names
_REFERENCES: Final = ("prompt_of", "edit_of", "part_of")
_PLAIN: Final = {"role", "content"}

Payload = Mapping[str, Any]


class LeftOut:
    """The unreadable entries that views of this process left out, by tape and id."""

    def __init__(self) -> None:
        self.entries: set[tuple[str, int]] = set()

    def note(self, tape: str, entry: Entry) -> None:
        if len(self.entries) < MAX_LEFT_OUT:
            self.entries.add((tape, entry.id))

    def notes(self) -> list[str]:
        """Return a sentence for each tape, for people who look after it."""
        tapes = sorted({tape for tape, _number in self.entries})
        return [
            f"views leave out what they cannot show of the tape {tape}: entry"
            f" {', '.join(str(number) for name, number in sorted(self.entries) if name == tape)}"
            for tape in tapes
        ]


left_out: Final = LeftOut()


def check(batch: Iterable[NewEntry], *, imported: bool = False) -> None:
    """Raise AppendRefused for a malformed entry, or for one that would break every later view.

    An `imported` event may name the entry 0, which stands for one that its file does not hold.
    """
    for new in batch:
        if not _well_typed(new):
            raise AppendRefused(
                "an entry needs a string as kind and date, and a mapping as payload and meta: "
                "make it with tape.message, tape.event or another constructor"
            )
        if new.kind not in KINDS:
            raise AppendRefused(
                f"{new.kind!r} is not a kind of entry: use one of {', '.join(sorted(KINDS))}"
            )
        if new.kind in (ANCHOR, EVENT) and not new.name:
            raise AppendRefused(f"the payload of this {new.kind} has no name: add one")
        if not is_sound(new) or (_names_no_message(new) and not imported):
            raise AppendRefused(f"no view could show this {new.name or new.kind}: {_needs(new)}")


def sound(tape: str, entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that a view of a tape can show, and report the unreadable others."""
    kept = []
    for entry in entries:
        if is_sound(entry):
            if ERASED not in entry.meta or not erased_on(entry):
                kept.append(entry)
        else:
            left_out.note(tape, entry)
    return kept


def storable(tape: str, entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries of a tape that a store accepts on another, and report the others."""
    return [entry for entry in entries if is_storable(tape, entry)]


def is_storable(tape: str, entry: Entry, *, imported: bool = False) -> bool:
    """Return whether a store accepts an entry of a tape on another; report it if not."""
    try:
        check([NewEntry(entry.kind, entry.payload, entry.meta, entry.date)], imported=imported)
    except AppendRefused:
        left_out.note(tape, entry)
        return False
    return True


def is_sound(entry: Entry | NewEntry) -> bool:
    """Return whether views can show an entry."""
    meta, kind, payload = entry.meta, entry.kind, entry.payload
    for name in _REFERENCES:
        if name in meta and type(meta[name]) is not int:
            return False
    if kind == MESSAGE and payload.keys() == _PLAIN and type(payload["content"]) is str:
        return isinstance(payload["role"], str)  # most entries of a view, in a fraction of the time
    rule = _RULES.get((entry.name or "") if kind == EVENT else kind)
    return rule is None or bool(rule[0](payload))


def is_message(payload: Payload) -> bool:
    """Return whether a payload is a chat message of OpenAI's form."""
    content, calls = payload.get("content"), payload.get("tool_calls")
    called = calls is None or are_calls(calls)
    silent = content is None and bool(calls)
    return (
        isinstance(payload.get("role"), str)
        and (isinstance(content, str) or silent or is_list_of(content, dict))
        and called
        and isinstance(payload.get("tool_call_id"), str | None)
    )


def are_calls(value: object) -> bool:
    """Return whether a value is a list of a model's tool calls."""
    return isinstance(value, list | tuple) and all(_is_call(one) for one in value)


def _is_call(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str | None):
        return False
    function = value.get("function")
    return function is None or (
        isinstance(function, dict) and isinstance(function.get("name"), str | None)
    )


def is_list_of(value: object, wanted: type) -> bool:
    """Return whether a value is a list in which every item has exactly the given type."""
    return isinstance(value, list | tuple) and all(type(one) is wanted for one in value)


def _takes(payload: Payload) -> bool:
    data = _data(payload)
    ids = all(is_list_of(data.get(name, []), int) for name in ENTRY_LISTS)
    return "takes" in data and ids and is_list_of(data.get("dates", []), str)


def _media(payload: Payload) -> bool:
    data = _data(payload)
    lists = (data.get("refused", []), data.get("images", []))
    return _names_an_entry(payload) and all(is_list_of(texts, str) for texts in lists)


def _edit(payload: Payload) -> bool:
    return _names_an_entry(payload) and "content" in _data(payload)


def _names_an_entry(payload: Payload) -> bool:
    return type(_data(payload).get("entry")) is int


def _data(payload: Payload) -> Payload:
    data = payload.get("data")
    return data if isinstance(data, Mapping) else {}


def _names_no_message(new: NewEntry) -> bool:
    return new.kind == EVENT and new.name in MESSAGE_CHANGES and _data(new.payload)["entry"] < 1


def _well_typed(new: object) -> bool:
    if not isinstance(new, NewEntry):
        return False
    texts: tuple[object, ...] = (new.kind, new.date)
    mappings: tuple[object, ...] = (new.payload, new.meta)
    return all(isinstance(value, str) for value in texts) and all(
        isinstance(value, Mapping) for value in mappings
    )


_RULES: Final[Mapping[str, tuple[Callable[[Payload], object], str]]] = {
    MESSAGE: (is_message, "a role, and content that is text or a list of parts"),
    TOOL_CALL: (
        lambda payload: are_calls(payload.get("calls")),
        "a list of calls, as models write them",
    ),
    TOOL_RESULT: (lambda payload: isinstance(payload.get("results"), list), "a list of results"),
    TURN_START: (_takes, "the ids that it takes, as a list"),
    TURN_RETAKE: (_takes, "the ids that it takes, as a list"),
    "message.delete": (_names_an_entry, "the id of a message as entry"),
    "message.edit": (_edit, "the id of a message as entry, and its new content"),
    "message.media": (_media, "the id of a message as entry, and lists of texts"),
}


def _needs(new: NewEntry) -> str:
    rule = _RULES.get((new.name or "") if new.kind == EVENT else new.kind)
    if rule is None or any(name in new.meta for name in _REFERENCES):
        return "prompt_of and edit_of in its meta are ids of entries"
    return f"it needs {rule[1]}"


def fits(kind: str, payload: dict[str, Any]) -> bool:
    """Return whether views can show a payload; for an event, its `data` is an object."""
    return is_sound(NewEntry(kind, payload))
