"""Place messages on their tapes, many in one transaction, and pass them on.

A message that cannot be placed is recorded as dead, and does not block the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import anyio
import anyio.lowlevel

from channels.message import InboundMessage
from gateway.access.access import Access
from gateway.context.lane_assignment import BatchIndex
from gateway.context.rooms.memories import RoomMemories
from gateway.intake.editing.edits import take_edit
from gateway.intake.editing.versions import EDITED, as_question, versions_of
from gateway.intake.placing.other_events import OtherEvents
from gateway.intake.placing.sink import IntakeSink
from gateway.intake.planner import IntakePlanner, PlannedMessage
from gateway.intake.reassembly import Parts, planned_together
from gateway.logs import get_log
from gateway.services import Services
from gateway.storage.holding import HELD
from gateway.storage.kept_files import kept_of
from gateway.storage.ledger.rows import InboxRow
from tape.entry import MESSAGE
from tape.errors import SessionLost, StoreUnavailable, TapeError, UnitFailed
from tape.store import ErasingStore
from tape.unit_of_work import FirstId, Outcome, Unit

NOTICED: Final = ("pairing", "unreadable")
ACTING: Final = ("pairing", "press")
BREATH_SECONDS: Final = 0.005
"""Seconds after which the planning of messages lets everything else go on, such as accepting."""

BREATHS: Final = 30
"""Rounds of the event loop for which talk lets turns and commands go on: these take many."""

Stops = Callable[[float], bool]
"""Returns whether to stop after so many seconds, and leave the other messages for later."""


@dataclass(eq=False)
class Placer:
    """Writes messages to their tapes in order, and passes them to `_sink`."""

    _services: Services
    _access: Access
    _sink: IntakeSink
    _planner: IntakePlanner
    _memories: RoomMemories

    def __post_init__(self) -> None:
        self._others = OtherEvents(self._services, self._access, self._sink, self._planner)
        self._breath = 0.0

    async def take(self, left: list[Parts], stops: Stops) -> None:
        """Take messages in, in order; each leaves the list when it is on its tape."""
        monotonic = self._services.clock.monotonic
        started, is_first = monotonic(), True
        while left and (is_first or not stops(monotonic() - started)):
            is_first = False
            together = planned_together(left)
            if together:
                await self._take_messages(left, len(together), stops)
            else:
                await self._other(left[0][0])
                del left[0]

    async def _take_messages(self, left: list[Parts], count: int, stops: Stops) -> None:
        batch, planned, tried = left[:count], list[PlannedMessage](), list[PlannedMessage]()
        retrying = self._services.guard.retrying
        try:
            planned = await retrying("intake", lambda: self._commit(batch, tried, stops))
        except (StoreUnavailable, SessionLost):
            raise  # the process is ending, or is not to take them in; the messages stay accepted
        except Exception as cause:
            if count > 1:
                for _parts in batch:
                    await self._take_messages(left, 1, stops)
                return
            kept = await self._not_ended(batch[0]) if _has_ended(cause) else batch[0]
            if kept and kept != batch[0]:
                left[0] = kept
                await self._take_messages(left, 1, stops)
                return
            if kept:
                await self._others.dead(kept, cause)
        del left[: len(tried) or count]  # whatever comes of them, nobody may ask twice
        await self._route(planned)

    async def _not_ended(self, parts: Parts) -> Parts:
        """Return those parts of a message that nobody has ended while they waited, maybe none."""
        look = partial(self._services.ledger.inbox.still_accepted, parts)
        kept = await self._services.guard.retrying("intake", look)
        if len(kept) < len(parts):
            get_log().info("intake.ended", inbox=parts[0].id, parts=len(parts), left=len(kept))
        if not kept and parts[0].message.kind == "message":
            await self._services.router.end_without_answer(parts[0].message, silent=True)
        return kept

    async def _route(self, planned: Sequence[PlannedMessage]) -> None:
        """Pass on messages that are on their tapes."""
        for plan in planned:
            try:
                self._services.router.taped(plan.row.message)
            except Exception as cause:  # a channel's fault
                get_log().error("intake.forward_failed", inbox=plan.row.id, exc_info=cause)
            try:
                await self._sink.taken(plan.question, plan.decision, stale=plan.stale)
            except Exception as cause:
                get_log().error("intake.forward_failed", inbox=plan.row.id, exc_info=cause)
        if any(plan.status == HELD for plan in planned):
            await self._services.guard.retrying("intake", self._services.ledger.held.count)
        await self._drop_files([plan.row.message for plan in planned if plan.status == "refused"])
        store = self._services.store
        if isinstance(store, ErasingStore) and any(plan.withheld for plan in planned):
            await self._services.guard.retrying("intake", lambda: store.purge(rewrite=False))

    async def _drop_files(self, refused: Sequence[InboundMessage]) -> None:
        names = [name for message in refused for name in kept_of(message)]
        try:
            if names:
                await self._services.files.drop(names)
        except (OSError, TapeError) as cause:
            get_log().warning("media.not_dropped", why=str(cause))

    async def _commit(
        self, batch: list[Parts], tried: list[PlannedMessage], stops: Stops
    ) -> list[PlannedMessage]:
        """Plan messages and write them; `tried` keeps the plans for the next try.

        The last ones are left out if it `stops` before.
        Nothing is written of an edit, which is a batch of its own, if it asks nothing after all.
        """
        planned = await self._planner.written(tried) if tried else []
        if planned:
            return planned
        known = BatchIndex(changed=await self._planner.changed_among(batch))
        started = self._services.clock.monotonic()
        try:
            for parts in batch:
                plan = await self._planner.plan(parts, known)
                if plan.is_only_recorded:
                    self._services.ledger.people.forget({plan.question.session_id})
                    return []
                planned.append(plan)
                if plan.entry.kind == MESSAGE and "command" not in plan.entry.meta:
                    plan.assignment.hear()
                if parts is not batch[-1] and await self._pauses(started, stops):
                    break
            unit = Unit()
            firsts = [self._write(unit, plan) for plan in planned]
            tried[:] = planned
            outcomes = await self._commit_and_look(unit, planned)
        except BaseException:
            # The room memories may contain messages that were not written to a tape.
            self._memories.forget({plan.question.tape for plan in planned})
            # The people whom they number may not be written either.
            self._services.ledger.people.forget({plan.question.session_id for plan in planned})
            raise
        return [
            plan.written(outcomes[first.step].entries[0].id)
            for plan, first in zip(planned, firsts, strict=True)
        ]

    async def _commit_and_look(
        self, unit: Unit, planned: Sequence[PlannedMessage]
    ) -> Sequence[Outcome]:
        """Commit; over a network, read in the same trip what the next turns will ask."""
        if self._services.shared is None:
            return await self._services.store.commit(unit)
        held = self._services.shared.held
        asked = {plan.question.session_id for plan in planned if plan.status == "waiting"}
        reads = [
            (one, held.units(one), self._services.ledger.inbox.read_waiting(unit, one))
            for one in sorted(asked)
        ]
        outcomes = await self._services.store.commit(unit)
        for session_id, before, entries in reads:
            held.wait_in(session_id, before, entries(outcomes))
        return outcomes

    def _write(self, unit: Unit, plan: PlannedMessage) -> FirstId:
        inbox, question = self._services.ledger.inbox, plan.question
        session_id, lane = question.session_id, question.lane
        first = inbox.take_in(
            unit, plan.row, session_id, question.tape, plan.entry, lane, plan.status, plan.changes
        )
        self._services.ledger.people.write(unit, session_id, plan.numbered)
        if plan.status == HELD:
            self._services.ledger.held.hold_question(unit, plan.row)
        if plan.rewritten is not None:
            inbox.rewrite(unit, replace(plan.row, message=plan.rewritten))
        if plan.row.replaces is not None:
            inbox.unask(unit, plan.row.replaces, EDITED, expect=1)
        if plan.others:
            inbox.join(unit, plan.row, plan.others, session_id, first, lane)
        return first

    async def _pauses(self, started: float, stops: Stops) -> bool:
        """Give way to everything else after some milliseconds; return whether to stop here."""
        now = self._services.clock.monotonic()
        if now - self._breath >= BREATH_SECONDS:
            for _ in range(BREATHS if self._sink.is_answering else 1):
                await anyio.lowlevel.checkpoint()
            self._breath = now = self._services.clock.monotonic()
        return stops(now - started)

    async def _other(self, row: InboxRow) -> None:
        """Take in an edit, a deletion, a change, a press, a pairing, or an unreadable message."""
        ways: dict[str, Callable[[InboxRow], Awaitable[None]]] = {
            "edit": partial(self._edit, tried=[]),
            "delete": self._others.delete,
            "change": self._others.change,
            "press": self._sink.pressed,
            "pairing": self._sink.paired,
        }
        take = ways.get(row.message.kind, self._others.bury)
        if row.message.kind in NOTICED and self._services.ledger.held.concerns(row):
            take = self._others.ignore  # both would send a notice
        try:
            await self._services.guard.retrying("intake", lambda: self._if_open(row, take))
        except (StoreUnavailable, SessionLost):
            raise
        except Exception as cause:
            if not _has_ended(cause) or await self._not_ended((row,)):
                await self._others.dead((row,), cause)

    async def _if_open(self, row: InboxRow, take: Callable[[InboxRow], Awaitable[None]]) -> None:
        """Take in an event; of a press or a code, no entry says whether it was ended meanwhile."""
        if row.message.kind not in ACTING or await self._not_ended((row,)):
            await take(row)

    async def _edit(self, row: InboxRow, tried: list[PlannedMessage]) -> None:
        """Take in an edit that asks as a message of its own, and record any other one."""
        versions = await versions_of(self._services, row)
        asking = as_question(versions, row) or (tried[0].row if tried else None)
        try:
            planned = await self._commit([(asking,)], tried, _never) if asking is not None else []
        except UnitFailed:
            if asking is None or asking.replaces is None:
                raise
            planned = []  # what it replaces has begun just now
            versions = await versions_of(self._services, row)
        if planned:
            if asking is not None and asking.replaces is not None:
                self._sink.deleted(asking.replaces)
            await self._route(planned)
            return
        changed = await take_edit(self._services, self._access, row, versions)
        if changed is not None:
            self._sink.edited(changed)


def _never(_seconds: float) -> bool:
    return False


def _has_ended(cause: Exception) -> bool:
    """Return whether a unit failed since a row that it takes in was ended."""
    return isinstance(cause, UnitFailed) and cause.statement in ("ledger.taken_in", "ledger.joined")
