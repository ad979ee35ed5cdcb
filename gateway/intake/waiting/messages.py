"""What waits to be placed: ids in memory, and of a few messages their content as well.

The content of the others is read from the ledger when their turn comes. What an earlier process
has left over, or another one accepted, is read for the first time then: its parts are joined here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from gateway.intake.reassembly import Parts, joined_parts
from gateway.intake.waiting.lines import SessionLines
from gateway.logs import get_log
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from gateway.storage.waiting import goes_first
from tape.entry import parse_date
from tape.errors import StoreUnavailable

MAX_KEPT: Final = 300
"""Maximum messages whose content is kept in memory, and as many that are urgent."""

AHEAD: Final = 64
"""Messages that are read beyond a piece which ends inside a message's parts."""

Sift = Callable[[list[InboxRow]], Awaitable[list[InboxRow]]]
"""Returns which of the rows that were read are still to be placed."""


async def all_of(rows: list[InboxRow]) -> list[InboxRow]:
    """Return the rows: all of them are to be placed."""
    return rows


Place = tuple[str, int]  # the session in whose line a message waits, and the id of its row

_Known = tuple[Parts, tuple[int, ...], bool, bool]  # as WaitingMessages keeps it


@dataclass(slots=True, eq=False)
class Ready:
    """What goes next: whole messages, and rows that have to be completed or joined before.

    The lines in `stopped` wait for such rows: nothing that stands behind these goes before them.
    """

    messages: list[Parts] = field(default_factory=list)
    unready: list[InboxRow] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    ended: list[Place] = field(default_factory=list)  # nobody has to place them any more


@dataclass(eq=False)
class WaitingMessages:
    """The messages of all sessions that wait, in their lines."""

    _services: Services
    sift: Sift
    lines: SessionLines = field(default_factory=SessionLines)
    _kept: dict[int, Parts] = field(default_factory=dict)
    _joined: dict[int, tuple[int, ...]] = field(default_factory=dict)  # parts that aren't kept
    _unread: set[int] = field(default_factory=set)
    _old: set[int] = field(default_factory=set)  # left over by an earlier process, and unread
    _unsure: list[Place] = field(default_factory=list)  # edits and deletions, maybe of questions
    _alone: int = 0  # messages that are read one by one, as reading them together failed

    def add(self, key: str, parts: Parts, *, again: bool = False) -> None:
        """Add a whole message to a line; `again` says that it was taken and not placed."""
        row, urgent = parts[0], any(goes_first(part.message) for part in parts)
        if row.message.kind in ("edit", "delete") and not urgent:
            self._unsure.append((key, row.id))
        if len(self._kept) < (2 * MAX_KEPT if urgent or again else MAX_KEPT):
            self._kept[row.id] = parts
        elif len(parts) > 1:
            self._joined[row.id] = tuple(part.id for part in parts)
        if row.replayed:
            self._old.add(row.id)
        self.lines.add(key, row.id, urgent=urgent, old=row.replayed, again=again)

    def add_unread(
        self, key: str, ids: Sequence[int], urgent: Collection[int], *, old: bool
    ) -> None:
        """Add rows of which nothing is known but their ids, in order, and which are urgent.

        What is in memory of them is forgotten: they may be of another session now.
        """
        self._unread.update(ids)
        if self._kept or self._joined:
            for number in ids:
                self._kept.pop(number, None)
                self._joined.pop(number, None)
        if old:
            self._old.update(ids)
        first = [number for number in ids if number in urgent] if urgent else ()
        self.lines.add_all(key, ids, first, old=old)

    def note_unsure(self, key: str, ids: Iterable[int]) -> None:
        """Note edits and deletions that wait: those of questions go first."""
        self._unsure.extend((key, number) for number in ids)

    def forget(self) -> None:
        """Keep no content in memory: words were erased, maybe of these messages as well."""
        for number, parts in self._kept.items():
            if len(parts) > 1:
                self._joined[number] = tuple(part.id for part in parts)
        self._kept.clear()

    def __post_init__(self) -> None:
        self._table = self._services.ledger.waiting
        self._retrying = partial(self._services.guard.retrying, "intake")

    @property
    def has_urgent(self) -> bool:
        """Whether something urgent waits, or something that may be."""
        return bool(self._unsure) or self.lines.has_urgent

    async def take(self, most: int) -> tuple[Ready, bool]:
        """Take what goes next, up to so many messages; say whether it is urgent."""
        unsure, self._unsure = self._unsure[:MAX_KEPT], self._unsure[MAX_KEPT:]
        if unsure:
            asked = [number for _key, number in unsure]
            found = await self._retrying(lambda: self._table.about_questions(asked))
            for key, number in unsure:
                if number in found:
                    self.lines.promote(key, number)
        places, urgent = self.lines.take(1 if self._alone else most)
        self._alone = max(0, self._alone - len(places))
        lines = dict[int, str]()
        for key, number in places:
            lines.setdefault(number, key)  # it may stand in two, or twice in one
        ready, known = Ready(), {number: self._known(number) for number in lines}
        try:
            await self._read([(key, number) for number, key in lines.items()], ready)
        except StoreUnavailable:
            raise  # the process is ending
        except Exception as cause:
            self._try_alone(lines, known, ready, urgent=urgent, cause=cause)
        return ready, urgent

    def _try_alone(
        self,
        lines: Mapping[int, str],
        known: Mapping[int, _Known],
        ready: Ready,
        *,
        urgent: bool,
        cause: Exception,
    ) -> None:
        """Have messages read one by one; what fails alone as well waits for the next start."""
        whole = {part.id for parts in ready.messages for part in parts}
        whole |= {row.id for row in ready.unready} | {number for _key, number in ready.ended}
        left = [number for number in lines if number not in whole]
        get_log().error("intake.failed", messages=len(left), exc_info=cause)
        if len(lines) == 1:
            ready.ended.extend((lines[number], number) for number in left)
            self._unread.difference_update(left)
            self._old.difference_update(left)
            return
        self._alone += len(left)
        for number in reversed(left):
            parts, joined, is_unread, is_old = known[number]
            if parts:
                self._kept[number] = parts
            if joined:
                self._joined[number] = joined
            if is_unread:
                self._unread.add(number)
            if is_old:
                self._old.add(number)
            self.lines.add(lines[number], number, urgent=urgent, old=is_old, again=True)

    def _known(self, number: int) -> _Known:
        """Return what is known of a message beside its id."""
        kept, joined = self._kept.get(number, ()), self._joined.get(number, ())
        return kept, joined, number in self._unread, number in self._old

    async def _read(self, places: Sequence[Place], ready: Ready) -> None:
        """Read messages, and add them to those that are ready."""
        kept = self._take_kept(number for _key, number in places)
        missing = [one for _key, one in places if one not in kept]
        if not missing:
            ready.messages = list(kept.values())
            return
        wanted = {part for one in missing for part in self._joined.get(one, (one,))}
        rows = {row.id: row for row in await self._retrying(lambda: self._table.rows(wanted))}
        ready.ended = self._ended([one for one in places if one[1] in missing], rows.keys())
        unread: dict[str, list[InboxRow]] = {}
        for key, number in places:
            if number in self._unread:
                if number in rows:
                    unread.setdefault(key, []).append(self._as_read(key, rows[number]))
                self._unread.discard(number)
                continue
            await self._join(key, unread.pop(key, []), ready)
            if number in kept:
                parts = kept[number]
            else:
                ids = self._joined.pop(number, (number,))
                parts = tuple(self._as_read(key, rows[one]) for one in ids if one in rows)
            if parts and key in ready.stopped:
                self.add(key, parts, again=True)
            elif parts:
                ready.messages.append(parts)
        for key, own in unread.items():
            await self._join(key, own, ready)

    def _ended(self, places: Sequence[Place], open_ids: Collection[int]) -> list[Place]:
        """Return what was to be read, and is not there any more."""
        found = [
            (key, part)
            for key, one in places
            for part in self._joined.get(one, (one,))
            if part not in open_ids
        ]
        self._old.difference_update(number for _key, number in found)
        return found

    def _take_kept(self, numbers: Iterable[int]) -> dict[int, Parts]:
        """Take what is in memory, but for what is to be read for the first time all the same."""
        found = {one: self._kept.pop(one) for one in numbers if one in self._kept}
        found = {one: parts for one, parts in found.items() if one not in self._unread}
        self._old.difference_update(found)
        return found

    def _as_read(self, key: str, row: InboxRow) -> InboxRow:
        """Return a row that was read as a part of its line, to which it may come back."""
        old = row.id in self._old
        self._old.discard(row.id)
        return replace(row, line=key, replayed=old)

    async def _join(self, key: str, rows: list[InboxRow], ready: Ready) -> None:
        """Join the parts of messages that were read; what has to be looked up first stops there."""
        kept = await self._retrying(lambda: self.sift(rows))
        if len(kept) < len(rows):
            left = {row.id for row in kept}
            ready.ended.extend((key, row.id) for row in rows if row.id not in left)
        rows = kept
        for at, row in enumerate(rows):
            if key in ready.stopped or row.message.incomplete or self._may_go_on(row):
                ready.stopped.add(key)
                ready.unready.extend(rows[at:])
                rows = rows[:at]
                break
        if any(row.message.joins for row in rows):
            rows = await self._with_later_parts(key, rows)
        ready.messages.extend(joined_parts(rows, self._waits))

    def _waits(self, row: InboxRow) -> bool:
        channel = self._services.router.channels.get(row.message.channel)
        return bool(row.message.joins) and channel is not None and channel.traits.join_wait > 0

    def _may_go_on(self, row: InboxRow) -> bool:
        """Return whether further parts of a message may not be accepted yet."""
        channel = self._services.router.channels.get(row.message.channel)
        if row.replayed or not row.message.joins or channel is None or not row.received_at:
            return False
        age = self._services.clock.now() - parse_date(row.received_at)
        return age.total_seconds() <= channel.traits.join_wait

    async def _with_later_parts(self, key: str, rows: list[InboxRow]) -> list[InboxRow]:
        """Return rows with the parts of their messages that stand behind them in the line."""
        ahead = [one for one in self.lines.next(key, AHEAD) if one in self._unread]
        if not ahead:
            return rows
        found_ahead = await self._retrying(lambda: self._table.rows(ahead))
        more = [replace(row, line=key, replayed=row.id in self._old) for row in found_ahead]
        firsts = {row.id for row in rows}
        whole = joined_parts([*rows, *more], self._waits)
        found = [part for parts in whole if parts[0].id in firsts for part in parts]
        later = {part.id for part in found} - firsts
        self.lines.remove(key, later)
        self._unread -= later
        self._old -= later
        return sorted(found, key=lambda row: row.id)
