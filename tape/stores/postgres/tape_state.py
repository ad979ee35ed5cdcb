"""What a tape's next append depends on, and the rows that an append writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from tape.database.group_commit import late_entries, meta_columns
from tape.entry import Entry, anchors, dump, numbered, with_bootstrap
from tape.payloads import check
from tape.query import subject_of
from tape.stores.postgres.rows import read_entries
from tape.tails import Tails
from tape.unit_of_work import Append, Row

MAX_REMEMBERED: Final = 100_000


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


@dataclass(slots=True)
class TapeMemory:
    """What a process knows of tapes: their numbers, which never change, and how they end."""

    tails: Tails = field(default_factory=Tails)
    numbers: dict[str, int] = field(default_factory=dict)
    states: dict[str, TapeState] = field(default_factory=dict)

    def take_in(self, tapes: Collection[str], ends: Iterable[Row]) -> None:
        """Remember the ends of tapes that were read; see the statement `tape.ends`."""
        found = {name: list(rows) for name, rows in groupby(ends, lambda row: str(row["tape"]))}
        for name in tapes:
            rows, state = found.get(name, []), TapeState()
            if rows:
                end = rows[0]
                state = TapeState(end["size"], end["dated"], end["last"], end["anchored"])
                self.know(name, end["number"])
            known = self.states.get(name)
            if known is not None and known.size > state.size:
                continue  # it has grown since
            self.states[name] = state  # others may have appended while this process did not hold it
            version = self.tails.lacks(name)
            if version is not None:
                columns = ("id", "kind", "payload", "meta", "date")
                of_entries = ([row[one] for one in columns] for row in rows if row["id"])
                self.tails.load(name, version, read_entries(of_entries), state.size)

    def know(self, tape: str, number: int) -> None:
        """Remember the number of a tape."""
        if len(self.numbers) > MAX_REMEMBERED:
            self.numbers.clear()
        self.numbers[tape] = number

    def keep(self, states: dict[str, TapeState]) -> None:
        """Remember the states of tapes after a commit."""
        if len(self.states) > MAX_REMEMBERED:
            self.states.clear()
        self.states |= states

    def forget(self, tape: str) -> None:
        """Read a tape once more before the next append."""
        self.states.pop(tape, None)
        self.tails.changed(tape)


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
