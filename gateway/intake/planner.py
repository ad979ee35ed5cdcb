"""Decide what to write about a message: its lane, its role, its entry and its status."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from channels.message import InboundMessage
from gateway.context.lane_assignment import BatchIndex, LaneAssigner, LaneAssignment
from gateway.intake.access import Access, Decision
from gateway.intake.bot_guard import BotGuard
from gateway.intake.entry_meta import meta_of, refusal_event
from gateway.intake.framing import frame
from gateway.intake.reassembly import Parts, merge_parts
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.entry import NewEntry, message, parse_date

MAX_AGE_SECONDS: Final = 60 * 24 * 3600.0
"""Age from which a message's date is taken for a mistake: platforms hold nothing for so long."""


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """A message and its entry, before both are written.

    question    the message as the question that it may be; without its entry and status
    others      the rows of its other parts
    assignment  its place in the room's memory
    status      the status of its row once its entry is written
    """

    row: InboxRow
    others: Parts
    question: Question
    assignment: LaneAssignment
    decision: Decision
    entry: NewEntry
    status: str
    stale: bool


class IntakePlanner:
    """Plans messages, one after the other in the order of acceptance."""

    def __init__(self, services: Services, access: Access, lanes: LaneAssigner) -> None:
        self._services = services
        self._access = access
        self._lanes = lanes
        self._guard = BotGuard(services.clock, services.settings.access.bots)

    async def plan(self, parts: Parts, known: BatchIndex) -> PlannedMessage:
        """Plan a message; `known` has the earlier messages of its batch."""
        plan = await self._plan(parts, known)
        for row in parts:
            known.add(row, plan.question.lane, asks=plan.row.message.addressed)
        self._lanes.collect(known, plan.question.session_id, plan.row.message, plan.question.lane)
        return plan

    async def _plan(self, parts: Parts, known: BatchIndex) -> PlannedMessage:
        message = parts[0].message
        if len(parts) > 1:
            message = merge_parts([row.message for row in parts])
        session_id = await self._services.pipeline.resolve_session(message)
        row = replace(parts[0], message=message)
        tape = self._services.tapes.session_tape(session_id).name
        # A refused message belongs to no lane, and its chat is not remembered.
        decision = self._access.decide(message)
        assignment = LaneAssignment(None, replied=False)
        if decision.allowed:
            assignment = await self._lanes.place(row, session_id, tape, known)
        message, stale = await self._judge(message, session_id, assignment)
        row = replace(row, message=message)
        admitted = None
        if decision.allowed:
            admitted = await self._services.hooks.call_first(
                "admit_message", message=message, session_id=session_id
            )
        entry, status = _entry(row, assignment, decision, dropped=admitted == "drop")
        # An old question may not fit a turn that runs now: it waits for its own.
        admitted = "follow_up" if row.replayed else str(admitted or "")
        question = Question(session_id, tape, assignment.lane, decision.role, (row,), admitted)
        return PlannedMessage(row, parts[1:], question, assignment, decision, entry, status, stale)

    async def _judge(
        self, message: InboundMessage, session_id: str, assignment: LaneAssignment
    ) -> tuple[InboundMessage, bool]:
        """Decide whether a message asks the agent; return it, and whether it is stale."""
        message = await self._followed(message, session_id, assignment.lane)
        message = self._guard.judge(message)
        if assignment.replied and message.quote is not None and not message.quote.chosen:
            message = replace(message, quote=None)  # the tape has the quoted message
        stale = message.addressed and self._is_stale(message)
        if stale:
            message = replace(message, addressed=False, why="asked while I was away, too long ago")
        return message, stale

    async def _followed(
        self, message: InboundMessage, session_id: str, lane: str | None
    ) -> InboundMessage:
        """Mark a message as addressed if its thread is a conversation with the agent."""
        if message.addressed or not message.follows or lane is None:
            return message
        if not await self._services.ledger.inbox.asked_in(session_id, lane):
            return message
        return replace(message, addressed=True, why="a thread that I was asked in")

    def _is_stale(self, message: InboundMessage) -> bool:
        """Return whether a question is too old to be answered.

        Only one that waited at the platform can be: no jump of a clock makes a live one stale.
        """
        if not message.backlog:
            return False
        age = (self._services.clock.now() - parse_date(message.date)).total_seconds()
        return self._services.settings.delivery.replay_hours * 3600 < age < MAX_AGE_SECONDS


def _entry(
    row: InboxRow, assignment: LaneAssignment, decision: Decision, *, dropped: bool
) -> tuple[NewEntry, str]:
    """Return the entry of a message, and the status of its row."""
    if not decision.allowed:
        return refusal_event("access.refused", row, decision.rule), "refused"
    if dropped:
        return refusal_event("message.dropped", row, "a plugin dropped it"), "refused"
    meta = meta_of(row, assignment.lane, assignment.link, decision)
    status = "waiting" if row.message.addressed else "taped"
    return message("user", frame(row.message), **meta), status
