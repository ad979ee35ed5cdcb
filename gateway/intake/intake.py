"""Intake: an accepted message goes on its tape, whoever it is for; then it finds its way.

In the order of acceptance, several at a time in one transaction. A message that cannot be taken in
is told apart from its neighbours, written down as dead, and wedges nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio

from channels.message import InboundMessage
from gateway.context.lane_assignment import BatchIndex, LaneAssigner, LaneAssignment, Pending
from gateway.context.room_memory import RoomMemories
from gateway.hooks.messages import session_of
from gateway.intake.access import Access, Decision
from gateway.intake.bot_guard import BotGuard
from gateway.intake.deletions import take_deletion
from gateway.intake.edits import take_edit
from gateway.intake.entry_meta import cleaned, meta_of, refusal_event
from gateway.intake.framing import frame
from gateway.intake.reassembly import Parts, Reassembler, merge_parts
from gateway.keyed_queue import Spawn
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.entry import MESSAGE, NewEntry, event, message, parse_date
from tape.errors import StoreUnavailable, TapeError
from tape.unit_of_work import FirstId, Unit

MOST_AT_ONCE: Final = 64
OLDEST_SECONDS: Final = 60 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A message that is on its tape, and what was decided about it.

    `stale`: it asked while the gateway was away, too long ago to be answered.
    """

    asked: Question
    decision: Decision
    stale: bool = False

    @property
    def row(self) -> InboxRow:
        """Its row."""
        return self.asked.rows[0]


@dataclass(frozen=True, slots=True)
class _Planned:
    row: InboxRow
    others: Parts
    session_id: str
    tape: str
    placed: LaneAssignment
    decision: Decision
    entry: NewEntry
    status: str
    admitted: str
    stale: bool = False

    @property
    def lane(self) -> str | None:
        """The conversation that the message belongs to."""
        return self.placed.lane


class Intake:
    """Takes accepted messages in; `forward` gets each in order."""

    def __init__(
        self,
        services: Services,
        access: Access,
        forward: Callable[[TakenIn], Awaitable[None]],
        edited: Callable[[InboxRow], None],
        deleted: Callable[[InboxRow], None],
        poisoned: Callable[[InboxRow], Awaitable[None]],
        rooms: RoomMemories,
        pending: Pending,
        spawn: Spawn,
    ) -> None:
        self._services = services
        self._access = access
        self._forward = forward
        self._edited = edited
        self._deleted = deleted
        self._poisoned = poisoned
        self._rooms = rooms
        self._lanes = LaneAssigner(services, rooms, pending)
        self._guard = BotGuard(services.clock, services.settings.access.bots)
        self._messages: asyncio.Queue[Parts] = asyncio.Queue()
        self._joiner = Reassembler(
            services.clock, self._join_wait, self._messages.put_nowait, spawn
        )
        self._early: list[InboxRow] | None = []
        self._replayed_until = 0

    async def accept(
        self,
        messages: Sequence[InboundMessage],
        kept_back: Collection[tuple[str, str]] | None = None,
    ) -> set[str]:
        """Write messages into the inbox; returns the keys of those that were new.

        `kept_back`: see `Ledger.accept`.
        """
        fit = [cleaned(message) for message in messages]
        # Written and queued, or neither: whoever is cancelled in between would leave it lying.
        with anyio.CancelScope(shield=True):
            ledger = self._services.ledger
            rows = await self._services.persist.once(lambda: ledger.inbox.accept(fit, kept_back))
            for row in rows:
                if self._early is None:
                    self._joiner.put(row)
                else:
                    self._early.append(row)
        return {row.message.ext_id for row in rows}

    def begin(self, rows: Sequence[InboxRow]) -> None:
        """Queue rows from before a restart, then what came since; to be called once."""
        self._replayed_until = max((row.id for row in rows), default=0)
        early, self._early = self._early or [], None
        for row in rows:
            self._joiner.put(row, arrived=float("-inf"))
        for row in early:
            self._joiner.put(row)

    def again(self, row: InboxRow) -> None:
        """Take in a row that was given up before it came to its tape."""
        self._messages.put_nowait((row,))

    async def taken_in(self) -> None:
        """Wait until everything that was accepted is on its tape and on its way."""
        await self._joiner.idle()
        await self._messages.join()

    async def run(self) -> None:
        """Take in what is queued, for ever."""
        while True:
            batch = [await self._messages.get()]
            while len(batch) < MOST_AT_ONCE and not self._messages.empty():
                batch.append(self._messages.get_nowait())
            try:
                await self._take(batch)
            except Exception as cause:
                get_log().error("intake.failed", messages=len(batch), exc_info=cause)
            finally:
                for _parts in batch:
                    self._messages.task_done()

    def _join_wait(self, channel: str) -> float:
        found = self._services.router.channel(channel)
        return found.traits.join_wait if found else 0.0

    async def _safely_forward(self, taken: TakenIn) -> None:
        try:
            await self._forward(taken)
        except Exception as cause:
            get_log().error("intake.forward_failed", inbox=taken.row.id, exc_info=cause)

    async def _take(self, batch: list[Parts]) -> None:
        """Take in a batch; what is no message is taken in by itself, between its neighbours."""
        together: list[Parts] = []
        for parts in batch:
            if parts[0].message.kind == "message":
                together.append(parts)
            else:
                await self._take_messages(together)
                together = []
                await self._other(parts[0])
        await self._take_messages(together)

    async def _take_messages(self, batch: list[Parts]) -> None:
        for taken in await self._messages_together(batch):
            await self._safely_forward(taken)

    async def _messages_together(self, batch: list[Parts]) -> list[TakenIn]:
        if not batch:
            return []
        try:
            return await self._services.persist.retrying("intake", lambda: self._commit(batch))
        except StoreUnavailable:
            raise  # the process ends; they stay accepted
        except Exception as cause:
            if len(batch) == 1:
                await self._dead(batch[0], cause)
                return []
            taken: list[TakenIn] = []
            for parts in batch:
                taken += await self._messages_together([parts])
            return taken

    async def _commit(self, batch: list[Parts]) -> list[TakenIn]:
        planned: list[_Planned] = []
        try:
            return await self._commit_planned(batch, planned)
        except BaseException:
            self._rooms.forget({plan.tape for plan in planned})
            raise

    async def _commit_planned(self, batch: list[Parts], planned: list[_Planned]) -> list[TakenIn]:
        known = BatchIndex()
        for parts in batch:
            plan = await self._plan(parts, known)
            for row in parts:
                known.add(row, plan.lane, asks=plan.row.message.addressed)
            self._lanes.collect(known, plan.session_id, plan.row.message, plan.lane)
            planned.append(plan)
            if plan.entry.kind == MESSAGE and "command" not in plan.entry.meta:
                plan.placed.hear()
        unit = Unit()
        firsts = [self._write(unit, plan) for plan in planned]
        outcomes = await self._services.store.commit(unit)
        ids = [outcomes[first.step].entries[0].id for first in firsts]
        for plan, number in zip(planned, ids, strict=True):
            plan.placed.stands_at(number)
        return [
            _taken_in(plan, number, self._replayed_until)
            for plan, number in zip(planned, ids, strict=True)
        ]

    def _write(self, unit: Unit, plan: _Planned) -> FirstId:
        ledger = self._services.ledger
        first = ledger.inbox.take_in(
            unit, plan.row, plan.session_id, plan.tape, plan.entry, plan.lane, plan.status
        )
        if plan.others:
            ledger.inbox.join(unit, plan.row, plan.others, plan.session_id, first, plan.lane)
        return first

    async def _plan(self, parts: Parts, known: BatchIndex) -> _Planned:
        said = merge_parts([row.message for row in parts]) if len(parts) > 1 else parts[0].message
        session_id = await self._services.pipeline.resolve_session(said)
        row = replace(parts[0], message=said)
        tape = self._services.tapes.session_tape(session_id).name
        # What is not let in belongs to no conversation, and its chat is not remembered.
        decision = self._access.decide(said)
        placed = LaneAssignment(None, replied=False)
        if decision.allowed:
            placed = await self._lanes.place(row, session_id, tape, known)
        said = self._guard.judge(await self._followed(said, session_id, placed.lane))
        if placed.replied and said.quote is not None and not said.quote.chosen:
            said = replace(said, quote=None)
        stale = said.addressed and self._is_stale(said)
        if stale:
            said = replace(said, addressed=False, why="asked while I was away, too long ago")
        row = replace(row, message=said)
        admitted = None
        if decision.allowed:
            admitted = await self._services.hooks.call_first(
                "admit_message", message=said, session_id=session_id
            )
        if not decision.allowed:
            entry = refusal_event("access.refused", row, decision.rule)
            status = "refused"
        elif admitted == "drop":
            entry = refusal_event("message.dropped", row, "a plugin dropped it")
            status = "refused"
        else:
            entry = message("user", frame(said), **meta_of(row, placed.lane, placed.link, decision))
            status = "waiting" if said.addressed else "taped"
        others = parts[1:]
        return _Planned(
            row,
            others,
            session_id,
            tape,
            placed,
            decision,
            entry,
            status,
            str(admitted or ""),
            stale,
        )

    def _is_stale(self, said: InboundMessage) -> bool:
        """Tell whether a question is too old to be answered.

        Only what waited at the platform can be: a clock that jumps makes nothing old that comes in
        now. No platform keeps a question for months: such a date is no date.
        """
        if not said.backlog:
            return False
        age = (self._services.clock.now() - parse_date(said.date)).total_seconds()
        return self._services.settings.delivery.replay_hours * 3600 < age < OLDEST_SECONDS

    async def _followed(
        self, said: InboundMessage, session_id: str, lane: str | None
    ) -> InboundMessage:
        """Address a message whose thread is a conversation with the agent."""
        if said.addressed or not said.follows or lane is None:
            return said
        if not await self._services.ledger.inbox.asked_in(session_id, lane):
            return said
        return replace(said, addressed=True, why="a thread that I was asked in")

    async def _other(self, row: InboxRow) -> None:
        """Take in what is no message; an error in it is its own."""
        ways = {"edit": self._edit, "delete": self._delete, "change": self._change}
        take = ways.get(row.message.kind, self._bury)
        try:
            await self._services.persist.retrying("intake", lambda: take(row))
        except StoreUnavailable:
            raise
        except Exception as cause:
            await self._dead((row,), cause)

    async def _edit(self, row: InboxRow) -> None:
        changed = await take_edit(self._services, row)
        if changed is not None:
            self._edited(changed)

    async def _delete(self, row: InboxRow) -> None:
        unasked = await take_deletion(self._services, row)
        if unasked is not None:
            self._deleted(unasked)

    async def _change(self, row: InboxRow) -> None:
        """Write down what happened to a chat; a group with a new id goes on on its tape."""
        said = row.message
        session_id = await self._services.pipeline.resolve_session(said)
        decision = self._access.decide(said)
        tape = self._services.tapes.session_tape(session_id).name
        data = {"change": said.change, "by": said.sender.id}
        if decision.allowed:
            data["text"] = said.text
        unit = Unit()
        self._services.ledger.inbox.take_in(
            unit, row, session_id, tape, event("chat.change", data), None, "taped"
        )
        moved = session_of(replace(said, chat_id=said.to_chat)) if said.to_chat else ""
        if moved and moved != session_id:
            self._services.ledger.inbox.alias(unit, moved, session_id)
        await self._services.store.commit(unit)
        if moved and moved != session_id:
            self._services.aliases[moved] = session_id
        get_log().info("chat.changed", session=session_id, change=said.change)
        if said.change == "added":
            asked = Question(session_id, tape, None, decision.role, (replace(row, status="taped"),))
            await self._forward(TakenIn(asked, decision))

    async def _bury(self, row: InboxRow) -> None:
        """Keep what cannot be read: its raw form is in the inbox."""
        get_log().error("intake.unreadable", inbox=row.id, why=row.message.why)
        unit = Unit()
        self._services.ledger.inbox.end(unit, [row], "dead", row.message.why)
        await self._services.store.commit(unit)
        await self._poisoned(row)

    async def _dead(self, parts: Parts, cause: Exception) -> None:
        get_log().error("intake.dead", inbox=parts[0].id, exc_info=cause)
        unit = Unit()
        why = f"it could not be taken in ({type(cause).__name__}: {cause})"
        self._services.ledger.inbox.end(unit, parts, "dead", why)
        try:
            await self._services.persist.retrying(
                "intake", lambda: self._services.store.commit(unit)
            )
        except TapeError as lost:
            get_log().error("intake.dead_not_recorded", inbox=parts[0].id, exc_info=lost)
        try:
            await self._poisoned(parts[-1])
        except Exception as failed:
            get_log().error("intake.dead_not_told", inbox=parts[0].id, exc_info=failed)


def _taken_in(plan: _Planned, entry_id: int, replayed_until: int) -> TakenIn:
    row = replace(
        plan.row,
        session_id=plan.session_id,
        entry_id=entry_id,
        lane=plan.lane,
        status=plan.status,
    )
    asked = Question(
        plan.session_id,
        plan.tape,
        plan.lane,
        plan.decision.role,
        (row,),
        admitted=plan.admitted,
        replayed=row.id <= replayed_until,
    )
    return TakenIn(asked, plan.decision, plan.stale)
