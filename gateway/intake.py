"""Intake: an accepted message goes on its tape, whoever it is for; then it finds its way.

In the order of acceptance, several at a time in one transaction. A message that cannot be taken in
is told apart from its neighbours, written down as dead, and wedges nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from channels.message import InboundMessage
from gateway.access import Access, Decision
from gateway.buffer import Key
from gateway.core import Core
from gateway.frame import frame
from gateway.ledger.rows import InboxRow
from gateway.logs import get_log
from gateway.turn import Asked
from tape.entry import NewEntry, event, message
from tape.errors import TapeError
from tape.unit import FirstId, Unit

MOST_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A message that is on its tape, and what was decided about it."""

    asked: Asked
    decision: Decision

    @property
    def row(self) -> InboxRow:
        """Its row."""
        return self.asked.rows[0]


@dataclass(frozen=True, slots=True)
class _Planned:
    row: InboxRow
    session_id: str
    tape: str
    lane: str | None
    decision: Decision
    entry: NewEntry
    status: str
    admitted: str


class Intake:
    """Takes accepted messages in; `forward` gets each in order."""

    def __init__(
        self,
        core: Core,
        access: Access,
        forward: Callable[[TakenIn], Awaitable[None]],
        pending_lane: Callable[[Key], str | None],
    ) -> None:
        self._core = core
        self._access = access
        self._forward = forward
        self._pending_lane = pending_lane
        self._rows: asyncio.Queue[InboxRow] = asyncio.Queue()
        self._replayed_until = 0

    async def accept(self, messages: Sequence[InboundMessage]) -> set[str]:
        """Write messages into the inbox; returns the keys of those that were new."""
        rows = await self._core.ledger.accept([cleaned(message) for message in messages])
        for row in rows:
            self._rows.put_nowait(row)
        return {row.message.ext_id for row in rows}

    def queue_first(self, rows: Sequence[InboxRow]) -> None:
        """Put rows that were accepted before a restart in front of what came since."""
        self._replayed_until = max((row.id for row in rows), default=0)
        self._rows, later = asyncio.Queue(), self._rows
        for row in rows:
            self._rows.put_nowait(row)
        while not later.empty():
            self._rows.put_nowait(later.get_nowait())

    async def taken_in(self) -> None:
        """Wait until everything that was accepted is on its tape and on its way."""
        await self._rows.join()

    async def run(self) -> None:
        """Take in what is queued, for ever."""
        while True:
            batch = [await self._rows.get()]
            while len(batch) < MOST_AT_ONCE and not self._rows.empty():
                batch.append(self._rows.get_nowait())
            try:
                for taken in await self._together(batch):
                    await self._safely_forward(taken)
            except Exception as cause:
                get_log().error("intake.failed", messages=len(batch), exc_info=cause)
            finally:
                for _row in batch:
                    self._rows.task_done()

    async def _safely_forward(self, taken: TakenIn) -> None:
        try:
            await self._forward(taken)
        except Exception as cause:
            get_log().error("intake.forward_failed", inbox=taken.row.id, exc_info=cause)

    async def _together(self, batch: list[InboxRow]) -> list[TakenIn]:
        try:
            return await self._core.persist.until_stored("intake", lambda: self._commit(batch))
        except Exception as cause:
            if len(batch) == 1:
                await self._dead(batch[0], cause)
                return []
            taken: list[TakenIn] = []
            for row in batch:
                taken += await self._together([row])
            return taken

    async def _commit(self, batch: list[InboxRow]) -> list[TakenIn]:
        lanes: dict[tuple[str, str, str], str | None] = {}
        planned: list[_Planned] = []
        for row in batch:
            plan = await self._plan(row, lanes)
            lanes[(row.account_id, row.message.chat_id, row.message.message_id)] = plan.lane
            planned.append(plan)
        unit = Unit()
        firsts = [self._write(unit, plan) for plan in planned]
        outcomes = await self._core.store.commit(unit)
        return [
            _taken_in(plan, outcomes[first.step].entries[0].id, self._replayed_until)
            for plan, first in zip(planned, firsts, strict=True)
        ]

    def _write(self, unit: Unit, plan: _Planned) -> FirstId:
        return self._core.ledger.take_in(
            unit, plan.row, plan.session_id, plan.tape, plan.entry, plan.lane, plan.status
        )

    async def _plan(self, row: InboxRow, lanes: dict[tuple[str, str, str], str | None]) -> _Planned:
        said = row.message
        session_id = await self._core.framework.resolve_session(said)
        decision = self._access.decide(said)
        lane = await self._lane(row, session_id, lanes)
        admitted = None
        if decision.allowed:
            admitted = await self._core.hooks.call_first(
                "admit_message", message=said, session_id=session_id
            )
        if not decision.allowed:
            entry = _told("access.refused", row, decision.rule)
            status = "refused"
        elif admitted == "drop":
            entry = _told("message.dropped", row, "a plugin dropped it")
            status = "refused"
        else:
            entry = message("user", frame(said), **_meta(row, lane))
            status = "waiting" if said.addressed else "taped"
        tape = self._core.tapes.session_tape(session_id).name
        return _Planned(row, session_id, tape, lane, decision, entry, status, str(admitted or ""))

    async def _lane(
        self,
        row: InboxRow,
        session_id: str,
        lanes: dict[tuple[str, str, str], str | None],
    ) -> str | None:
        """Name the conversation: the thread, that of the message replied to, or the author's.

        A message without either that is collected with others takes their lane.
        """
        said = row.message
        mode = self._core.settings.context.mode
        if mode == "anchor" or (mode == "auto" and said.chat_kind == "private"):
            return None
        if said.thread_id:
            return f"thread:{said.thread_id}"
        if said.reply_to:
            key = (row.account_id, said.chat_id, said.reply_to)
            known = lanes.get(key) or await self._core.ledger.lane_of(*key)
            return known or f"reply:{said.reply_to}"
        pending = self._pending_lane((session_id, said.thread_id, said.sender.id))
        return pending or f"person:{said.sender.id}"

    async def _dead(self, row: InboxRow, cause: Exception) -> None:
        get_log().error("intake.dead", inbox=row.id, exc_info=cause)
        unit = Unit()
        self._core.ledger.end(unit, [row], "dead")
        try:
            await self._core.persist.until_stored("intake", lambda: self._core.store.commit(unit))
        except TapeError as lost:
            get_log().error("intake.dead_not_recorded", inbox=row.id, exc_info=lost)


def _taken_in(plan: _Planned, entry_id: int, replayed_until: int) -> TakenIn:
    row = replace(
        plan.row,
        session_id=plan.session_id,
        entry_id=entry_id,
        lane=plan.lane,
        status=plan.status,
    )
    asked = Asked(
        plan.session_id,
        plan.tape,
        plan.lane,
        plan.decision.role,
        (row,),
        admitted=plan.admitted,
        replayed=row.id <= replayed_until,
    )
    return TakenIn(asked, plan.decision)


def _meta(row: InboxRow, lane: str | None) -> dict[str, object]:
    said = row.message
    found: dict[str, object] = {
        "inbox": row.id,
        "author": said.sender.id,
        "name": said.sender.name,
        "text": said.text,
        "channel": said.channel,
        "chat": said.chat_id,
        "message_id": said.message_id,
        "said_at": said.date,
        "addressed": said.addressed,
        "why": said.why,
        "lane": lane,
        "thread": said.thread_id,
        "reply_to": said.reply_to,
        "mentions": list(said.mentions),
        "command": (said.addressed and said.text.lstrip().startswith(",")) or None,
    }
    return {name: value for name, value in found.items() if value not in (None, [])}


def _told(name: str, row: InboxRow, why: str) -> NewEntry:
    """Record that a message was not let in: who and why, and not a word of its text."""
    return event(name, {"author": row.message.sender.id, "why": why, "inbox": row.id})


def cleaned(said: InboundMessage) -> InboundMessage:
    """Take out of a message what neither JSON nor a database holds: NUL and lone surrogates."""
    return replace(
        said,
        text=_clean(said.text),
        chat_title=_clean(said.chat_title),
        sender=replace(said.sender, name=_clean(said.sender.name)),
    )


def _clean(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
