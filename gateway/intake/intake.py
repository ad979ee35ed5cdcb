"""Take accepted messages in: write each to its tape, then route it.

Messages are taken in by their order of acceptance, many in one transaction. A message that cannot
be taken in is recorded as dead and does not block the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

import anyio

from channels.message import InboundMessage
from gateway.access.access import Access, Decision
from gateway.access.pairing import Pairing
from gateway.context.lane_assignment import BatchIndex
from gateway.context.rooms.memories import RoomMemories
from gateway.hooks.messages import session_of
from gateway.intake.acceptance import accept_for_all
from gateway.intake.completion import Completion
from gateway.intake.editing.edits import end_row, take_deletion, take_edit
from gateway.intake.editing.versions import EDITED, as_question, versions_of
from gateway.intake.entry_meta import cleaned
from gateway.intake.planner import IntakePlanner, PlannedMessage
from gateway.intake.reassembly import Parts, Reassembler, planned_together
from gateway.intake.under_way import UnderWay
from gateway.logs import get_log
from gateway.metrics.catalog import MESSAGES
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.storage.holding import HELD, RESTORED
from gateway.storage.kept_files import kept_of
from gateway.storage.ledger.rows import InboxRow
from tape.entry import MESSAGE, event
from tape.errors import SessionLost, StoreUnavailable, TapeError, UnitFailed
from tape.store import ErasingStore
from tape.unit_of_work import FirstId, Outcome, Unit

MAX_BATCH: Final = 64


def _alone(message: InboundMessage) -> InboundMessage:
    """Return an edit without what joins its message to others; it comes by itself."""
    return replace(message, joins="") if message.kind == "edit" else message


class IntakeSink(Protocol):
    """Receives each message that the intake has written to its tape."""

    def expects(self, row: InboxRow, seconds: float) -> None:
        """Know that a part of a message is here, and may wait so many seconds for the others."""

    async def taken(self, question: Question, decision: Decision, *, stale: bool = False) -> None:
        """Route a message that is on its tape; a `stale` message is too old to be answered."""

    def edited(self, row: InboxRow) -> None:
        """Replace the text of a waiting question that was edited."""

    def deleted(self, row: InboxRow) -> None:
        """Remove a waiting question whose message was deleted."""

    async def pressed(self, row: InboxRow) -> None:
        """Handle a press of a button, and end its row."""

    async def paired(self, row: InboxRow) -> None:
        """Handle an attempt to pair, and end its row."""

    async def failed(self, row: InboxRow) -> None:
        """Notify the author of a message that could not be taken in."""


@dataclass(eq=False)
class Intake:
    """Accepts messages, writes them to their tapes in order, and passes them to `_sink`."""

    _services: Services
    _access: Access
    _sink: IntakeSink
    _planner: IntakePlanner
    _memories: RoomMemories
    _pairing: Pairing

    def __post_init__(self) -> None:
        services = self._services
        self._messages: asyncio.Queue[Parts] = asyncio.Queue()
        release, expects = self._messages.put_nowait, self._sink.expects
        parts = Reassembler(services.clock, services.router, release, services.spawn, expects)
        self._line = Completion(services, self._access, self._pairing, parts)
        self._early: list[InboxRow] | None = []
        self._under_way = UnderWay()

    async def accept(
        self,
        messages: Sequence[InboundMessage],
        kept_back: Collection[tuple[str, str]] | None = None,
    ) -> set[str]:
        """Write messages to the inbox (see `Inbox.accept`), and return the keys of the new ones."""
        redact = self._services.redactor.clean
        fit = [self._pairing.read(cleaned(_alone(message), redact)) for message in messages]
        # Once written, a message must be queued, even if the caller is cancelled in between.
        with anyio.CancelScope(shield=True):
            if self._services.shared is not None:
                rows = await accept_for_all(self._services, self._pairing, fit, kept_back)
            else:
                inbox = self._services.ledger.inbox
                rows = await self._services.guard.once(lambda: inbox.accept(fit, kept_back))
                for row in rows:
                    self.put(row)
            self._count(fit, len(rows))
        return {row.message.ext_id for row in rows}

    def put(self, row: InboxRow) -> None:
        """Take in a row that was accepted just now, unless that is under way."""
        if self._under_way.enters(row):
            (self._line.put if self._early is None else self._early.append)(row)

    def _count(self, messages: Sequence[InboundMessage], new: int) -> None:
        if messages:  # of one channel
            meters, name = self._services.meters, messages[0].channel
            meters.add(MESSAGES, name, "new", by=new)
            meters.add(MESSAGES, name, "repeated", by=len(messages) - new)

    def start(self, backlog: Sequence[InboxRow]) -> None:
        """Take in the rows of an earlier process, then new rows; call this only once."""
        early, self._early = self._early or [], None
        for row in backlog:
            self._line.put(row, arrived=float("-inf"))
        for row in early:
            self._line.put(row)
        self._services.spawn("intake", self._run)

    def again(self, row: InboxRow) -> None:
        """Retry the intake of a row that was given up before it was on its tape."""
        if not self._under_way.enters(row):
            return
        if row.message.incomplete:
            self._line.put(row)
        else:
            self._messages.put_nowait((row,))

    async def taken_in(self) -> None:
        """Wait until every accepted message has been written to its tape and routed."""
        await self._line.idle()
        await self._messages.join()

    async def _run(self) -> None:
        holds = self._services.claims.holds
        while True:
            batch = [await self._messages.get()]
            while len(batch) < MAX_BATCH and not self._messages.empty():
                batch.append(self._messages.get_nowait())
            left = []
            for parts in batch:
                if holds(parts[0].session_id):
                    left.append(parts)
                else:
                    self._under_way.leaves(parts)
            try:
                await self._take(left)
            except SessionLost:
                # One of those left is another process's now; the others are ours still.
                for parts in left:
                    await self._take_alone(parts)
            except Exception as cause:
                get_log().error("intake.failed", messages=len(batch), exc_info=cause)
            finally:
                for parts in batch:
                    self._under_way.leaves(parts)
                    self._messages.task_done()

    async def _take_alone(self, parts: Parts) -> None:
        try:
            if self._services.claims.holds(parts[0].session_id):
                await self._take([parts])
        except SessionLost:
            get_log().info("intake.left", inbox=parts[0].id)
        except Exception as cause:
            get_log().error("intake.failed", messages=len(parts), exc_info=cause)
        finally:  # now: while the others are taken, it may be put here once more
            self._under_way.leaves(parts)

    async def _take(self, left: list[Parts]) -> None:
        """Take messages in, in order; each leaves the list when it is on its tape."""
        while left:
            together = planned_together(left)
            if together:
                await self._take_messages(left, len(together))
            else:
                await self._other(left[0][0])
                del left[0]

    async def _take_messages(self, left: list[Parts], count: int) -> None:
        batch, planned, tried = left[:count], list[PlannedMessage](), list[PlannedMessage]()
        retrying = self._services.guard.retrying
        try:
            planned = await retrying("intake", lambda: self._commit(batch, tried))
        except (StoreUnavailable, SessionLost):
            raise  # the process is ending, or is not to take them in; the messages stay accepted
        except Exception as cause:
            if count > 1:
                for _parts in batch:
                    await self._take_messages(left, 1)
                return
            await self._dead(batch[0], cause)
        del left[:count]  # whatever comes of them, nobody may ask twice
        await self._route(planned)

    async def _route(self, planned: Sequence[PlannedMessage]) -> None:
        """Pass on messages that are on their tapes."""
        for plan in planned:
            self._services.router.taped(plan.row.message)
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
        self, batch: list[Parts], tried: list[PlannedMessage]
    ) -> list[PlannedMessage]:
        """Plan messages and write them; `tried` keeps the plans for the next try.

        Nothing is written of an edit, which is a batch of its own, if it asks nothing after all.
        """
        planned = await self._planner.written(tried) if tried else []
        if planned:
            return planned
        known = BatchIndex(changed=await self._planner.changed_among(batch))
        try:
            for parts in batch:
                plan = await self._planner.plan(parts, known)
                if plan.is_only_recorded:
                    self._services.ledger.people.forget({plan.question.session_id})
                    return []
                planned.append(plan)
                if plan.entry.kind == MESSAGE and "command" not in plan.entry.meta:
                    plan.assignment.hear()
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

    async def _other(self, row: InboxRow) -> None:
        """Take in an edit, a deletion, a change, a press, a pairing, or an unreadable message."""
        ways: dict[str, Callable[[InboxRow], Awaitable[None]]] = {
            "edit": partial(self._edit, tried=[]),
            "delete": self._delete,
            "change": self._change,
            "press": self._sink.pressed,
            "pairing": self._sink.paired,
        }
        take = ways.get(row.message.kind, self._bury)
        if take in (self._sink.paired, self._bury) and self._services.ledger.held.concerns(row):
            take = self._ignore  # both would send a notice
        try:
            await self._services.guard.retrying("intake", lambda: take(row))
        except (StoreUnavailable, SessionLost):
            raise
        except Exception as cause:
            await self._dead((row,), cause)

    async def _edit(self, row: InboxRow, tried: list[PlannedMessage]) -> None:
        """Take in an edit that asks as a message of its own, and record any other one."""
        versions = await versions_of(self._services, row)
        asking = as_question(versions, row) or (tried[0].row if tried else None)
        try:
            planned = await self._commit([(asking,)], tried) if asking is not None else []
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

    async def _delete(self, row: InboxRow) -> None:
        self._planner.note_change(row.message)
        dropped = await take_deletion(self._services, row)
        if dropped is not None:
            self._sink.deleted(dropped)

    async def _change(self, row: InboxRow) -> None:
        """Record a change of a chat; a group that gets a new id keeps its tape."""
        message = row.message
        session_id = row.session_id or await self._services.pipeline.resolve_session(message)
        decision = self._access.decide(message)
        tape = self._services.tapes.session_tape(session_id).name
        data = {"change": message.change, "by": message.sender.id}
        if decision.allowed:
            data["text"] = message.text
        unit = Unit()
        self._services.ledger.inbox.take_in(
            unit, row, session_id, tape, event("chat.change", data), None, "taped"
        )
        moved = session_of(replace(message, chat_id=message.to_chat)) if message.to_chat else ""
        moved = "" if moved == session_id else moved
        rekeyed = -1
        if moved:
            self._services.ledger.inbox.alias(unit, moved, session_id)
            if self._services.shared is not None:
                rekeyed = self._services.shared.sessions.join(unit, moved, session_id)
        outcomes = await self._services.store.commit(unit)
        if moved:
            self._services.aliases[moved] = session_id
        if self._services.shared is not None and rekeyed >= 0:
            self._services.shared.joined(outcomes[rekeyed])
        get_log().info("chat.changed", session=session_id, change=message.change)
        if message.change == "added":
            own = replace(row, status="taped")
            question = Question(session_id, tape, None, decision.role, (own,))
            await self._sink.taken(question, decision)

    async def _bury(self, row: InboxRow) -> None:
        get_log().error("intake.unreadable", inbox=row.id, why=row.message.why)
        await end_row(self._services, row, "dead", row.message.why)
        await self._sink.failed(row)

    async def _ignore(self, row: InboxRow) -> None:
        await end_row(self._services, row, "dropped", RESTORED)

    async def _dead(self, parts: Parts, cause: Exception) -> None:
        get_log().error("intake.dead", inbox=parts[0].id, exc_info=cause)
        unit = Unit()
        why = f"it could not be taken in ({type(cause).__name__}: {cause})"
        self._services.ledger.inbox.end(unit, parts, "dead", why)
        try:
            await self._services.commit(unit, waiting="intake")
        except TapeError as lost:
            get_log().error("intake.dead_not_recorded", inbox=parts[0].id, exc_info=lost)
        try:
            await self._sink.failed(parts[-1])
        except Exception as failed:
            get_log().error("intake.dead_not_announced", inbox=parts[0].id, exc_info=failed)
