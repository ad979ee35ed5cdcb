"""Collect what a provider puts beside a message's text and calls, to send it back verbatim."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final

MESSAGE: Final = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "audio", "images"}
)
CALL: Final = frozenset({"id", "type", "function", "index"})
_DETAILS: Final = "reasoning_details"


class Extras:
    """Collects the fields of deltas or fragments that aren't among the known ones."""

    __slots__ = ("_known", "_values")

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._values: dict[str, list[Any]] = {}

    def add(self, fields: Mapping[str, Any]) -> None:
        if fields.keys() <= self._known:
            return
        for name in fields:
            if name not in self._known and fields[name] not in (None, "", [], {}):
                self._values.setdefault(name, []).append(fields[name])

    def whole(self, *, join: bool) -> dict[str, Any]:
        """Return the fields; `join` puts together texts and lists, else the latest counts."""
        return {name: _whole(name, values, join) for name, values in self._values.items()}


def _whole(name: str, values: list[Any], join: bool) -> Any:
    if join and all(isinstance(value, str) for value in values):
        return "".join(values)
    if join and all(isinstance(value, list) for value in values):
        items = [item for value in values for item in value]
        return _details(items) if name == _DETAILS else items
    return reduce(_merged, values)


def _merged(known: Any, value: Any) -> Any:
    if isinstance(known, dict) and isinstance(value, dict):
        return known | {name: _merged(known.get(name), one) for name, one in value.items()}
    return value


def _details(fragments: list[Any]) -> list[Any]:
    # OpenRouter cuts a detail of text into fragments with the same index; a signature comes last.
    groups: list[list[Any]] = []
    for fragment in fragments:
        if groups and _continues(groups[-1][0], fragment):
            groups[-1].append(fragment)
        else:
            groups.append([fragment])
    return [group[0] if len(group) == 1 else _joined(group) for group in groups]


def _continues(first: object, fragment: object) -> bool:
    return (
        isinstance(first, dict)
        and isinstance(fragment, dict)
        and "index" in fragment
        and not fragment.keys().isdisjoint({"text", "summary", "signature"})
        and all(first.get(name) == fragment.get(name) for name in ("type", "index"))
    )


def _joined(group: list[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for fragment in group:
        whole |= {name: value for name, value in fragment.items() if value is not None}
    for name in whole.keys() & {"text", "summary"}:
        whole[name] = "".join(str(fragment.get(name) or "") for fragment in group)
    return whole
