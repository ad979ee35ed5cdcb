"""Write a turn's entries, immediately or in the transaction that ends the turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agent.model import ToolCall
from agent.spent import Spent
from agent.taint import Sources
from agent.tool import Role
from tape.entry import ANCHOR, EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry, NewEntry
from tape.fork import INFIX
from tape.handle import Tape
from tape.turn_events import TURN_RETAKE, read_take

MAX_KNOWN: Final = 10_000
SUGGESTION: Final = "anchor.suggestion"  # an anchor that counts once a person has accepted it
_SHOWN: Final = (MESSAGE, TOOL_CALL, TOOL_RESULT, ANCHOR)  # the kinds that later views show


class WriteOnce:
    """Writes an event with a key, which stands for its payload, once per tape.

    A second write costs no transaction, and one by another process mostly none either: whoever has
    just got a tape remembers its newest entries, and a refused append costs four round trips.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], int] = OrderedDict()

    async def record(self, tape: Tape, entry: NewEntry, key: str) -> int:
        """Append an entry unless the tape has the key; return the entry's id."""
        known = (tape.name, key)
        if known not in self._known:
            there = await self._written(tape, entry)
            if there is None:
                (there,) = await tape.append(entry, key=key)
            self._known[known] = there.id
            if len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(known)
        return self._known[known]

    async def _written(self, tape: Tape, entry: NewEntry) -> Entry | None:
        if INFIX in tape.name:
            return None  # a fork reads its parent, too
        found = await tape.find(kinds=(EVENT,), name=entry.name, limit=1, newest=True)
        return found[0] if found and found[0].payload == entry.payload else None


async def steered_into(tape: Tape, turn: str) -> list[int]:
    """Return the ids of questions that a turn took in while it ran."""
    takes = await tape.find(turn=turn, kinds=(EVENT,), name=TURN_RETAKE)
    read = [read_take(take) for take in takes]
    return list(dict.fromkeys(number for take in read if take.steered for number in take.takes))


@dataclass(slots=True, eq=False)
class TurnLog:
    """Writes a turn's entries with its id and lane, immediately or when the turn ends.

    deferred     entries for the transaction that ends the turn
    answer_meta  further `meta` for the entry of the turn's answer
    spent        what the model calls written so far have used
    suggestion   the newest anchor that was only suggested
    sources      whose text the turn's views have held
    allowed      a call that a person has allowed, which the turn runs first
    waiting      a call that waits for a person, which ends the turn
    role         the role with which the turn's tools run
    """

    tape: Tape
    turn: str
    lane: str | None
    deferred: list[NewEntry] = field(default_factory=list, init=False)
    answer_meta: dict[str, Any] = field(default_factory=dict, init=False)
    spent: Spent = field(default_factory=Spent, init=False)
    suggestion: NewEntry | None = field(default=None, init=False)
    sources: Sources = field(default_factory=Sources, init=False)
    allowed: ToolCall | None = field(default=None, init=False)
    waiting: ToolCall | None = field(default=None, init=False)
    role: Role = field(default=Role.STRANGER, init=False)

    async def record(self, *entries: NewEntry, key: str | None = None) -> list[Entry]:
        """Append entries to the tape; they are durable when this returns."""
        self._note(entries)
        return await self.tape.append(*(self.stamp(entry) for entry in entries), key=key)

    def defer(self, *entries: NewEntry) -> None:
        """Keep entries for the transaction that ends the turn."""
        self._note(entries)
        self.deferred.extend(self.stamp(entry) for entry in entries)

    def _note(self, entries: Iterable[NewEntry]) -> None:
        for entry in entries:
            self.spent.take(entry)
            if entry.kind == EVENT and entry.name == SUGGESTION:
                self.suggestion = entry

    def stamp(self, entry: NewEntry) -> NewEntry:
        meta = self.meta() if entry.kind in _SHOWN or entry.name == SUGGESTION else self._place()
        return replace(entry, meta={**entry.meta, **meta})

    def meta(self) -> dict[str, Any]:
        """Return the `meta` for an entry of this turn."""
        return {**self._place(), **self.sources.marks()}

    def _place(self) -> dict[str, str]:
        own = {"turn": self.turn, "lane": self.lane}
        return {key: value for key, value in own.items() if value}
