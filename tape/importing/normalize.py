"""Convert a line of any tool's tape to a valid entry, and note each repair.

Nothing is guessed: what a view cannot show (an unknown kind, a message without a role, calls that
are not a list) becomes an event `import.<kind>` with the original payload.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from tape.entry import ANCHOR, EVENT, KINDS, as_date, utc_iso
from tape.importing.normalize_meta import without_invalid
from tape.payloads import fits

MAX_DEPTH: Final = 60  # the maximum depth of nested objects and lists
MAX_LINE_BYTES: Final = 32 * 1024 * 1024
MIN_MILLISECONDS: Final = 100_000_000_000
"""Minimum timestamp read as milliseconds; in seconds, it would be after the year 5000."""

_SUM: Final = re.compile(r"[0-9a-f]{16}")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")

Note = Callable[[str], None]  # called with the description of each repair


@dataclass(frozen=True, slots=True)
class Raw:
    """A parsed line; a missing `id` is None, a missing `date` is ''."""

    id: int | None
    kind: str
    payload: dict[str, Any]
    meta: dict[str, Any]
    date: str


def read_raw(line: bytes, note: Note) -> Raw | None:
    """Parse and repair a line; returns None if the line is not an entry."""
    value = _object(line)
    if value is None or not isinstance(value.get("kind"), str):
        return None
    cleaned = _clean(value, note)
    number = cleaned.get("id")
    kind, payload = _fit(cleaned["kind"], cleaned.get("payload"), note)
    return Raw(
        number if type(number) is int and number > 0 else None,
        kind,
        payload,
        _meta(cleaned.get("meta"), note),
        _date(cleaned, note),
    )


def _object(line: bytes) -> dict[str, Any] | None:
    if len(line) > MAX_LINE_BYTES:
        return None
    try:
        value = orjson.loads(line)
    except ValueError:
        try:
            value = json.loads(line)  # accepts NaN and lone surrogates, which orjson rejects
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _clean(value: dict[str, Any], note: Note) -> dict[str, Any]:
    """Remove values that neither JSON nor a database can represent."""
    changed = False

    def clean(inner: Any, depth: int) -> Any:
        nonlocal changed
        if isinstance(inner, str):
            text = _SURROGATES.sub("\ufffd", inner.replace("\x00", ""))
            changed = changed or text != inner
            return text
        if isinstance(inner, Mapping | list) and depth > MAX_DEPTH:
            changed = True
            return None
        if isinstance(inner, dict):
            return {clean(key, depth): clean(item, depth + 1) for key, item in inner.items()}
        if isinstance(inner, list):
            return [clean(item, depth + 1) for item in inner]
        if _is_out_of_range(inner):
            changed = True
            return str(inner)
        return inner

    cleaned: dict[str, Any] = clean(value, 0)
    if changed:
        note("cleaned: NUL, lone surrogates, deep nesting, or numbers out of range")
    return cleaned


def _is_out_of_range(value: object) -> bool:
    if isinstance(value, float):
        return value != value or value in (float("inf"), float("-inf"))
    return type(value) is int and not -(2**63) <= value < 2**64


def _fit(kind: str, payload: Any, note: Note) -> tuple[str, dict[str, Any]]:
    """Return a kind and a payload that views and tools can read."""
    if kind in KINDS and isinstance(payload, dict):
        repaired = _REPAIRS[kind](payload) if kind in _REPAIRS else payload
        if repaired is not None and fits(kind, repaired):
            if repaired is not payload:
                note(f"incomplete {kind}: completed")
            return kind, repaired
        note(f"invalid {kind}: kept as an event")
    else:
        note(f"unknown kind {kind[:40]}: kept as an event")
    return EVENT, {"name": f"import.{kind}"[:200], "data": {"kind": kind, "payload": payload}}


def _anchor(payload: dict[str, Any]) -> dict[str, Any] | None:
    return _with_object(payload, "state") if _named(payload) else None


def _event(payload: dict[str, Any]) -> dict[str, Any] | None:
    return _with_object(payload, "data") if _named(payload) else None


def _with_object(payload: dict[str, Any], name: str) -> dict[str, Any]:
    value = payload.get(name)
    if isinstance(value, dict):
        return payload
    return {**payload, name: {} if value is None else {"value": value}}


def _named(payload: dict[str, Any]) -> bool:
    return isinstance(payload.get("name"), str) and bool(payload["name"])


_REPAIRS: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any] | None]]] = {
    ANCHOR: _anchor,
    EVENT: _event,
}


def _meta(meta: Any, note: Note) -> dict[str, Any]:
    if meta is None:
        return {}
    if not isinstance(meta, dict):
        note("meta is not an object: kept under meta.value")
        return {"value": meta}
    return without_invalid(_without_file_fields(meta), note)


def _without_file_fields(meta: dict[str, Any]) -> dict[str, Any]:
    """Remove the fields that a file store adds (see `tape.stores.jsonl.line`)."""
    digest = meta.get("sum")
    if not (isinstance(digest, str) and _SUM.fullmatch(digest) and list(meta)[-1] == "sum"):
        return meta
    own = meta.get("meta")
    if isinstance(own, dict):
        return own
    return {name: value for name, value in meta.items() if name not in ("key", "block", "sum")}


def _date(value: Mapping[str, Any], note: Note) -> str:
    """Return the date in the form of tapes, or '' if none can be read."""
    given = value.get("date", value.get("timestamp"))
    try:
        if isinstance(given, str):
            return as_date(given)
        if type(given) in (int, float):
            seconds = given / 1000 if abs(given) >= MIN_MILLISECONDS else given
            return utc_iso(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        pass
    note("no readable date: took the date of the entry before")
    return ""
