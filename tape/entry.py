"""The immutable record of a tape: its kinds, how to make one, and its JSON form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final

import orjson

from tape.errors import AppendRefused

JSON = Mapping[str, Any]

MESSAGE: Final = "message"
TOOL_CALL: Final = "tool_call"
TOOL_RESULT: Final = "tool_result"
ANCHOR: Final = "anchor"
EVENT: Final = "event"
SYSTEM: Final = "system"
ERROR: Final = "error"
KINDS: Final = frozenset({MESSAGE, TOOL_CALL, TOOL_RESULT, ANCHOR, EVENT, SYSTEM, ERROR})

SESSION_START: Final = "session/start"
FORK_OPEN: Final = "fork.open"

_YEAR_AND_MONTH: Final = re.compile(r"(\d{4})(?:-(\d{2}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to append; `date` is ISO 8601 in UTC, or empty for the time of the append."""

    kind: str
    payload: JSON
    meta: JSON = field(default_factory=dict)
    date: str = ""

    @property
    def name(self) -> str | None:
        return entry_name(self.kind, self.payload)

    def placed(self, number: int) -> NewEntry:  # noqa: ARG002
        """Return the entry as it is written under an id; references in it may depend on the id."""
        return self


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a tape; ids count from 1 without gaps, `date` is ISO 8601 in UTC."""

    id: int
    kind: str
    payload: JSON
    meta: JSON
    date: str

    @property
    def name(self) -> str | None:
        """The name of an anchor or event, or None for every other kind."""
        return entry_name(self.kind, self.payload)

    @property
    def text(self) -> str:
        """The plain text of the entry, for search and for people, or empty."""
        return entry_text(self.kind, self.payload)


def entry_name(kind: str, payload: JSON) -> str | None:
    """Return the name that an anchor or event payload carries."""
    if kind not in (ANCHOR, EVENT):
        return None
    name = payload.get("name")
    return name if isinstance(name, str) else None


def entry_text(kind: str, payload: JSON) -> str:
    """Return the searchable text of a payload, or empty for calls, results and events."""
    if kind == MESSAGE:
        return content_text(payload.get("content"))
    if kind == ANCHOR:
        state = payload.get("state")
        return f"{payload.get('name', '')} {dump(state) if state else ''}".strip()
    if kind in (SYSTEM, ERROR):
        return content_text(payload.get("content") or payload.get("message"))
    return ""


def content_text(content: object) -> str:
    """Return the text of OpenAI message content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


def message(role: str, content: object, **meta: Any) -> NewEntry:
    """Make a message entry, whose payload is an OpenAI chat message."""
    return NewEntry(MESSAGE, {"role": role, "content": content}, meta)


def tool_call(calls: Sequence[JSON], **meta: Any) -> NewEntry:
    """Make the entry for one step's tool calls, as the model wrote them (OpenAI `tool_calls`)."""
    return NewEntry(TOOL_CALL, {"calls": list(calls)}, meta)


def tool_result(results: Sequence[object], **meta: Any) -> NewEntry:
    """Make the entry for one step's tool results, in the order of the calls."""
    return NewEntry(TOOL_RESULT, {"results": list(results)}, meta)


def anchor(name: str, state: JSON | None = None, **meta: Any) -> NewEntry:
    """Make an anchor entry with a state."""
    return NewEntry(ANCHOR, {"name": name, "state": dict(state or {})}, meta)


def event(name: str, data: JSON | None = None, **meta: Any) -> NewEntry:
    """Make an event entry, which records a fact that models are not shown."""
    return NewEntry(EVENT, {"name": name, "data": dict(data or {})}, meta)


def error(text: str, **meta: Any) -> NewEntry:
    return NewEntry(ERROR, {"message": text}, meta)


def handoff(name: str, state: JSON | None = None, **meta: Any) -> tuple[NewEntry, NewEntry]:
    """Make the two entries of a handoff: the anchor, and the event that records the handoff."""
    return (anchor(name, state, **meta), event("handoff", {"name": name}, **meta))


def bootstrap() -> tuple[NewEntry, NewEntry]:
    """Make the anchor and the event with which every tape begins."""
    return handoff(SESSION_START, {"owner": "human"})


def with_bootstrap(
    batch: Sequence[NewEntry], *, empty: bool, anchored: Callable[[], bool] = lambda: True
) -> list[NewEntry]:
    """Return the batch; put the bootstrap before it if the tape is empty and the batch has none.

    `anchored` returns whether a tape with entries has an anchor or is a fork's: if not, it gets the
    bootstrap with a batch that is empty or has it. Raises AppendRefused for any other anchor
    `session/start` that does not begin the tape.
    """
    if not empty and (not batch or is_start(batch[0])) and not anchored():
        batch, empty = batch or bootstrap(), True
    begins = empty and bool(batch) and (is_start(batch[0]) or _opens_a_fork(batch[0]))
    start = (1 if is_start(batch[0]) else 2) if begins else 0
    if any(is_start(new) for new in batch[start:]):
        raise AppendRefused(
            "a tape has one anchor session/start, its first entry: use another name, such as"
            " session/reset"
        )
    return list(batch) if begins or not empty else [*bootstrap(), *batch]


def is_start(entry: Entry | NewEntry) -> bool:
    """Return whether an entry is the anchor with which a tape begins."""
    return entry.kind == ANCHOR and entry.name == SESSION_START


def anchors(entry: Entry) -> bool:
    """Return whether a tape with this entry needs no bootstrap."""
    return entry.kind == ANCHOR or _opens_a_fork(entry)


def _opens_a_fork(entry: Entry | NewEntry) -> bool:
    return entry.kind == EVENT and entry.name == FORK_OPEN


def utc_iso(moment: datetime) -> str:
    """Format a time as tapes store it: UTC with microseconds, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def parse_date(text: str) -> datetime:
    """Read an ISO 8601 date, in UTC if it has no offset."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def as_date(text: str) -> str:
    """Format a year, month, day or ISO 8601 time as tapes store it; raises ValueError otherwise."""
    text = text.strip()
    if partial := _YEAR_AND_MONTH.fullmatch(text):
        text = f"{partial[1]}-{partial[2] or '01'}-01"
    try:
        return utc_iso(parse_date(text.upper()))
    except OverflowError as cause:
        raise ValueError("the date is out of range") from cause


def dump(value: object) -> str:
    """Write compact JSON, keys in order; raises AppendRefused for values that JSON can't hold."""
    try:
        text = orjson.dumps(value)
        # orjson writes NaN and the infinities as null.
        if b"null" in text and _has_non_finite(value):
            raise ValueError("a number is not finite")
    except (TypeError, ValueError) as cause:
        raise AppendRefused(
            f"an entry has a value that JSON cannot represent ({cause}): clean it before the append"
        ) from cause
    return text.decode()


def _has_non_finite(value: object) -> bool:
    if isinstance(value, float):
        return not isfinite(value)
    if isinstance(value, dict):  # as any mapping that orjson writes
        return any(map(_has_non_finite, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_has_non_finite, value))


def load(text: str | bytes) -> Any:
    """Read JSON text that a store has written."""
    return orjson.loads(text)


def numbered(batch: Iterable[NewEntry], newest: int, date: str) -> list[Entry]:
    """Number a batch with the ids after `newest`; an entry without a date gets `date`."""
    placed = ((number, new.placed(number)) for number, new in enumerate(batch, start=newest + 1))
    return [
        Entry(number, new.kind, new.payload, new.meta, new.date or date) for number, new in placed
    ]


def to_line(entry: Entry) -> str:
    """Write an entry as one line of JSONL, without the newline."""
    # A file tape seals the bytes of each line, so the keys must keep this order.
    return dump(
        {
            "id": entry.id,
            "kind": entry.kind,
            "payload": entry.payload,
            "meta": entry.meta,
            "date": entry.date,
        }
    )


def from_line(line: str | bytes) -> Entry:
    """Read an entry from one line of JSONL; raises ValueError for anything else."""
    raw = load(line)
    if not isinstance(raw, dict) or not {"id", "kind", "payload", "date"} <= raw.keys():
        raise ValueError("a tape line needs the keys id, kind, payload, meta and date")
    entry = Entry(raw["id"], raw["kind"], raw["payload"], raw.get("meta") or {}, raw["date"])
    types = (int, str, dict, dict, str)
    values = (entry.id, entry.kind, entry.payload, entry.meta, entry.date)
    if any(type(value) is not wanted for value, wanted in zip(values, types, strict=True)):
        raise ValueError("a tape line needs an integer id, texts and objects under its keys")
    return entry
