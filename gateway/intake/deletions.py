"""Deletions: a message that is not there any more.

The tape keeps it, and an event that says it is gone: from then on views and search do without its
words. A question that no turn has taken is not asked.
"""

from __future__ import annotations

from dataclasses import replace

from gateway.intake.edits import take_edit
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.deletions import deletion
from tape.unit_of_work import Unit


async def take_deletion(services: Services, row: InboxRow) -> InboxRow | None:
    """Write a deletion down; returns the row of a question that is not to be asked any more."""
    found = await services.ledger.inbox.original_of(row)
    original = found[0] if found else None
    unit = Unit()
    if original is None or original.entry_id is None or original.session_id is None:
        services.ledger.inbox.end(
            unit, [row], "taped"
        )  # it was said before our time, or was never let in
        await services.store.commit(unit)
        return None
    if original.status == "refused":
        services.ledger.inbox.end(unit, [row], "refused")
        await services.store.commit(unit)
        return None
    if (await services.ledger.inbox.head_of(original)).message.parts:
        # One of several that are one message to us: that now reads without it.
        await take_edit(services, replace(row, message=replace(row.message, text="")))
        return None
    meta = {"lane": original.lane} if original.lane is not None else {}
    tape = services.tapes.session_tape(original.session_id).name
    told = deletion(original.entry_id, original.message.message_id, **meta)
    services.ledger.inbox.take_in(
        unit, row, original.session_id, tape, told, original.lane, "taped"
    )
    ended = services.ledger.inbox.unask(unit, original)
    outcomes = await services.store.commit(unit)
    return original if outcomes[ended].changed else None
