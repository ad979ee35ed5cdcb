"""The plain list that every tape is compared with.

It is independent of `Query.pick` on purpose: it catches a mistake that the stores share with their
reference.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from tape.entry import Entry, NewEntry, utc_iso, with_bootstrap
from tape.query import Query

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class NoSuchAnchor(Exception):
    """A query names an anchor that is not there."""


@dataclass
class Model:
    """Tapes as plain lists."""

    tapes: dict[str, list[Entry]] = field(default_factory=dict)
    keys: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)

    def append(self, tape: str, batch: tuple[NewEntry, ...], key: str | None) -> list[Entry]:
        if key is not None and (tape, key) in self.keys:
            return self.keys[tape, key]
        entries = self.tapes.setdefault(tape, [])
        put(entries, with_bootstrap(batch, empty=not entries))
        asked = entries[len(entries) - len(batch) :]
        if key is not None:
            self.keys[tape, key] = asked
        return asked


def put(entries: list[Entry], batch: list[NewEntry]) -> None:
    for number, new in enumerate(batch, start=len(entries) + 1):
        date = new.date or utc_iso(MOMENT)
        entries.append(Entry(number, new.kind, new.payload, new.meta, date))


def answer(entries: list[Entry], query: Query) -> list[Entry]:
    """Answer a query by leaving out, one condition after the other."""
    left = [entry for entry in _between(entries, query) if entry.id > query.after]
    if query.before is not None:
        left = [entry for entry in left if entry.id < query.before]
    if query.ids is not None:
        left = [entry for entry in left if entry.id in list(query.ids)]
    if query.kinds is not None:
        left = [entry for entry in left if entry.kind in list(query.kinds)]
    for names in ([query.name] if query.name is not None else None, query.names):
        if names is not None:
            left = [entry for entry in left if _named(entry, list(names))]
    for authors in ([query.author] if query.author is not None else None, query.authors):
        if authors is not None:
            left = [entry for entry in left if entry.meta.get("author") in list(authors)]
    if query.unauthored:
        left = [entry for entry in left if type(entry.meta.get("author")) is not str]
    if query.since is not None:
        left = [entry for entry in left if not entry.date < query.since]
    if query.until is not None:
        left = [entry for entry in left if not entry.date >= query.until]
    if query.lane is not None:
        own = {entry.id for entry in left if entry.meta.get("lane") == query.lane}
        none = {entry.id for entry in left if type(entry.meta.get("lane")) is not str}
        left = [entry for entry in left if entry.id in (own | none if query.unlaned else own)]
    if query.turn is not None:
        left = [entry for entry in left if entry.meta.get("turn") == query.turn]
    if query.about is not None:
        left = [entry for entry in left if _is_about(entry, list(query.about))]
    if query.text is not None:
        left = [entry for entry in left if query.text.casefold() in _words(entry).casefold()]
    if query.limit is None or len(left) <= query.limit:
        return left
    return left[len(left) - query.limit :] if query.newest else left[: query.limit]


def _between(entries: list[Entry], query: Query) -> list[Entry]:
    start, end = 0, len(entries)
    if query.after_anchor is not None:
        start = _last(entries, query.after_anchor) + 1
    if query.before_anchor is not None:
        behind = entries[start:]
        if query.after_anchor is None:
            end = _last(entries, query.before_anchor)
        else:
            end = start + _last(behind[::-1], query.before_anchor, -1)
    return entries[start:end]


def _last(entries: list[Entry], name: str, step: int = 1) -> int:
    """Return where the last anchor of a name stands (with -1: from the end, so the first)."""
    found = [n for n, one in enumerate(entries) if one.kind == "anchor" and one.name == name]
    if not found:
        raise NoSuchAnchor(name)
    return found[-1] if step == 1 else len(entries) - 1 - found[-1]


def _named(entry: Entry, names: list[str]) -> bool:
    return entry.kind in ("anchor", "event") and entry.payload.get("name") in names


def _is_about(entry: Entry, ids: list[int]) -> bool:
    """Return whether an entry is an event about one of these messages."""
    names = ["message.delete", "message.edit", "message.media"]
    data = entry.payload.get("data")
    if entry.kind != "event" or not _named(entry, names) or not isinstance(data, dict):
        return False
    return data.get("entry") in ids


def _words(entry: Entry) -> str:
    return entry.text
