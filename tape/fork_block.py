"""The block that the merge of a fork appends, whose references follow its entries to their new ids.

On a fork, its own entries have temporary ids. Only the append knows their ids on the parent, so the
store asks each entry for its final form (`NewEntry.placed`) when it gives the entry an id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tape.entry import EVENT, Entry, NewEntry, bootstrap, is_start
from tape.payloads import storable
from tape.query import MESSAGE_CHANGES
from tape.turn_events import ENTRY_LISTS, TAKES

META: Final = ("prompt_of", "edit_of", "part_of", "rewind")
"""The fields of an entry's meta that hold the id of an entry before it."""


@dataclass(frozen=True, slots=True)
class _Places:
    """The temporary ids of a block: those up to `floor` are the parent's own and stay."""

    floor: int = 0
    places: Mapping[int, int] = field(default_factory=dict)

    def moved(self, number: object, first: int) -> int | None:
        """Return the final id in a block that begins at `first`; None for an entry outside it."""
        if type(number) is not int:
            return None
        place = self.places.get(number)
        return number if number <= self.floor else None if place is None else first + place


@dataclass(frozen=True, slots=True)
class BlockEntry(NewEntry):
    """An entry of a fork's block; `shift` leads from an id in the store to the parent's id."""

    ids: _Places = field(default_factory=_Places)
    place: int = 0
    shift: int = 0

    def placed(self, number: int) -> NewEntry:
        first = number + self.shift - self.place
        payload, data, meta = self.payload, self.payload.get("data"), dict(self.meta)
        if self.kind == EVENT and isinstance(data, Mapping):
            payload = {**payload, "data": self._data(data, first)}
        for name in META:
            if type(meta.get(name)) is int:
                found = self.ids.moved(meta.pop(name), first)
                meta.update({} if found is None else {name: found})
        return NewEntry(self.kind, payload, meta, self.date)

    def _data(self, data: Mapping[str, Any], first: int) -> dict[str, Any]:
        changed = dict(data)
        if self.name in MESSAGE_CHANGES:
            changed["entry"] = self.ids.moved(data.get("entry"), first) or 0
        for name in ENTRY_LISTS:
            if self.name in TAKES and name in data:
                found = [self.ids.moved(number, first) for number in data[name]]
                changed[name] = [number for number in found if number is not None]
        return changed


def block_of(fork: str, own: Sequence[Entry], shift: int = 0) -> list[NewEntry]:
    """Return the entries to append for a fork's own, without its bootstrap and the unreadable."""
    own = own[len(bootstrap()) :] if own and is_start(own[0]) else own
    floor = own[0].id - 1 if own else 0
    own = storable(fork, own)
    ids = _Places(floor, {entry.id: place for place, entry in enumerate(own)})
    return [
        BlockEntry(e.kind, e.payload, {**e.meta, "fork": fork}, e.date, ids, place, shift)
        for place, e in enumerate(own)
    ]
