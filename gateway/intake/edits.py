"""Record message edits.

The tape keeps the old text, and an event with the new one. A turn that takes the message later
takes the new text; if a turn has taken it already, the next turn of the lane shows the edit.
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
    """Record an edit; return the row with the new text if the question is still waiting."""
    message = row.message
    found = await services.ledger.inbox.original_of(row)
    original, last = found or (None, row)
    unit = Unit()
    if original is None or original.entry_id is None or original.session_id is None:
        _end_unknown(services, unit, row)
        await services.store.commit(unit)
        return None
    if original.status == "refused" or last.message.text == message.text:
        services.ledger.inbox.end(
            unit, [row], "refused" if original.status == "refused" else "taped"
        )
        await services.store.commit(unit)
        return None
    edited = await _with_edit(services, original, message.message_id, message.text)
    data = {
        "entry": original.entry_id,
        "message_id": message.message_id,
        "text": edited.message.text,
        "content": frame(edited.message),
    }
    meta = {"lane": original.lane} if original.lane is not None else {}
    tape = services.tapes.session_tape(original.session_id).name
    entry = event(MESSAGE_EDIT, data, **meta)
    services.ledger.inbox.take_in(
        unit, row, original.session_id, tape, entry, original.lane, "taped"
    )
    services.ledger.inbox.rewrite(unit, edited)
    await services.store.commit(unit)
    return edited if edited.status == "waiting" else None


def _end_unknown(services: Services, unit: Unit, row: InboxRow) -> None:
    """End an edit of a message that is older than the gateway, or was refused."""
    decision = Access(services.settings.access, services.aliases).decide(row.message)
    if decision.allowed:
        services.ledger.inbox.end(unit, [row], "taped")
    else:
        services.ledger.inbox.end(unit, [row], "refused", decision.rule)


async def _with_edit(
    services: Services, original: InboxRow, message_id: str, text: str
) -> InboxRow:
    """Return the row of a message with its new text; a merged one keeps its other parts."""
    head = await services.ledger.inbox.head_of(original)
    parts = tuple(
        (number, text if number == message_id else old) for number, old in head.message.parts
    )
    whole = joined_text([part for _number, part in parts]) if parts else text
    return replace(head, message=replace(head.message, text=whole, parts=parts))
