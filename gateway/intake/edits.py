"""Edits: a message that now reads otherwise.

The tape keeps both: an event names the entry and its new text. A turn that has not taken the
message yet takes the new text; later the edit itself is told, at the conversation's next turn.
"""

from __future__ import annotations

from dataclasses import replace

from gateway.intake.access import Access
from gateway.intake.framing import frame
from gateway.intake.reassembly import joined_text
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.context import MESSAGE_EDIT
from tape.entry import event
from tape.unit_of_work import Unit


async def take_edit(services: Services, row: InboxRow) -> InboxRow | None:
    """Write an edit down; returns the row of a message that no turn has taken, as it now reads."""
    said = row.message
    found = await services.ledger.inbox.original_of(row)
    original, last = found or (None, row)
    unit = Unit()
    if original is None or original.entry_id is None or original.session_id is None:
        _end_unknown(services, unit, row)
        await services.store.commit(unit)
        return None
    if original.status == "refused" or last.message.text == said.text:
        services.ledger.inbox.end(
            unit, [row], "refused" if original.status == "refused" else "taped"
        )
        await services.store.commit(unit)
        return None
    now_reads = await _as_edited(services, original, said.message_id, said.text)
    data = {
        "entry": original.entry_id,
        "message_id": said.message_id,
        "text": now_reads.message.text,
        "content": frame(now_reads.message),
    }
    meta = {"lane": original.lane} if original.lane is not None else {}
    tape = services.tapes.session_tape(original.session_id).name
    told = event(MESSAGE_EDIT, data, **meta)
    services.ledger.inbox.take_in(
        unit, row, original.session_id, tape, told, original.lane, "taped"
    )
    services.ledger.inbox.rewrite(unit, now_reads)
    await services.store.commit(unit)
    return now_reads if now_reads.status == "waiting" else None


def _end_unknown(services: Services, unit: Unit, row: InboxRow) -> None:
    """End an edit of what was said before our time, or where the agent was not let in."""
    decision = Access(services.settings.access, services.aliases).decide(row.message)
    if decision.allowed:
        services.ledger.inbox.end(unit, [row], "taped")
    else:
        services.ledger.inbox.end(unit, [row], "refused", decision.rule)


async def _as_edited(
    services: Services, original: InboxRow, message_id: str, text: str
) -> InboxRow:
    """Return a row as it now reads; of a message that was put together, with its other parts."""
    head = await services.ledger.inbox.head_of(original)
    parts = tuple(
        (number, text if number == message_id else said) for number, said in head.message.parts
    )
    whole = joined_text([said for _number, said in parts]) if parts else text
    return replace(head, message=replace(head.message, text=whole, parts=parts))
