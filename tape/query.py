"""A query is data that selects entries of one tape; every store gives the same answer."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import Final

from tape.entry import ANCHOR, EVENT, Entry, as_date
from tape.errors import NotFound, QueryRefused

MAX_NAMES: Final = 1000  # maximum newest anchors read to suggest names that resemble an unknown one
ID_SPACE: Final = 4294967296  # number of ids reserved for each tape; every entry id is smaller
MESSAGE_CHANGES: Final = ("message.delete", "message.edit", "message.media")
"""Events about an earlier message, whose id is in their `data.entry`."""

_ID: Final = attrgetter("id")


@dataclass(frozen=True, slots=True)
class Query:
    """Conditions that select entries of one tape.

    All conditions must hold; None means no condition. The answer is in tape order. Raises
    QueryRefused for an unreadable date, a negative limit, and text that is not valid Unicode.

    after, before   ids, both exclusive
    after_anchor    only entries after the latest anchor of this name
    before_anchor   only entries before the anchor of this name: the first one that follows
                    `after_anchor`, or the latest one without `after_anchor`; a store raises
                    NotFound for an anchor that does not exist
    ids             only entries with these ids (unknown ids are ignored)
    kinds           only entries of these kinds
    name, names     the name of an anchor or event; any of several
    since, until    dates as people write them (`2026-01-02`, `2026-01-02 15:04`, with `Z` or an
                    offset, else UTC), stored as tapes write them; inclusive and exclusive
    author, authors `meta.author`; any of several
    unauthored      only entries without an author
    lane            `meta.lane`
    unlaned         with `lane`: also entries whose lane is missing or not a string
    turn            `meta.turn`
    about           only the events about these messages (`MESSAGE_CHANGES`)
    text            a substring of the entry's text, ignoring case
    limit           maximum number of entries; the newest ones if `newest`, else the oldest
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
        if self.limit is not None and self.limit < 0:
            raise QueryRefused(f"the limit is {self.limit}: use a number of entries, zero or more")
        for text in self._texts():
            try:
                text.encode()
            except (UnicodeEncodeError, AttributeError) as cause:
                raise QueryRefused(
                    f"the query holds a value that is not valid Unicode text ({cause}): remove it"
                ) from cause
        for bound in ("since", "until"):
            if (text := getattr(self, bound)) is not None:
                object.__setattr__(self, bound, _date(text, bound))

    @property
    def any_name(self) -> tuple[str, ...] | None:
        """The accepted names by `name` and `names` together, or None for any name."""
        return _either(self.name, self.names)

    @property
    def any_author(self) -> tuple[str, ...] | None:
        return _either(self.author, self.authors)

    @property
    def is_empty(self) -> bool:
        """Whether no entry can match, on any tape."""
        several = (self.ids, self.kinds, self.any_name, self.any_author, self.about)
        return self.limit == 0 or any(some is not None and not some for some in several)

    def pick(self, entries: Sequence[Entry]) -> list[Entry]:
        """Answer the query from a list in tape order; every store must agree with this."""
        query = located(self, lambda question: question.pick(entries))
        first = bisect_right(entries, query.after, key=_ID)
        end = len(entries)
        if query.before is not None:
            end = bisect_left(entries, query.before, key=_ID)
        span = entries[first:end]
        found: Iterable[Entry] = reversed(span) if self.newest else span
        for condition in query._conditions():
            found = filter(condition, found)
        hits = list(islice(found, self.limit))
        return hits[::-1] if self.newest else hits

    def _conditions(self) -> Iterator[Callable[[Entry], bool]]:
        """Yield a test for each condition on a single entry, the cheapest first."""
        if (ids := self.ids) is not None:
            yield lambda entry: entry.id in ids
        if (kinds := self.kinds) is not None:
            yield lambda entry: entry.kind in kinds
        if (turn := self.turn) is not None:
            yield lambda entry: entry.meta.get("turn") == turn
        if (since := self.since) is not None:
            yield lambda entry: entry.date >= since
        if (until := self.until) is not None:
            yield lambda entry: entry.date < until
        if self.unauthored:
            yield lambda entry: not isinstance(entry.meta.get("author"), str)
        if (authors := self.any_author) is not None:
            yield lambda entry: entry.meta.get("author") in authors
        if self.lane is not None:
            yield _in_lane(self.lane, self.unlaned)
        if (names := self.any_name) is not None:
            yield lambda entry: entry.name in names
        if (about := self.about) is not None:
            yield lambda entry: subject_of(entry) in about
        if self.text is not None:
            folded = fold(self.text)
            yield lambda entry: folded in fold(entry.text)

    def _texts(self) -> Iterator[str]:
        for texts in (self.kinds, self.names, self.authors):
            yield from texts or ()
        anchors = (self.after_anchor, self.before_anchor)
        for text in (self.tape, *anchors, self.name, self.author, self.lane, self.turn, self.text):
            if text is not None:
                yield text


def _in_lane(lane: str, unlaned: bool) -> Callable[[Entry], bool]:
    if not unlaned:
        return lambda entry: entry.meta.get("lane") == lane
    return lambda entry: (own := entry.meta.get("lane")) == lane or not isinstance(own, str)


def locating(query: Query) -> Generator[Query, Sequence[Entry], Query]:
    """Yield the queries that find a query's anchors; return the query with ids. Raises NotFound."""
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
    """Replace a query's anchor names with the ids that `answer` finds; raises NotFound."""
    if query.after_anchor is None and query.before_anchor is None:
        return query
    steps = locating(query)
    try:
        question = next(steps)
        while True:
            question = steps.send(answer(question))
    except StopIteration as done:
        found: Query = done.value
        return found


async def located_by(query: Query, answer: Callable[[Query], Awaitable[Sequence[Entry]]]) -> Query:
    """Do what `located` does, with answers that are awaited."""
    if query.after_anchor is None and query.before_anchor is None:
        return query
    steps = locating(query)
    try:
        question = next(steps)
        while True:
            question = steps.send(await answer(question))
    except StopIteration as done:
        found: Query = done.value
        return found


def _anchor(query: Query, name: str, behind: int) -> Generator[Query, Sequence[Entry], int]:
    tape, kinds = query.tape, (ANCHOR,)
    found = yield Query(tape, kinds=kinds, name=name, after=behind, limit=1, newest=not behind)
    if found:
        return found[0].id
    known = yield Query(tape, kinds=kinds, limit=MAX_NAMES, newest=True)
    raise NotFound(name, sorted({entry.name for entry in known if entry.name}))


def subject_of(entry: Entry) -> float | None:
    """Return the id of the message that an event is about, or None for other entries."""
    if entry.kind != EVENT or entry.name not in MESSAGE_CHANGES:
        return None
    data = entry.payload.get("data")
    found = data.get("entry") if isinstance(data, Mapping) else None
    return found if isinstance(found, (int, float)) and 0 < found < ID_SPACE else None


def fold(text: str) -> str:
    """Return a text in the form that `Query.text` compares."""
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
            f"{bound} is not a date ({text[:40]!r}): write 2026-01-02, 2026-01-02T15:04 or"
            " 2026-01-02T15:04+02:00"
        ) from cause
