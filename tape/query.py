"""A question to a store, as data: every store answers the same query alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tape.entry import Entry


@dataclass(frozen=True, slots=True)
class Query:
    """Which entries of one tape.

    All conditions must hold; None asks for nothing. The answer is in tape order.

    after, before   ids, both exclusive
    ids             exactly these (unknown ones are absent from the answer)
    kinds, name     the kind; the name of an anchor or event
    since, until    dates as tapes write them; `since` inclusive, `until` exclusive
    author, lane    `meta.author` and `meta.lane`
    unauthored      only entries without an author: not what people said
    unlaned         with `lane`: also entries that carry no lane (a lane is a text)
    turn            `meta.turn`
    text            a piece of the entry's text, whatever its case
    limit           how many at most; the newest ones where `newest`, else the oldest
    """

    tape: str
    after: int = 0
    before: int | None = None
    ids: tuple[int, ...] | None = None
    kinds: tuple[str, ...] | None = None
    name: str | None = None
    since: str | None = None
    until: str | None = None
    author: str | None = None
    unauthored: bool = False
    lane: str | None = None
    unlaned: bool = False
    turn: str | None = None
    text: str | None = None
    limit: int | None = None
    newest: bool = False

    def matches(self, entry: Entry) -> bool:
        """Tell whether an entry answers this query, its limit apart."""
        lane = entry.meta.get("lane")
        unlaned = self.unlaned and not isinstance(lane, str)
        return (
            entry.id > self.after
            and (self.before is None or entry.id < self.before)
            and (self.ids is None or entry.id in self.ids)
            and (self.kinds is None or entry.kind in self.kinds)
            and (self.name is None or entry.name == self.name)
            and (self.since is None or entry.date >= self.since)
            and (self.until is None or entry.date < self.until)
            and (self.author is None or entry.meta.get("author") == self.author)
            and not (self.unauthored and isinstance(entry.meta.get("author"), str))
            and (self.lane is None or lane == self.lane or unlaned)
            and (self.turn is None or entry.meta.get("turn") == self.turn)
            and (self.text is None or fold(self.text) in fold(entry.text))
        )

    def pick(self, entries: Sequence[Entry]) -> list[Entry]:
        """Answer the query from a list in tape order: the reference for every store."""
        hits = [entry for entry in entries if self.matches(entry)]
        if self.limit is None:
            return hits
        if not self.newest:
            return hits[: self.limit]
        return hits[-self.limit :] if self.limit else []


def fold(text: str) -> str:
    """Return a text as plain matching compares it."""
    return text.casefold()
