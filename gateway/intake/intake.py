"""Take accepted messages in: have each placed on its tape, in order within its session.

Who asks goes first (see `gateway.intake.waiting.lines`). Accepting goes before placing: what still
waits on a platform cannot be sorted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
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
from gateway.intake.waiting.lines import Lines, is_urgent
from gateway.intake.waiting.under_way import UnderWay
from gateway.logs import get_log
from gateway.metrics.catalog import MESSAGES
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.errors import SessionLost

MAX_BATCH: Final = 64

URGENT_SECONDS: Final = 0.02
"""Seconds after which urgent messages that are planned are written, and the others come later."""


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

    def __post_init__(self) -> None:
        services = self._services
        release, expects = self._release, self._sink.expects
        parts = Reassembler(services.clock, services.router, release, services.spawn, expects)
        self._line = Completion(services, self._access, self._pairing, parts)
        handling = (self._sink, self._planner, self._memories)
        self._placer = Placer(services, self._access, *handling)
        self._early: list[InboxRow] | None = []
        self._under_way = UnderWay()
        self._lines = Lines()
        self._parts: dict[int, Parts] = {}
        self._merged: dict[str, str] = {}
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
        with anyio.CancelScope(shield=True):
            if self._services.shared is not None:
                rows = await accept_for_all(self._services, self._pairing, fit, kept_back)
            else:
                inbox = self._services.ledger.inbox
                lines = {one.ext_id: await accepted_in(self._services, one) for one in fit}
                rows = await self._services.guard.once(lambda: inbox.accept(fit, kept_back))
                for row in rows:
                    self.put(replace(row, line=lines[row.message.ext_id]))
            self._count(fit, len(rows))
        return {row.message.ext_id for row in rows}

    def put(self, row: InboxRow) -> None:
        """Take in a row that was accepted just now, unless that is under way."""
        if self._under_way.enters(row):
            (self._enter if self._early is None else self._early.append)(row)

    def _count(self, messages: Sequence[InboundMessage], new: int) -> None:
        if messages:  # of one channel
            meters, name = self._services.meters, messages[0].channel
            meters.add(MESSAGES, name, "new", by=new)
            meters.add(MESSAGES, name, "repeated", by=len(messages) - new)

    def start(self, backlog: Sequence[InboxRow]) -> None:
        """Take in the rows of an earlier process, then new rows; call this only once."""
        early, self._early = self._early or [], None
        for row in backlog:
            self._enter(row, arrived=float("-inf"))
        for row in early:
            self._enter(row)
        self._services.spawn("intake", self._run)

    def again(self, row: InboxRow) -> None:
        """Retry the intake of a row that was given up before it was on its tape."""
        if not self._under_way.enters(row):
            return
        if row.message.incomplete:
            self._enter(row)
        else:
            self._release((row,))

    async def taken_in(self) -> None:
        """Wait until every accepted message has been written to its tape and routed."""
        await self._line.idle()
        while self._lines or self._is_placing:
            await self._rested.wait()

    def _enter(self, row: InboxRow, arrived: float | None = None) -> None:
        """Have a message completed and joined; a chat's new id waits behind its change."""
        if row.message.to_chat:
            moved, key = _moved(row), self._key_of(row)
            if moved != key:
                self._merged[moved] = key
                self._lines.merge(moved, key)
        self._line.put(row, arrived=arrived)

    def _key_of(self, row: InboxRow) -> str:
        """Return the session in whose line a message waits."""
        default = self._services.pipeline.default_session
        key = row.session_id or row.line or default(row.message)
        return self._merged.get(key, key)

    def _release(self, parts: Parts) -> None:
        """Put a whole message into the line of its session."""
        row = parts[0]
        key = self._key_of(row)
        self._parts[row.id] = parts
        self._lines.add(key, row.id, urgent=any(map(is_urgent, parts)), old=row.replayed)

    async def _run(self) -> None:
        while True:
            await self._lines.filled()
            self._is_placing = True
            try:
                taken, urgent = self._lines.take(MAX_BATCH)
                await self._place([self._parts.pop(number) for _key, number in taken], urgent)
            finally:
                self._lines.settle()
                self._is_placing = False
                self._rested.set()
                self._rested = anyio.Event()

    async def _place(self, batch: Iterable[Parts], urgent: bool) -> None:
        """Place messages; those that let others go first are put back."""
        holds, left = self._services.claims.holds, list[Parts]()
        for parts in batch:
            if holds(parts[0].session_id):
                left.append(parts)
            else:
                self._under_way.leaves(parts)
        ours, later = list(left), list[Parts]()
        try:
            await self._placer.take(left, self._stops_urgent if urgent else self._stops)
            later = left
        except SessionLost:
            # One of those left is another process's now; the others are ours still.
            for parts in left:
                await self._take_alone(parts)
        except Exception as cause:
            get_log().error("intake.failed", messages=len(ours), exc_info=cause)
        finally:
            kept = {parts[0].id for parts in later}
            for parts in ours:
                if parts[0].id not in kept:
                    self._leaves(parts)
            for parts in reversed(later):
                self._put_back(parts)

    def _leaves(self, parts: Parts) -> None:
        self._under_way.leaves(parts)
        if parts[0].message.to_chat:
            self._merged.pop(_moved(parts[0]), None)

    def _put_back(self, parts: Parts) -> None:
        key, row = self._key_of(parts[0]), parts[0]
        self._parts[row.id] = parts
        urgent = any(map(is_urgent, parts))
        self._lines.add(key, row.id, urgent=urgent, old=row.replayed, again=True)

    def _stops(self, _seconds: float) -> bool:
        return self._lines.has_urgent

    def _stops_urgent(self, seconds: float) -> bool:
        return seconds >= URGENT_SECONDS

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
