"""A question to a store, as data: every store answers the same query alike."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tape.entry import ANCHOR, EVENT, Entry, as_date
from tape.errors import NotFound, QueryRefused

MAX_NAMES: Final = 1000
"""So many of the newest anchors are looked at for the names nearest to an unknown one."""

ID_SPACE: Final = 4294967296
"""The room of a tape: no id is as great."""

MESSAGE_CHANGES: Final = ("message.delete", "message.edit", "message.media")
"""The events that tell what became of a message: `data.entry` is the message's id."""


@dataclass(frozen=True, slots=True)
class Query:
    """Which entries of one tape.

    All conditions must hold; None asks for nothing. The answer is in tape order. Raises
    QueryRefused for a date that is none, a negative limit, and text that is no text.

    after, before   ids, both exclusive
    after_anchor    behind the latest anchor of this name
    before_anchor   before the first anchor of this name behind `after_anchor`; without that, before
                    the latest of this name; a store raises NotFound where there is no such anchor
    ids             exactly these (unknown ones are absent from the answer)
    kinds           any of these
    name, names     the name of an anchor or event; any of several
    since, until    dates as people write them (`2026-01-02`, `2026-01-02 15:04`, with `Z` or an
                    offset, else UTC), kept as tapes write them; inclusive and exclusive
    author, authors `meta.author`; any of several
    unauthored      only entries without an author: not what people said
    lane            `meta.lane`
    unlaned         with `lane`: also entries that carry no lane (a lane is a text)
    turn            `meta.turn`
    about           only the events that tell what became of these entries (`MESSAGE_CHANGES`)
    text            a piece of the entry's text, whatever its case
    limit           how many at most; the newest ones where `newest`, else the oldest
    """

    tape: str
    after: int = 0
    before: int | None = None
    after_anchor: str | None = None
    before_anchor: str | None = None
    ids: tuple[int, ...] | None = None
    kinds: tuple[str, ...] | None = None
    name: str | None = None
    names: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None
    author: str | None = None
    authors: tuple[str, ...] | None = None
    unauthored: bool = False
    lane: str | None = None
    unlaned: bool = False
    turn: str | None = None
    about: tuple[int, ...] | None = None
    text: str | None = None
    limit: int | None = None
    newest: bool = False

    def __post_init__(self) -> None:
        """Refuse what no entry can answer to, and write dates as tapes do."""
        if self.limit is not None and self.limit < 0:
            raise QueryRefused(f"a limit is how many entries to return, not {self.limit}")
        for text in self._texts():
            _refuse_half_characters(text)
        for bound in ("since", "until"):
            text = getattr(self, bound)
            if text is not None:
                object.__setattr__(self, bound, _date(text, bound))

    @property
    def any_name(self) -> tuple[str, ...] | None:
        """The names that `name` and `names` leave; None: any, or none at all."""
        return _either(self.name, self.names)

    @property
    def any_author(self) -> tuple[str, ...] | None:
        """The authors that `author` and `authors` leave; None: any, or nobody."""
        return _either(self.author, self.authors)

    @property
    def asks_for_nothing(self) -> bool:
        """Whether no entry can answer, whatever the tape holds."""
        several = (self.ids, self.kinds, self.any_name, self.any_author, self.about)
        return self.limit == 0 or any(some is not None and not some for some in several)

    def matches(self, entry: Entry) -> bool:
        """Tell whether an entry answers this query, its anchors' names and its limit apart."""
        lane, author = entry.meta.get("lane"), entry.meta.get("author")
        unlaned = self.unlaned and not isinstance(lane, str)
        names, authors = self.any_name, self.any_author
        return (
            entry.id > self.after
            and (self.before is None or entry.id < self.before)
            and (self.ids is None or entry.id in self.ids)
            and (self.kinds is None or entry.kind in self.kinds)
            and (names is None or entry.name in names)
            and (self.since is None or entry.date >= self.since)
            and (self.until is None or entry.date < self.until)
            and (authors is None or author in authors)
            and not (self.unauthored and isinstance(author, str))
            and (self.lane is None or lane == self.lane or unlaned)
            and (self.turn is None or entry.meta.get("turn") == self.turn)
            and (self.about is None or subject_of(entry) in self.about)
            and (self.text is None or fold(self.text) in fold(entry.text))
        )

    def pick(self, entries: Sequence[Entry]) -> list[Entry]:
        """Answer the query from a list in tape order: the reference for every store."""
        query = located(self, lambda asked: asked.pick(entries))
        hits = [entry for entry in entries if query.matches(entry)]
        if self.limit is None:
            return hits
        if not self.newest:
            return hits[: self.limit]
        return hits[-self.limit :] if self.limit else []

    def _texts(self) -> list[str]:
        several = (self.kinds, self.names, self.authors)
        one = (
            self.tape,
            self.after_anchor,
            self.before_anchor,
            self.name,
            self.author,
            self.lane,
            self.turn,
        )
        found = [text for texts in several if texts for text in texts]
        return [*found, *(text for text in (*one, self.text) if text is not None)]


Locating = Generator[Query, Sequence[Entry], Query]


def locating(query: Query) -> Locating:
    """Ask where a query's anchors stand, and return it with ids in place of their names.

    Yields the queries to be answered for that; raises NotFound.
    """
    after, before = query.after, query.before
    behind = 0
    if query.after_anchor is not None:
        behind = yield from _anchor(query, query.after_anchor, 0)
        after = max(after, behind)
    if query.before_anchor is not None:
        end = yield from _anchor(query, query.before_anchor, behind)
        before = end if before is None else min(before, end)
    return replace(query, after=after, before=before, after_anchor=None, before_anchor=None)


def located(query: Query, answer: Callable[[Query], Sequence[Entry]]) -> Query:
    """Return a query with ids in place of its anchors' names; `answer` answers what that asks."""
    if query.after_anchor is None and query.before_anchor is None:
        return query
    steps = locating(query)
    try:
        asked = next(steps)
        while True:
            asked = steps.send(answer(asked))
    except StopIteration as done:
        found: Query = done.value
        return found


def _anchor(query: Query, name: str, behind: int) -> Generator[Query, Sequence[Entry], int]:
    """Find the first anchor of a name behind an entry; behind none, the latest of all."""
    anchors = Query(query.tape, kinds=(ANCHOR,))
    first = replace(anchors, name=name, after=behind, limit=1, newest=not behind)
    found = yield first
    if found:
        return found[0].id
    known = yield replace(anchors, limit=MAX_NAMES, newest=True)
    raise NotFound(name, sorted({entry.name for entry in known if entry.name}))


def subject_of(entry: Entry) -> float | None:
    """Return the entry whose fate an event tells."""
    if entry.kind != EVENT or entry.name not in MESSAGE_CHANGES:
        return None
    data = entry.payload.get("data")
    found = data.get("entry") if isinstance(data, Mapping) else None
    return found if isinstance(found, (int, float)) and 0 < found < ID_SPACE else None


def fold(text: str) -> str:
    """Return a text as plain matching compares it."""
    return text.casefold()


def _either(one: str | None, several: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if one is None:
        return several
    return (one,) if several is None or one in several else ()


def _date(text: str, bound: str) -> str:
    try:
        return as_date(text)
    except ValueError as cause:
        raise QueryRefused(
            f"{bound} is no date ({text[:40]!r}): write 2026-01-02, 2026-01-02T15:04 or"
            " 2026-01-02T15:04+02:00"
        ) from cause


def _refuse_half_characters(text: Any) -> None:
    try:
        text.encode()
    except (UnicodeEncodeError, AttributeError) as cause:
        raise QueryRefused(f"a query holds what no entry can ({cause})") from cause
