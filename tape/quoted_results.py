"""Find what tool results quote: the ids of the tape's entries, or another chat.

A result is JSON text as the model read it, possibly cut at its end. Quotation marks in people's
messages are escaped there, so that a message cannot imitate an id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tape.entry import TOOL_CALL, TOOL_RESULT, Entry

_ONE: Final = re.compile(r'"id":\s*(\d{1,18})\b')
_SEVERAL: Final = re.compile(r'"entries":\s*\[([\d,\s]*)')
_NUMBER: Final = re.compile(r"\d{1,18}")

Writer = tuple[str, ...]


def writer_of(entry: Entry) -> Writer:
    """Return the writer of a call or result; a result answers the last call by the same writer."""
    return tuple(str(entry.meta.get(name)) for name in ("turn", "lane", "fork"))


def quotes_the_tape(call: object) -> bool:
    """Return whether a call's result can quote the tape: a `tape.*` tool's or a subagent's."""
    name = _name(call)
    return name.startswith("tape_") or name == "subagent"


def quoted(entries: Sequence[Entry]) -> dict[tuple[int, int], list[int]]:
    """Map each result, by entry id and position, to the ids it quotes; takes entries of a view."""
    return {at: ids for at, call, result in _answered(entries) if (ids := _quoted(call, result))}


def from_elsewhere(entries: Sequence[Entry]) -> set[tuple[int, int]]:
    """Return the results, by entry id and position, that a `tape.*` tool took from another chat."""
    return {
        at
        for at, call, _result in _answered(entries)
        if _name(call).startswith("tape_") and _is_elsewhere(call)
    }


def _answered(entries: Sequence[Entry]) -> Iterator[tuple[tuple[int, int], object, object]]:
    """Yield each result with its entry's id and position, and the call that it answers."""
    open_calls: dict[Writer, Entry] = {}
    for entry in entries:
        if entry.kind == TOOL_CALL:
            open_calls[writer_of(entry)] = entry
        elif entry.kind == TOOL_RESULT:
            calling = open_calls.pop(writer_of(entry), None)
            calls = _listed(calling, "calls") if calling else ()
            results = _listed(entry, "results")
            for place, (call, result) in enumerate(zip(calls, results, strict=False)):
                yield (entry.id, place), call, result


def _quoted(call: object, result: object) -> list[int]:
    text = result if isinstance(result, str) else json.dumps(result)
    # A search of another chat's tape returns ids of that tape, not of this one.
    if _name(call) == "tape_search" and not _is_elsewhere(call):
        return [int(number) for number in _ONE.findall(text)]
    if _name(call) == "tape_context" and not _is_elsewhere(call):
        several = _SEVERAL.search(text)
        return [int(number) for number in _NUMBER.findall(several[1])] if several else []
    return []


def _name(call: object) -> str:
    # Providers allow no dots in names, so `tape.search` comes back as `tape_search`.
    return str(_function(call).get("name") or "").replace(".", "_")


def _is_elsewhere(call: object) -> bool:
    try:
        arguments = json.loads(_function(call).get("arguments") or "{}")
    except (TypeError, ValueError):
        return False
    return isinstance(arguments, Mapping) and bool(str(arguments.get("chat") or "").strip())


def _function(call: object) -> Mapping[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    return function if isinstance(function, Mapping) else {}


def _listed(entry: Entry, name: str) -> Sequence[Any]:
    found = entry.payload.get(name)
    return found if isinstance(found, list) else ()
