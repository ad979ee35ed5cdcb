"""Count what is on a tape, by 1 024 ids and by hours; the counts hold no words.

A count of entries is the sum of the counts of its parts, in any order: an index adds what is new to
what it has. An erased entry stays counted, but not its lane.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tape.entry import ANCHOR, EVENT, MESSAGE, Entry, parse_date
from tape.erasing import ERASED
from tape.query import MESSAGE_CHANGES
from tape.turn_events import TURN_END

BLOCK: Final = "block"
HOUR: Final = "hour"
BLOCK_IDS: Final = 1024
"""Number of a tape's ids in a block: the block 0 has the ids 1 to 1023."""

HOUR_SECONDS: Final = 3600
UTC_OFFSET: Final = "+00:00"  # with which the dates of tapes end
MAX_LANES: Final = 1000  # maximum lanes of which one answer has counts

_FAILED: Final = ("failed", "dead")
_REFUSED: Final = ("access.refused", "confirm.refused", "message.dropped")
_CHANGED: Final = MESSAGE_CHANGES[:2]
_REPEATS: Final = ("prompt_of", "edit_of", "hint", "turn", ERASED)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is counted of a block of ids, or of an hour.

    slot             the number of the block, or the hours since 1970
    entries          number of entries; the next are among them
    said, answered   messages of people, and answers
    failed, refused  turns without an answer, and messages and calls that were not allowed
    changed          edits and deletions
    anchors          anchors
    first, last      the lowest and the highest id
    oldest, newest   the earliest and the latest date
    """

    slot: int
    entries: int
    said: int
    answered: int
    failed: int
    refused: int
    changed: int
    anchors: int
    first: int
    last: int
    oldest: str
    newest: str

    def __add__(self, other: Stretch) -> Stretch:
        """Return both together, under the slot of this one."""
        return Stretch(
            slot=self.slot,
            entries=self.entries + other.entries,
            said=self.said + other.said,
            answered=self.answered + other.answered,
            failed=self.failed + other.failed,
            refused=self.refused + other.refused,
            changed=self.changed + other.changed,
            anchors=self.anchors + other.anchors,
            first=min(self.first, other.first),
            last=max(self.last, other.last),
            oldest=min(self.oldest, other.oldest),
            newest=max(self.newest, other.newest),
        )


COUNTS: Final = ("entries", "said", "answered", "failed", "refused", "changed", "anchors")


@dataclass(frozen=True, slots=True)
class LaneSpan:
    """The entries of a lane in some blocks: how many, and the lowest and the highest id."""

    lane: str
    entries: int
    first: int
    last: int

    def __add__(self, other: LaneSpan) -> LaneSpan:
        first, last = min(self.first, other.first), max(self.last, other.last)
        return LaneSpan(self.lane, self.entries + other.entries, first, last)


@dataclass(frozen=True, slots=True)
class Spark:
    """What was said and answered in one hour, by the hours since 1970."""

    hour: int
    said: int
    answered: int


@dataclass(frozen=True, slots=True)
class RolledUp:
    """Some stretches of a tape in order; all entries from `low` to `high` are counted."""

    low: int = 1
    high: int = 0
    stretches: tuple[Stretch, ...] = ()


@dataclass(slots=True)
class _Tally:
    """A stretch that is being counted."""

    first: int
    last: int
    oldest: str
    newest: str
    counts: list[int] = field(default_factory=lambda: [0] * len(COUNTS))

    def add(self, entry: Entry, sort: int) -> None:
        self.counts[0] += 1
        if sort:
            self.counts[sort] += 1
        self.first, self.last = min(self.first, entry.id), max(self.last, entry.id)
        self.oldest, self.newest = min(self.oldest, entry.date), max(self.newest, entry.date)

    def under(self, slot: int) -> Stretch:
        entries, said, answered, failed, refused, changed, anchors = self.counts
        return Stretch(
            slot=slot,
            entries=entries,
            said=said,
            answered=answered,
            failed=failed,
            refused=refused,
            changed=changed,
            anchors=anchors,
            first=self.first,
            last=self.last,
            oldest=self.oldest,
            newest=self.newest,
        )


@dataclass(slots=True)
class Rollup:
    """Counts of a tape's entries, to be added to what an index has."""

    lanes: dict[tuple[int, str], LaneSpan] = field(default_factory=dict)
    _blocks: dict[int, _Tally] = field(default_factory=dict)
    _hours: dict[int, _Tally] = field(default_factory=dict)

    @property
    def blocks(self) -> dict[int, Stretch]:
        return {slot: tally.under(slot) for slot, tally in self._blocks.items()}

    @property
    def hours(self) -> dict[int, Stretch]:
        return {slot: tally.under(slot) for slot, tally in self._hours.items()}

    def add(self, entry: Entry) -> None:
        """Count an entry."""
        sort, block = _sort_of(entry), entry.id // BLOCK_IDS
        for tallies, slot in ((self._blocks, block), (self._hours, hour_of(entry.date))):
            tally = tallies.get(slot)
            if tally is None:
                tally = tallies[slot] = _Tally(entry.id, entry.id, entry.date, entry.date)
            tally.add(entry, sort)
        lane = entry.meta.get("lane")
        if isinstance(lane, str):
            one = LaneSpan(lane, 1, entry.id, entry.id)
            known = self.lanes.get((block, lane))
            self.lanes[block, lane] = one if known is None else known + one

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each block and hour, with the names of the index's columns."""
        by_grain = ((BLOCK, self.blocks), (HOUR, self.hours))
        return [
            {"grain": grain, **{name: getattr(one, name) for name in Stretch.__slots__}}
            for grain, found in by_grain
            for one in found.values()
        ]

    def lane_rows(self) -> list[dict[str, Any]]:
        """Return a row for each lane of a block."""
        return [
            {"slot": slot, **{name: getattr(one, name) for name in LaneSpan.__slots__}}
            for (slot, _lane), one in self.lanes.items()
        ]


def counts_of(entries: Iterable[Entry]) -> Rollup:
    """Return the counts of some entries."""
    rollup = Rollup()
    for entry in entries:
        rollup.add(entry)
    return rollup


def blocks_of(ids: Iterable[int]) -> list[int]:
    """Return the blocks that have some of these ids."""
    return sorted({number // BLOCK_IDS for number in ids})


def hour_of(date: str) -> int:
    """Return the hours from 1970 to a date; 0 for one that cannot be read."""
    is_ours = date.endswith(UTC_OFFSET) and date[13:14] == ":"
    return _hour_of(f"{date[:13]}:00{UTC_OFFSET}" if is_ours else date)


def stretch_of(row: Mapping[str, Any]) -> Stretch:
    """Read a row of an index."""
    return Stretch(**{name: row[name] for name in Stretch.__slots__})


def is_said(entry: Entry) -> bool:
    """Return whether an entry is the message of a person, as it was first written."""
    if entry.kind != MESSAGE or ERASED in entry.meta:
        return False
    if "inbox" in entry.meta:
        return True
    return entry.payload.get("role") == "user" and entry.meta.keys().isdisjoint(_REPEATS)


def is_answer(entry: Entry) -> bool:
    """Return whether an entry is an answer, as people read it."""
    if entry.kind != MESSAGE or entry.payload.get("role") != "assistant" or ERASED in entry.meta:
        return False
    return bool(entry.meta.get("final")) or "turn" not in entry.meta


def has_failed(entry: Entry) -> bool:
    """Return whether an entry ends a turn that had no answer."""
    if entry.kind != EVENT or entry.name != TURN_END:
        return False
    data = entry.payload.get("data")
    return isinstance(data, Mapping) and data.get("status") in _FAILED


def is_refusal(entry: Entry) -> bool:
    """Return whether an entry records what was not allowed."""
    return entry.kind == EVENT and entry.name in _REFUSED


def is_change(entry: Entry) -> bool:
    """Return whether an entry records an edit or a deletion."""
    return entry.kind == EVENT and entry.name in _CHANGED


def _sort_of(entry: Entry) -> int:
    """Return the place of an entry's count in COUNTS, 0 for one that is only an entry."""
    if entry.kind == MESSAGE:
        return 1 if is_said(entry) else 2 if is_answer(entry) else 0
    if entry.kind == ANCHOR:
        return 6
    if entry.kind != EVENT:
        return 0
    return 3 if has_failed(entry) else 4 if is_refusal(entry) else 5 if is_change(entry) else 0


@functools.lru_cache(maxsize=4096)
def _hour_of(date: str) -> int:
    try:
        return int(parse_date(date).timestamp() // HOUR_SECONDS)
    except (ValueError, OverflowError):
        return 0
