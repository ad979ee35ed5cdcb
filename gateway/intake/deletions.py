"""Record message deletions.

The tape keeps the message, and an event that hides it from views and search. A question that no
turn has taken is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from gateway.intake.edits import take_edit
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.deletions import deletion
from tape.unit_of_work import Unit


async def take_deletion(services: Services, row: InboxRow) -> InboxRow | None:
    """Record a deletion; return the row of the question that it drops, if any."""
    found = await services.ledger.inbox.original_of(row)
    original = found[0] if found else None
    unit = Unit()
    if original is None or original.entry_id is None or original.session_id is None:
        # The message is older than the gateway, or was refused.
        services.ledger.inbox.end(unit, [row], "taped")
        await services.store.commit(unit)
        return None
    if original.status == "refused":
        services.ledger.inbox.end(unit, [row], "refused")
        await services.store.commit(unit)
        return None
    if (await services.ledger.inbox.head_of(original)).message.parts:
        # It is a part of a merged message: the others stay.
        await take_edit(services, replace(row, message=replace(row.message, text="")))
        return None
    meta = {"lane": original.lane} if original.lane is not None else {}
    tape = services.tapes.session_tape(original.session_id).name
    deleted = deletion(original.entry_id, original.message.message_id, **meta)
    services.ledger.inbox.take_in(
        unit, row, original.session_id, tape, deleted, original.lane, "taped"
    )
    ended = services.ledger.inbox.unask(unit, original)
    outcomes = await services.store.commit(unit)
    return original if outcomes[ended].changed else None
