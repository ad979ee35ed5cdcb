"""The objects with which callers read, append to and fork a tape; a fork is a tape itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

from tape.construct.candidate import Strategy
from tape.construct.constructor import BUDGET, Constructed, ContextConstructor
from tape.context import REWIND, Message, TapeContext, arrange, to_messages, view
from tape.deletions import MESSAGE_DELETE, deleted, source_message, without_deleted
from tape.entry import ANCHOR, FORK_OPEN, MESSAGE, Entry, NewEntry, bootstrap, handoff
from tape.errors import ForkClosed, TapeError
from tape.fork import DISCARDED, INFIX, MERGED, MERGING, OPENING_ID, ForkEnd, Forking, opening
from tape.fork_block import block_of
from tape.payloads import sound
from tape.query import MAX_NAMES, Query, located_by, subject_of
from tape.reads import Reads
from tape.rewind import OF_THE_WORDS, find_anchor, state_of
from tape.search.edits import edited_ids, edits, with_edits
from tape.search.query_text import SearchQuery
from tape.search.scan import newest_first, scan_there, scanning
from tape.search.search import (
    MIN_PAGE,
    NearestSearch,
    search,
    shown_entries,
    shown_hits,
    without_quotes,
)
from tape.store import TapeStore
from tape.tokens import estimate
from tape.turn_events import is_take

MAX_SUMMARIZED: Final = 5_000  # maximum entries after the last anchor that a summary reads


class Tape(Reads):
    """One tape of a store; `semantic` is the index that finds entries by meaning."""

    def __init__(self, store: TapeStore, name: str, semantic: NearestSearch | None = None) -> None:
        super().__init__(store, name)
        self.semantic = semantic

    async def append(self, *entries: NewEntry, key: str | None = None) -> list[Entry]:
        """Append entries as one block and return them; see `tape.store` for the guarantees."""
        return await self.store.append(self.name, entries, key)

    async def handoff(
        self, name: str = "handoff", state: dict[str, Any] | None = None, **meta: Any
    ) -> Entry:
        """Append an anchor and the event that records the anchor; returns the anchor."""
        anchor, _event = await self.append(*handoff(name, state, **meta))
        return anchor

    async def rewind(self, to: str | Entry, **meta: Any) -> Entry:
        """Begin later views again with an older anchor's state; returns the new anchor.

        `to` is the anchor, its name or its id as text; raises NotFound. See `tape.rewind`.
        """
        older = await find_anchor(self, to) if isinstance(to, str) else to
        kept = {name: older.meta[name] for name in OF_THE_WORDS if name in older.meta}
        return await self.handoff(REWIND, state_of(older), **{**kept, **meta}, rewind=older.id)

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
        """Return the newest entries that contain the words of the text (see `tape.search`).

        The order is newest first, or best match first with `rank`. An edited message is found by
        its newest text, and has it; deleted messages, and results that quote them, are left out.
        `kinds` may be any kinds of entry. Raises QueryRefused if the text is too long.
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
        return await without_quotes(self, await search(self, text, query, rank=rank))

    async def hits(self, query: Query, wanted: SearchQuery) -> list[Entry]:
        return await shown_hits(self.store, replace(query, tape=self.name), wanted)

    async def near(self, query: Query, text: str) -> list[tuple[Entry, float]]:
        """Return the entries closest in meaning and their similarity; none without `semantic`."""
        if self.semantic is None:
            return []
        own = replace(query, tape=self.name)
        found = await self.semantic.nearest(own, text, query.limit or 0)
        shown = {entry.id for entry in await self.shown([entry for entry, _ in found])}
        return [hit for hit in found if hit[0].id in shown]

    async def shown(self, entries: Sequence[Entry]) -> list[Entry]:
        return await shown_entries(self.store, self.name, entries)

    async def context(self, context: TapeContext | None = None) -> list[Message]:
        """Return the messages for a model, by default from the latest anchor on."""
        return await view(self, context or TapeContext())

    async def full_context(self) -> list[Message]:
        """Return the messages of the whole tape for a model."""
        return await self.context(TapeContext(anchor=None))

    async def context_summary(self) -> dict[str, Any]:
        """Return a summary of the tape and its current view as JSON data.

        entries      number of entries on the tape
        tokens       estimated tokens of the view since the last anchor
        anchors      maps the names of the newest MAX_NAMES anchors to the date of their latest one
        last_anchor  id, name, state and date of the latest anchor, or None
        since        number of entries of each kind after the last anchor
        partial      true if only the newest MAX_SUMMARIZED entries after the last anchor were read,
                     so that `tokens` and `since` are lower bounds; absent otherwise
        """
        last, size = await self.last_anchor(), await self.size()
        after = last.id if last else 0
        since = await self.find(after=after, limit=MAX_SUMMARIZED, newest=True)
        partial = size - after > MAX_SUMMARIZED
        shown = await self._messages_among(since) if partial else await self.context()
        anchors = await self.anchors(limit=MAX_NAMES)
        return {
            "entries": size,
            "tokens": estimate(shown),
            "anchors": {entry.name: entry.date for entry in anchors},
            "last_anchor": _anchor_summary(last) if last else None,
            "since": dict(sorted(Counter(entry.kind for entry in since).items())),
            **({"partial": True} if partial else {}),
        }

    async def _messages_among(self, entries: Sequence[Entry]) -> list[Message]:
        entries = sound(self.name, entries)
        known = {entry.id: entry for entry in entries}
        turned = any(is_take(entry) for entry in entries)
        shown = arrange(entries, known) if turned else entries
        return to_messages(await without_deleted(self, shown))

    async def context_for(
        self,
        task: str,
        *,
        budget: int = BUDGET,
        lane: str | None = None,
        strategy: Strategy | None = None,
    ) -> Constructed:
        """Build a context for a task from the whole tape, with at most `budget` tokens."""
        constructor = ContextConstructor(strategy)
        return await constructor.construct_for_task(task, self, budget=budget, lane=lane)

    def fork(self, at: str | Entry | None = None, merge_back: bool = True) -> Forking[ForkTape]:
        """Open a fork with this tape's entries: all so far, or up to and including an anchor.

        `at` is the anchor or its name; raises NotFound with similar names. Await the fork, and end
        it with `merge` or `discard`; or use it as a block, whose end does that (see `Forking`).
        """
        return Forking(lambda: self._open_fork(at, merge_back))

    async def _open_fork(self, at: str | Entry | None, merge_back: bool) -> ForkTape:
        anchor = await self.anchor(at) if isinstance(at, str) else at
        upto = anchor.id if anchor else await self.size()
        fork = ForkTape(self, f"{self.name}{INFIX}{uuid4().hex[:12]}", upto, merge_back)
        begin = () if upto else bootstrap()
        await self.store.append(fork.name, [opening(self.name, upto, merge_back), *begin])
        return fork


class ForkTape(Tape):
    """A tape that starts with its parent's entries up to `at`; its own get new ids when merged."""

    def __init__(self, parent: Tape, name: str, at: int, merge_back: bool) -> None:
        super().__init__(parent.store, name, parent.semantic)
        self.parent = parent
        self.at = at
        self.merge_back = merge_back
        self._end = ForkEnd(parent.store, name)

    async def append(self, *entries: NewEntry, key: str | None = None) -> list[Entry]:
        """Append entries as one block; raises ForkClosed if the fork was closed before them."""
        if (key is None or not entries) and await self._end.closing() is not None:
            raise ForkClosed(self.name, self.parent.name)
        written = await super().append(*entries, key=key)
        # The order on the fork's own tape decides: a merge or discard may have come in between.
        closing = await self._end.closing()
        if closing is not None and written and written[0].id > closing.id:
            raise ForkClosed(self.name, self.parent.name)
        return [self._shown(entry) for entry in written]

    async def size(self) -> int:
        closing = await self._end.closing()
        own = await super().size() if closing is None else closing.id - 1
        return self.at + own - OPENING_ID

    async def run_query(self, query: Query) -> list[Entry]:
        """Answer a query on the parent's entries and the fork's own, as if on one tape.

        A query for deletions up to the fork's end also returns the parent's deletions after `at`,
        with their ids on the parent: a message that is deleted on the parent is deleted here, too.
        """
        query = await located_by(query, self.run_query)
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
        """Return the parent's entries closest in meaning; the fork's own have no vectors."""
        found = await self.parent.near(replace(query, before=self._inherited_before(query)), text)
        shown = {entry.id for entry in await self.shown([entry for entry, _ in found])}
        return [hit for hit in found if hit[0].id in shown]

    async def shown(self, entries: Sequence[Entry]) -> list[Entry]:
        ids = [number for entry in entries if (number := _message_of(entry)) is not None]
        gone = await deleted(self, int(min(ids))) if ids else set()
        return [entry for entry in entries if _message_of(entry) not in gone]

    async def own_entries(self) -> list[Entry]:
        """Return the entries that were appended to the fork, with temporary ids."""
        return await self._own(Query(self.name))

    async def state(self) -> str:
        """Return `open`, `fork.merging`, `fork.merged` or `fork.discarded`."""
        return await self._end.state()

    async def merge(self) -> list[Entry]:
        """Append the fork's own entries to the parent as one block; a second merge does nothing.

        The parent's bootstrap stands for the fork's own. A fork whose parent was closed before it
        is discarded, with ForkClosed; one that was discarded raises TapeError.
        """
        closing = await self._end.close(MERGING)
        if closing.name == DISCARDED:
            raise TapeError(
                f"the fork {self.name} was discarded and cannot be merged: open another"
            )
        shift = self.parent.at - OPENING_ID if isinstance(self.parent, ForkTape) else 0
        block = block_of(self.name, await self.own_entries(), shift)
        try:
            merged = await self.parent.append(*block, key=f"fork:{self.name}") if block else []
        except ForkClosed as cause:
            await self._end.settle(DISCARDED, why=str(cause))
            raise
        if closing.name == MERGING:
            first = merged[0].id if merged else None
            await self._end.settle(MERGED, first=first, count=len(merged))
        return merged

    async def discard(self, why: str) -> None:
        """Close an open fork without a merge; the fork's tape stays in the store."""
        await self._end.close(DISCARDED, why=why)

    async def _asks_for_deletions(self, query: Query) -> bool:
        if query.about is None:
            return query.any_name == (MESSAGE_DELETE,) and query.before is None
        names = query.any_name
        if names is not None and MESSAGE_DELETE not in names:
            return False
        return query.before is None or query.before > await self.size()

    async def _with_later(self, query: Query) -> list[Entry]:
        """Answer a query, and add the parent's deletions after `at` of messages up to `at`."""
        whole = replace(query, limit=None)
        after = min(query.after, self.at)
        later = replace(whole, after=after, before=None, name=MESSAGE_DELETE, names=None)
        inherited = await self._inherited(whole, None)
        deletions = [
            entry
            for entry in await self.parent.run_query(later)
            if (number := subject_of(entry)) is not None
            and number <= self.at
            and entry not in inherited
        ]
        found = [*inherited, *deletions, *(await self._own(whole))]
        if query.limit is None:
            return found
        return found[max(len(found) - query.limit, 0) :] if query.newest else found[: query.limit]

    async def _hits(self, query: Query, wanted: SearchQuery, limit: int) -> list[Entry]:
        own = await scan_there(scanning(query, wanted), self._own)
        if len(own.hits) >= limit:
            return own.hits
        before = self._inherited_before(query)
        rest = replace(query, before=before, limit=limit - len(own.hits))
        changes = await self._own(edits(self.name, 0, wanted.asof))
        ids = tuple(number for number in edited_ids(changes) if number <= self.at)
        asked = replace(rest, limit=limit + len(ids))
        found = await self.parent.hits(asked, wanted.up_to(self.at))
        if ids:
            moved = with_edits(
                await self.parent.run_query(replace(rest, ids=ids, limit=None)), changes
            )
            found = newest_first(
                *(entry for entry in found if entry.id not in ids), *filter(wanted.matches, moved)
            )
        return [*own.hits, *found[: rest.limit]]

    def _inherited_before(self, query: Query) -> int:
        return self.at + 1 if query.before is None else min(query.before, self.at + 1)

    async def _inherited(self, query: Query, limit: int | None) -> Sequence[Entry]:
        before = self._inherited_before(query)
        if before <= query.after + 1 or limit == 0:
            return []
        return await self.parent.run_query(replace(query, before=before, limit=limit))

    async def _own(self, query: Query) -> list[Entry]:
        """Query the fork's own tape, converting ids to that tape's ids and back."""
        shift = OPENING_ID - self.at
        before = None if query.before is None else query.before + shift
        if (closing := await self._end.closing()) is not None:
            before = closing.id if before is None else min(before, closing.id)
        if query.limit == 0 or (before is not None and before <= OPENING_ID + 1):
            return []
        own = replace(
            query,
            tape=self.name,
            after=max(query.after + shift, OPENING_ID),
            before=before,
            ids=None if query.ids is None else tuple(number + shift for number in query.ids),
        )
        return [self._shown(entry) for entry in await self.store.query(own)]

    def _shown(self, entry: Entry) -> Entry:
        return replace(entry, id=entry.id + self.at - OPENING_ID)


async def find_fork(tape: Tape) -> ForkTape:
    """Return the fork whose entries are on a tape, and its parents; raises TapeError if none."""
    first = await tape.store.query(Query(tape.name, limit=1))
    if not first or first[0].name != FORK_OPEN:
        raise TapeError(f"{tape.name} is not a fork: a fork's name contains {INFIX!r}")
    data = first[0].payload["data"]
    parent = Tape(tape.store, data["parent"], tape.semantic)
    if INFIX in parent.name:
        parent = await find_fork(parent)
    return ForkTape(parent, tape.name, int(data["at"]), bool(data["merge_back"]))


def _message_of(entry: Entry) -> float | None:
    return source_message(entry) if entry.kind == MESSAGE else subject_of(entry)


def _anchor_summary(anchor: Entry) -> dict[str, Any]:
    state = anchor.payload.get("state")
    return {"id": anchor.id, "name": anchor.name, "state": state, "date": anchor.date}
