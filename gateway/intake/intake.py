"""Take accepted messages in: have each placed on its tape, in order within its session.

Who asks goes first (see `gateway.intake.waiting.lines`). Accepting goes before placing: what still
waits on a platform cannot be sorted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import anyio

from channels.message import InboundMessage
from gateway.access.access import Access
from gateway.access.pairing import Pairing
from gateway.context.rooms.memories import RoomMemories
from gateway.hooks.messages import session_of
from gateway.intake.acceptance import accept_for_all, accepted_in
from gateway.intake.completion import Completion
from gateway.intake.entry_meta import cleaned
from gateway.intake.placing.placer import Placer
from gateway.intake.placing.sink import IntakeSink
from gateway.intake.planner import IntakePlanner
from gateway.intake.reassembly import Parts, Reassembler
from gateway.intake.waiting.keys import LineKeys
from gateway.intake.waiting.left_over import LeftOver
from gateway.intake.waiting.messages import Sift, WaitingMessages, all_of
from gateway.intake.waiting.under_way import UnderWay
from gateway.intake.waiting.watch import WaitingWatch
from gateway.logs import get_log
from gateway.metrics.catalog import MESSAGES
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from gateway.storage.waiting import UnreadRow, WaitingChat, goes_first
from tape.errors import SessionLost, StoreUnavailable

MAX_BATCH: Final = 64
"""Maximum messages that are taken together."""

MIN_BATCH: Final = 8
"""The same where questions keep interrupting talk, or where placing takes long."""

TOGETHER_SECONDS: Final = 0.1
"""Seconds that messages take that are placed together: who asks now waits for their commit."""

URGENT_SECONDS: Final = 0.02
"""Seconds after which urgent messages that are planned are written, if others are urgent, too."""


def _alone(message: InboundMessage) -> InboundMessage:
    """Return an edit without what joins its message to others; it comes by itself."""
    return replace(message, joins="") if message.kind == "edit" else message


def _moved(row: InboxRow) -> str:
    """Return the session of the new id that a chat's change gives to it."""
    return session_of(replace(row.message, chat_id=row.message.to_chat))


@dataclass(eq=False)
class Intake:
    """Accepts messages, and has them placed on their tapes and passed to `_sink`."""

    _services: Services
    _access: Access
    _sink: IntakeSink
    _planner: IntakePlanner
    _memories: RoomMemories
    _pairing: Pairing
    sift: Sift = all_of

    def __post_init__(self) -> None:
        services = self._services
        release, expects = self._release, self._sink.expects
        parts = Reassembler(services.clock, services.router, release, services.spawn, expects)
        self._line = Completion(services, self._access, self._pairing, parts, self._lost)
        handling = (self._sink, self._planner, self._memories)
        self._placer = Placer(services, self._access, *handling)
        self._early: list[InboxRow] | None = []
        self._unsorted: deque[InboxRow] = deque()  # whose session a plugin has yet to name
        self._sorted = anyio.Event()
        self._under_way = UnderWay()
        self._waiting = WaitingMessages(services, self._sifted)
        self.keys = LineKeys()
        places = (self._under_way, self.keys, self._waiting)
        self._left_over = LeftOver(services, *places, self._merge)
        self._placed = 0
        self.watch = WaitingWatch(services, lambda: self._placed)
        self._most = MAX_BATCH
        self._is_placing, self._rested = False, anyio.Event()

    async def accept(
        self,
        messages: Sequence[InboundMessage],
        kept_back: Collection[tuple[str, str]] | None = None,
    ) -> set[str]:
        """Write messages to the inbox (see `Inbox.accept`), and return the keys of the new ones."""
        redact = self._services.redactor.clean
        fit = [
            self._access.as_accepted(self._pairing.read(cleaned(_alone(message), redact)))
            for message in messages
        ]
        # Once written, a message must be queued, even if the caller is cancelled in between.
        with self._services.way if any(map(goes_first, fit)) else nullcontext():
            if self._services.shared is not None:
                rows = await accept_for_all(self._services, self._pairing, fit, kept_back)
            else:
                inbox = self._services.ledger.inbox
                with anyio.CancelScope(shield=True):
                    rows = await self._services.guard.once(lambda: inbox.accept(fit, kept_back))
                    for row in rows:
                        self._sort(row)
        self._count(fit, len(rows))
        return {row.message.ext_id for row in rows}

    def _sort(self, row: InboxRow) -> None:
        """Put a row where it belongs; no platform waits for a plugin that has to say where."""
        if not self._unsorted and not self._services.pipeline.may_resolve_session:
            self.put(row)
            return
        self._unsorted.append(row)
        if len(self._unsorted) == 1:
            self._services.spawn("intake lines", self._sort_all)

    async def _sort_all(self) -> None:
        try:
            while self._unsorted:
                row = self._unsorted[0]
                try:
                    row = replace(row, line=await accepted_in(self._services, row.message))
                finally:  # whatever a plugin raised, its chat has a session
                    self._unsorted.popleft()
                    self.put(row)
        finally:
            if self._unsorted:
                self._services.spawn("intake lines", self._sort_all)
            self._sorted.set()
            self._sorted = anyio.Event()

    def put(self, row: InboxRow) -> None:
        """Take in a row that was accepted just now, unless that is under way."""
        if self._under_way.enters(row):
            (self._enter if self._early is None else self._early.append)(row)

    def _count(self, messages: Sequence[InboundMessage], new: int) -> None:
        if messages:  # of one channel
            meters, name = self._services.meters, messages[0].channel
            meters.add(MESSAGES, name, "new", by=new)
            meters.add(MESSAGES, name, "repeated", by=len(messages) - new)

    def look_ahead(self) -> None:
        """Begin to read what waits, before anything is accepted; `start` takes it in."""
        self._left_over.look_ahead()

    def start(self, newest: int = 0) -> None:
        """Take in what waits, then what is accepted; call this only once.

        `newest` is the id of the newest row that an earlier process may have left over, or 0.
        """
        self._is_placing = True  # until what waits is known
        self._services.spawn("intake", partial(self._begin, newest))

    async def _begin(self, newest: int) -> None:
        try:
            if newest:
                await self._left_over.add(await self._left_in_chats(), newest)
        except StoreUnavailable:
            raise  # the process is ending
        except Exception as cause:  # what is accepted from now on is placed all the same
            get_log().error("intake.failed", messages=0, exc_info=cause)
        early, self._early = self._early or [], None
        for row in early:
            self._enter(row)
        self._services.spawn("what is left over", self._put_rest)
        self._rest()
        await self._run()

    async def _left_in_chats(self) -> list[WaitingChat]:
        """Return what waits for channels that run, by chat."""
        here = self._services.router.channels
        return [one for one in await self._left_over.chats() if one.channel in here]

    async def put_left_over(self, chats: Sequence[WaitingChat], newest: int) -> None:
        """Take in what an earlier process left over in chats, up to a row; it is read later on."""
        await self._left_over.add(chats, newest)
        await self._put_rest()

    async def _put_rest(self) -> None:
        await self._left_over.put_rest()
        self._note_urgent()
        self._wake()

    def put_unread(self, rows: Iterable[UnreadRow], lost: Collection[str] = ()) -> None:
        """Take in rows that others accepted, of which only the ids are known, unless under way.

        `lost` are the sessions that an earlier process has worked on.
        """
        by_session: dict[str, dict[int, UnreadRow]] = {}
        for row in rows:
            by_session.setdefault(row.session_id, {})[row.id] = row
        for session_id, own in by_session.items():
            ids = self._under_way.enter(session_id, sorted(own))
            urgent = {number for number in ids if own[number].urgent}
            key = self.keys.of(session_id)
            ahead = self._line.ids_of(session_id)
            if ids and ahead:
                self._waiting.lines.hold(key, ahead)
            self._waiting.add_unread(key, ids, urgent, old=session_id in lost)
            self._waiting.note_unsure(key, [number for number in ids if own[number].unsure])
        self._note_urgent()

    def again(self, row: InboxRow) -> None:
        """Retry the intake of a row that was given up before it was on its tape."""
        if not self._under_way.enters(row):
            return
        if row.message.incomplete:
            self._enter(row)
        else:
            self._release((row,))

    async def _sifted(self, rows: list[InboxRow]) -> list[InboxRow]:
        return await self.sift(rows)

    def forget_words(self) -> None:
        """Read again what waits: words were erased, and others' messages may have quoted them."""
        self._waiting.forget()

    async def taken_in(self) -> None:
        """Wait until every accepted message has been written to its tape and routed."""
        while True:
            while self._unsorted:
                await self._sorted.wait()
            await self._line.idle()
            if self._unsorted:
                continue
            if not self._waiting.lines and not self._is_placing and not self._left_over:
                return
            await self._rested.wait()

    def _enter(self, row: InboxRow) -> None:
        """Have a message completed and joined; a chat's new id waits behind its change."""
        moved = _moved(row) if row.message.to_chat else ""
        self._left_over.put_before(row, self._session_of(row), moved)
        if moved:
            self._merge(moved, self._key_of(row))
            self.keys.expect(_moved(row), row.id)
        self._complete(row, None)

    def _complete(self, row: InboxRow, arrived: float | None) -> None:
        try:
            self._line.put(row, arrived=arrived)
        except Exception as cause:
            self._lost((row,), cause)

    def _lost(self, parts: Parts, cause: Exception) -> None:
        """Go on without a message, which stays accepted until the next start."""
        get_log().error("intake.failed", messages=len(parts), exc_info=cause)
        self._under_way.leaves(parts)
        self._came(parts)

    def _came(self, parts: Parts) -> None:
        """Note that rows are in their line, or will not come into it."""
        self._waiting.lines.came(part.id for part in parts)
        for part in parts:
            if part.message.to_chat:
                self.keys.came(_moved(part), part.id)

    def _merge(self, moved: str, key: str) -> None:
        if moved != key:
            self.keys.move(moved, key)
            self._waiting.lines.merge(moved, key)

    def _key_of(self, row: InboxRow) -> str:
        """Return the session in whose line a message waits."""
        key = self.keys.of_chat(row.account_id, row.message.chat_id)
        return self.keys.of(key or self._session_of(row))

    def _session_of(self, row: InboxRow) -> str:
        known = row.session_id or row.line
        return known or self._services.pipeline.default_session(row.message)

    def _release(self, parts: Parts) -> None:
        """Put a whole message into the line of its session."""
        try:
            self._waiting.add(self._key_of(parts[0]), parts)
        except Exception as cause:
            self._lost(parts, cause)
        self._came(parts)
        self._note_urgent()

    def _note_urgent(self) -> None:
        self._services.way.waits = self._waiting.has_urgent

    async def _run(self) -> None:
        while True:
            await self._waiting.lines.filled()
            self._is_placing = True
            try:
                ready, urgent = await self._waiting.take(self._most)
                for key, number in ready.ended:
                    self._under_way.leave(None, number)
                    self._under_way.leave(key, number)
                self._prepare(ready.unready)
                with self._services.way if urgent else nullcontext():
                    await self._place(ready.messages, urgent)
            except StoreUnavailable:
                raise  # the process is ending
            except Exception as cause:
                get_log().error("intake.failed", messages=0, exc_info=cause)
            finally:
                self._rest()

    def _rest(self) -> None:
        self.keys.forget(self._waiting.lines.settle())
        self._note_urgent()
        self._is_placing = False
        self._wake()

    def _wake(self) -> None:
        self._rested.set()
        self._rested = anyio.Event()

    def _prepare(self, rows: Sequence[InboxRow]) -> None:
        """Have messages completed and joined that were read; their sessions wait for them."""
        for row in rows:
            self._waiting.lines.hold(self._key_of(row), (row.id,))
        for row in rows:
            self._complete(row, float("-inf") if row.replayed else None)

    async def _place(self, batch: Iterable[Parts], urgent: bool) -> None:
        """Place messages; those that let others go first are put back."""
        holds, left = self._services.claims.holds, list[Parts]()
        for parts in batch:
            if holds(parts[0].session_id):
                left.append(parts)
            else:
                self._under_way.leaves(parts)
        ours, later, monotonic = list(left), list[Parts](), self._services.clock.monotonic
        started = monotonic()
        try:
            await self._placer.take(left, self._stops_urgent if urgent else self._stops)
            later = left
        except SessionLost:
            # One of those left is another process's now; the others are ours still.
            for parts in left:
                await self._take_alone(parts)
        except StoreUnavailable as ending:
            get_log().error("intake.failed", messages=len(left), exc_info=ending)
        except Exception as cause:  # of one of them; each that is on its tape has left the list
            get_log().error("intake.failed", messages=len(left), exc_info=cause)
            for parts in left:
                await self._take_alone(parts)
        finally:
            kept = {parts[0].id for parts in later}
            for parts in ours:
                if parts[0].id not in kept:
                    self._leaves(parts)
            for parts in reversed(later):
                self._put_back(parts)
            self._fit(len(ours) - len(later), monotonic() - started, is_cut=bool(later))

    def _fit(self, placed: int, seconds: float, *, is_cut: bool) -> None:
        """Take so many messages next that they take `TOGETHER_SECONDS`, and none in vain."""
        if placed:
            fitting = TOGETHER_SECONDS * placed / seconds if seconds > 0 else MAX_BATCH
            most = placed if is_cut else 2 * self._most
            self._most = max(MIN_BATCH, min(MAX_BATCH, most, round(fitting)))

    def _leaves(self, parts: Parts) -> None:
        self._placed += len(parts)
        self._under_way.leaves(parts)

    def _put_back(self, parts: Parts) -> None:
        self._waiting.add(self._key_of(parts[0]), parts, again=True)

    def _stops(self, _seconds: float) -> bool:
        return self._waiting.has_urgent

    def _stops_urgent(self, seconds: float) -> bool:
        return seconds >= URGENT_SECONDS and self._waiting.has_urgent

    async def _take_alone(self, parts: Parts) -> None:
        try:
            if self._services.claims.holds(parts[0].session_id):
                await self._placer.take([parts], self._stops)
        except SessionLost:
            get_log().info("intake.left", inbox=parts[0].id)
        except Exception as cause:
            get_log().error("intake.failed", messages=len(parts), exc_info=cause)
        finally:  # now: while the others are taken, it may be put here once more
            self._under_way.leaves(parts)
