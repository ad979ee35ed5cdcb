"""What a tape's next append depends on, and the rows that an append writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tape.database.group_commit import late_entries, meta_columns
from tape.entry import Entry, anchors, dump, numbered, with_bootstrap
from tape.payloads import check
from tape.query import subject_of
from tape.unit_of_work import Append


@dataclass(frozen=True, slots=True)
class TapeState:
    """A tape's number of entries, its latest date, the id of the entry with it, and whether the
    tape needs no bootstrap."""

    size: int = 0
    dated: str = ""
    last: int = 0
    anchored: bool = False

    def after(self, entries: Sequence[Entry]) -> TapeState:
        """Return the state after an append."""
        dated, last = self.dated, self.last
        for entry in entries:
            if entry.date >= dated:
                dated, last = entry.date, entry.id
        return TapeState(
            self.size + len(entries), dated, last, self.anchored or any(map(anchors, entries))
        )


def written(step: Append, state: TapeState, now: str) -> tuple[list[Entry], list[Entry]]:
    """Return the entries that an append writes, and those of them that are its own."""
    check(step.entries)
    batch = with_bootstrap(step.entries, empty=state.size == 0, anchored=lambda: state.anchored)
    entries = numbered(batch, state.size, now)
    return entries, entries[len(batch) - len(step.entries) :]


def append_values(
    tape: str, key: str | None, state: TapeState, entries: Sequence[Entry], own: Sequence[Entry]
) -> dict[str, Any]:
    """Return the values of the statement that appends entries."""
    after = state.after(entries)
    return {
        "tape": tape,
        "before": state.size,
        "latest": after.dated,
        "latest_id": after.last,
        "key": key,
        "first": own[0].id if own else 0,
        "count": len(own),
        **_columns(entries, state),
    }


def erase_values(tape: str, entry: Entry) -> dict[str, Any]:
    """Return the values of the statement that puts what is left in an entry's place."""
    author, lane, turn = meta_columns(entry)
    return {
        "tape": tape,
        "id": entry.id,
        "name": entry.name,
        "author": author,
        "lane": lane,
        "turn": turn,
        "about": subject_of(entry),
        "payload": dump(entry.payload),
        "meta": dump(entry.meta),
    }


def _columns(entries: Sequence[Entry], state: TapeState) -> dict[str, list[Any]]:
    late = late_entries(entries, state.dated, state.last)
    metas = [tuple(meta_columns(entry)) for entry in entries]
    return {
        "ids": [entry.id for entry in entries],
        "kinds": [entry.kind for entry in entries],
        "names": [entry.name for entry in entries],
        "authors": [author for author, _lane, _turn in metas],
        "lanes": [lane for _author, lane, _turn in metas],
        "turns": [turn for _author, _lane, turn in metas],
        "lates": [late.get(entry.id) for entry in entries],
        "abouts": [subject_of(entry) for entry in entries],
        "payloads": [dump(entry.payload) for entry in entries],
        "metas": [dump(entry.meta) for entry in entries],
        "dates": [entry.date for entry in entries],
    }
