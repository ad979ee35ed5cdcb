"""Record what else happens in chats: deletions, changes, and events that cannot be taken in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.access.access import Access
from gateway.hooks.messages import session_of
from gateway.intake.editing.edits import end_row, take_deletion
from gateway.intake.placing.sink import IntakeSink
from gateway.intake.planner import IntakePlanner
from gateway.intake.reassembly import Parts
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.storage.holding import RESTORED
from gateway.storage.ledger.rows import InboxRow
from tape.entry import event
from tape.errors import TapeError
from tape.unit_of_work import Unit


@dataclass(frozen=True, slots=True)
class OtherEvents:
    """Takes in what is no message, or cannot be one."""

    _services: Services
    _access: Access
    _sink: IntakeSink
    _planner: IntakePlanner

    async def delete(self, row: InboxRow) -> None:
        """Record that a message was deleted, and drop its question if that waits."""
        self._planner.note_change(row.message)
        dropped = await take_deletion(self._services, row)
        if dropped is not None:
            self._sink.deleted(dropped)

    async def change(self, row: InboxRow) -> None:
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

    async def bury(self, row: InboxRow) -> None:
        """Record an event that could not be read."""
        get_log().error("intake.unreadable", inbox=row.id, why=row.message.why)
        await end_row(self._services, row, "dead", row.message.why)
        await self._sink.failed(row)

    async def ignore(self, row: InboxRow) -> None:
        """End an event from before a restore without a notice to anybody."""
        await end_row(self._services, row, "dropped", RESTORED)

    async def dead(self, parts: Parts, cause: Exception) -> None:
        """Record that a message could not be taken in, and say so to its author."""
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
