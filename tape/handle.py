"""The tape as its users hold it: reads, appends, views, and forks.

A fork is a tape too and comes from one, so both stand here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

from tape.construct.constructor import BUDGET, Constructed, ContextConstructor
from tape.context import (
    Message,
    TapeContext,
    arrange,
    default_tape_context,
    to_messages,
    view,
)
from tape.deletions import MESSAGE_DELETE, deleted, without_deleted, words_of
from tape.entry import ANCHOR, FORK_OPEN, MESSAGE, Entry, NewEntry, event, handoff
from tape.errors import TapeError
from tape.fork import DISCARDED, INFIX, MERGED, OPENING, closes, opening
from tape.query import MOST_NAMES, Query, locating, told_of
from tape.reads import Reads
from tape.search.query_text import SearchQuery
from tape.search.scan import scan_there, scanning
from tape.search.search import MIN_PAGE, NearestSearch, search, shown_entries, shown_hits
from tape.store import TapeStore
from tape.tokens import estimate
from tape.turn_events import is_take

MOST_SUMMED: Final = 5_000
"""So many entries since the last anchor are looked at for a summary."""


class Tape(Reads):
    """One tape of a store. Ids are those of the store; a fork's are provisional."""

    def __init__(self, store: TapeStore, name: str, meaning: NearestSearch | None = None) -> None:
        super().__init__(store, name)
        self.meaning = meaning

    async def append(self, *entries: NewEntry, key: str | None = None) -> list[Entry]:
        """Put entries at the end, as one block."""
        return await self.store.append(self.name, entries, key)

    async def handoff(self, name: str, state: dict[str, Any] | None = None, **meta: Any) -> Entry:
        """Append an anchor and the event that tells of it; returns the anchor."""
        anchor, _told = await self.append(*handoff(name, state, **meta))
        return anchor

    async def search(
        self,
        text: str,
        *,
        limit: int = 20,
        rank: bool = False,
        kinds: tuple[str, ...] = (MESSAGE, ANCHOR),
        since: str | None = None,
        until: str | None = None,
        author: str | None = None,
        lane: str | None = None,
        before: int | None = None,
    ) -> list[Entry]:
        """Return the newest entries that say a plain text, newest first (see `tape.search`).

        With `rank` the best of them come first. What was deleted says nothing any more. Raises
        QueryRefused for a text that is too long.
        """
        query = Query(
            self.name,
            before=before,
            kinds=kinds,
            since=since,
            until=until,
            author=author,
            lane=lane,
            limit=limit,
        )
        return await search(self, text, query, rank=rank)

    async def hits(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Return the newest entries of the query that say what is wanted, newest first."""
        return await shown_hits(self.store, replace(query, tape=self.name), wanted)

    async def near(self, query: Query, text: str) -> list[tuple[Entry, float]]:
        """Return the entries of the query that mean nearly the same, where that is known."""
        if self.meaning is None:
            return []
        asked = replace(query, tape=self.name)
        found = await self.meaning.nearest(asked, text, query.limit or 0)
        shown = {entry.id for entry in await self.shown([entry for entry, _ in found])}
        return [one for one in found if one[0].id in shown]

    async def shown(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return those of this tape's entries whose words were not deleted."""
        return await shown_entries(self.store, self.name, entries)

    async def context(self, context: TapeContext | None = None) -> list[Message]:
        """Return the messages for a model: of a context, or from the latest anchor on."""
        return await view(self, context or default_tape_context())

    async def full_context(self) -> list[Message]:
        """Return the messages of the whole tape, under the same mapping as every view."""
        return await self.context(replace(default_tape_context(), anchor=None))

    async def context_summary(self) -> dict[str, Any]:
        """Return what the tape holds and how full the view is, as a dict that JSON can hold.

        `entries`; `tokens`, estimated, of the view since the last anchor; `anchors`, the date of
        the latest of each name, of the newest thousand; `last_anchor` with id, name, state and
        date, or None; `since`, how many entries of each kind follow it. Where more follow it than
        are looked at, `partial` is true: of the newest MOST_SUMMED alone, so at least so many.
        """
        last, size = await self.last_anchor(), await self.size()
        after = last.id if last else 0
        since = await self.find(after=after, limit=MOST_SUMMED, newest=True)
        partial = size - after > MOST_SUMMED
        shown = await self._messages_among(since) if partial else await self.context()
        anchors = await self.anchors(limit=MOST_NAMES)
        return {
            "entries": size,
            "tokens": estimate(shown),
            "anchors": {entry.name: entry.date for entry in anchors},
            "last_anchor": _told(last) if last else None,
            "since": dict(sorted(Counter(entry.kind for entry in since).items())),
            **({"partial": True} if partial else {}),
        }

    async def _messages_among(self, entries: Sequence[Entry]) -> list[Message]:
        """Return what a view shows of entries, without what it takes from elsewhere."""
        known = {entry.id: entry for entry in entries}
        turned = any(is_take(entry) for entry in entries)
        shown = arrange(entries, known) if turned else entries
        return to_messages(await without_deleted(self, shown))

    async def context_for(
        self, task: str, *, budget: int = BUDGET, lane: str | None = None
    ) -> Constructed:
        """Construct a context for a task: what on the whole tape belongs to it, within a budget."""
        meaning = None if self.meaning is None else self
        constructor = ContextConstructor(self, meaning=meaning)
        return await constructor.construct(task, budget=budget, lane=lane)

    async def fork(self, at: str | Entry | None = None, merge_back: bool = True) -> ForkTape:
        """Open a fork that reads as this tape up to now, or up to an anchor, itself included.

        Who opens it ends it, by `merge` or `discard`; `TapeService.fork_tape` does so by itself.
        `at` is the anchor, or its name: raises NotFound with the nearest names.
        """
        anchor = await self.anchor(at) if isinstance(at, str) else at
        return await open_fork(self, anchor.id if anchor else None, merge_back)


class ForkTape(Tape):
    """A tape that reads as its parent up to `at` and then as itself; its ids are provisional."""

    def __init__(self, parent: Tape, name: str, at: int, merge_back: bool) -> None:
        super().__init__(parent.store, name, parent.meaning)
        self.parent = parent
        self.at = at
        self.merge_back = merge_back

    async def append(self, *entries: NewEntry, key: str | None = None) -> list[Entry]:
        """Put entries at the end of the fork; raises TapeError once it was closed."""
        if await self.state() != "open":
            raise TapeError(f"the fork {self.name} is closed: write to its parent")
        return [self._shown(entry) for entry in await super().append(*entries, key=key)]

    async def size(self) -> int:
        """Return how many entries the fork shows: the parent's up to its opening, and its own."""
        return self.at + await super().size() - OPENING

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query on the parent's part and the fork's own, as on one tape.

        Asked up to its end for deletions, or for what became of entries, it also answers which the
        parent was told of since: what is gone there is gone here. Such have their ids there.
        """
        query = await self._located(query)
        if await self._asks_for_deletions(query):
            return await self._with_later(query)
        if query.newest:
            own = await self._own(query)
            rest = None if query.limit is None else query.limit - len(own)
            return [*(await self._inherited(query, rest)), *own]
        inherited = await self._inherited(query, query.limit)
        rest = None if query.limit is None else query.limit - len(inherited)
        return [*inherited, *(await self._own(replace(query, limit=rest)))]

    async def hits(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        """Return the newest hits: the fork's own, each asked by itself, then the parent's."""
        found: list[Entry] = []
        limit = query.limit or 0
        while len(found) < limit:
            size = max(limit - len(found), MIN_PAGE)
            page = await self._hits(replace(query, limit=size), wanted, size)
            found += await self.shown(page)
            if len(page) < size:
                break
            query = replace(query, before=page[-1].id)
        return found[:limit]

    async def near(self, query: Query, text: str) -> list[tuple[Entry, float]]:
        """Return what the parent has that means nearly the same; its own is found by words."""
        before = self.at + 1 if query.before is None else min(query.before, self.at + 1)
        found = await self.parent.near(replace(query, before=before), text)
        shown = {entry.id for entry in await self.shown([entry for entry, _ in found])}
        return [one for one in found if one[0].id in shown]

    async def shown(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the entries whose words were deleted neither here nor on the parent."""
        said = [number for entry in entries if (number := _words_of(entry)) is not None]
        gone = await deleted(self, int(min(said))) if said else set()
        return [entry for entry in entries if _words_of(entry) not in gone]

    async def own_entries(self) -> list[Entry]:
        """Return what was written inside the fork, with its provisional ids."""
        return await self._own(Query(self.name))

    async def state(self) -> str:
        """Return `open`, `fork.merged` or `fork.discarded`."""
        newest = await self.store.query(Query(self.name, limit=1, newest=True))
        return newest[0].name or "open" if newest and closes(newest[0]) else "open"

    async def merge(self) -> list[Entry]:
        """Put what was written inside on the parent, as one block; again: the same block."""
        state = await self.state()
        if state == DISCARDED:
            raise TapeError(f"the fork {self.name} was discarded and cannot be merged")
        block = [
            NewEntry(entry.kind, entry.payload, {**entry.meta, "fork": self.name}, entry.date)
            for entry in await self.own_entries()
            if not closes(entry)
        ]
        merged = await self.parent.append(*block, key=f"fork:{self.name}") if block else []
        if state == "open":
            data = {"first": merged[0].id if merged else None, "count": len(merged)}
            await self.store.append(self.name, [event(MERGED, data)], "close")
        return merged

    async def discard(self, why: str) -> None:
        """Close the fork without a merge; it stays in the store as evidence."""
        if await self.state() == "open":
            await self.store.append(self.name, [event(DISCARDED, {"why": why})], "close")

    async def _located(self, query: Query) -> Query:
        """Find the anchors that a query names, which may stand in either part."""
        if query.after_anchor is None and query.before_anchor is None:
            return query
        steps = locating(query)
        try:
            asked = next(steps)
            while True:
                asked = steps.send(await self.query(asked))
        except StopIteration as done:
            found: Query = done.value
            return found

    async def _asks_for_deletions(self, query: Query) -> bool:
        if query.about is None:
            return query.any_name == (MESSAGE_DELETE,) and query.before is None
        names = query.any_name
        if names is not None and MESSAGE_DELETE not in names:
            return False
        return query.before is None or query.before > await self.size()

    async def _with_later(self, query: Query) -> list[Entry]:
        """Answer a query with the deletions that the parent was told of behind `at`."""
        asked = replace(query, limit=None)
        after = min(query.after, self.at)
        later = replace(asked, after=after, before=None, name=MESSAGE_DELETE, names=None)
        inherited = await self._inherited(asked, None)
        told = [
            entry
            for entry in await self.parent.query(later)
            if (number := told_of(entry)) is not None
            and number <= self.at
            and entry not in inherited
        ]
        found = [*inherited, *told, *(await self._own(asked))]
        if query.limit is None:
            return found
        return found[max(len(found) - query.limit, 0) :] if query.newest else found[: query.limit]

    async def _hits(self, query: Query, wanted: SearchQuery, limit: int) -> list[Entry]:
        own = await scan_there(scanning(query, wanted), self._own)
        before = self.at + 1 if query.before is None else min(query.before, self.at + 1)
        if len(own.hits) >= limit:
            return own.hits
        rest = replace(query, before=before, limit=limit - len(own.hits))
        return [*own.hits, *(await self.parent.hits(rest, wanted))]

    async def _inherited(self, query: Query, limit: int | None) -> Sequence[Entry]:
        before = self.at + 1 if query.before is None else min(query.before, self.at + 1)
        if before <= query.after + 1 or limit == 0:
            return []
        return await self.parent.query(replace(query, before=before, limit=limit))

    async def _own(self, query: Query) -> list[Entry]:
        """Ask the fork's own tape, with ids moved to where they stand there."""
        shift = OPENING - self.at
        before = None if query.before is None else query.before + shift
        if query.limit == 0 or (before is not None and before <= OPENING + 1):
            return []
        own = replace(
            query,
            tape=self.name,
            after=max(query.after + shift, OPENING),
            before=before,
            ids=None if query.ids is None else tuple(number + shift for number in query.ids),
        )
        return [self._shown(entry) for entry in await self.store.query(own)]

    def _shown(self, entry: Entry) -> Entry:
        return replace(entry, id=entry.id + self.at - OPENING)


async def open_fork(parent: Tape, at: int | None, merge_back: bool) -> ForkTape:
    """Open a fork that reads as its parent up to the entry `at` (None: up to now)."""
    at = await parent.size() if at is None else at
    fork = ForkTape(parent, f"{parent.name}{INFIX}{uuid4().hex[:12]}", at, merge_back)
    await fork.store.append(fork.name, [opening(parent.name, at, merge_back)])
    return fork


async def find_fork(store_tape: Tape) -> ForkTape:
    """Return the handle of a fork by its own tape, its parents with it."""
    first = await store_tape.store.query(Query(store_tape.name, limit=1))
    if not first or first[0].name != FORK_OPEN:
        raise TapeError(f"{store_tape.name} is not a fork")
    data = first[0].payload["data"]
    parent = Tape(store_tape.store, data["parent"], store_tape.meaning)
    if INFIX in parent.name:
        parent = await find_fork(parent)
    return ForkTape(parent, store_tape.name, int(data["at"]), bool(data["merge_back"]))


def _words_of(entry: Entry) -> float | None:
    """Return the message whose words an entry repeats, an edit's event among them."""
    return words_of(entry) if entry.kind == MESSAGE else told_of(entry)


def _told(anchor: Entry) -> dict[str, Any]:
    state = anchor.payload.get("state")
    return {"id": anchor.id, "name": anchor.name, "state": state, "date": anchor.date}
