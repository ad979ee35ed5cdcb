"""What a turn writes on its tape: at once, or together with its end."""

from __future__ import annotations

from dataclasses import replace

from tape.entry import Entry, NewEntry
from tape.handle import Tape


class TurnLog:
    """Stamps a turn's entries with its id and lane.

    `record` is durable when it returns; what is `deferred` goes into the transaction that ends
    the turn.
    """

    def __init__(self, tape: Tape, turn: str, lane: str | None) -> None:
        self.tape = tape
        self.turn = turn
        self.lane = lane
        self.deferred: list[NewEntry] = []

    async def record(self, *entries: NewEntry, key: str | None = None) -> list[Entry]:
        """Put entries on the tape now."""
        return await self.tape.append(*(self.stamp(entry) for entry in entries), key=key)

    def defer(self, *entries: NewEntry) -> None:
        """Keep entries for the transaction that ends the turn."""
        self.deferred.extend(self.stamp(entry) for entry in entries)

    def stamp(self, entry: NewEntry) -> NewEntry:
        """Return an entry with the turn and lane in its meta."""
        own = {"turn": self.turn, "lane": self.lane}
        return replace(
            entry, meta={**entry.meta, **{key: value for key, value in own.items() if value}}
        )
