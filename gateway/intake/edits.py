"""Record edits and deletions of messages.

After an edit, the tape keeps the old text, and an event records the new text. A turn that takes
the message later gets the new text; if a turn has taken it, the lane's next turn shows the edit.

After a deletion, the tape keeps the message, but an event hides it from views and search. A
question that no turn has taken is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from channels.message import Media
from gateway.access.access import Access
from gateway.intake.entry_meta import parts_meta
from gateway.intake.framing import frame, people_of
from gateway.intake.reassembly import joined_text
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.context import MESSAGE_EDIT
from tape.deletions import deletion
from tape.entry import EVENT, event
from tape.erasing import ERASED
from tape.store import ErasingStore
from tape.unit_of_work import Unit


async def take_edit(services: Services, access: Access, row: InboxRow) -> InboxRow | None:
    """Record an edit; return the row with the new text, or None if the question no longer waits."""
    message = row.message
    found = await services.ledger.inbox.original_of(row)
    original, last = found or (None, row)
    if original is None or original.entry_id is None or original.session_id is None:
        # The original message is older than the gateway, or was refused.
        decision = access.decide(message)
        status, rule = ("taped", None) if decision.allowed else ("refused", decision.rule)
        await end_row(services, row, status, rule)
        return None
    if original.message.why == ERASED:
        await _wipe(services, row)
        return None
    if not (decision := access.decide(original.message)).allowed:  # the chat was closed since
        await end_row(services, row, "refused", decision.rule)
        return None
    unchanged = message.text == await _latest_text(services, original, last)
    if original.status == "refused" or unchanged:
        await end_row(services, row, "refused" if original.status == "refused" else "taped")
        return None
    shown = await _unfolded(services, original) if original.folded else original
    edited = await _with_edit(services, shown, message.message_id, message.text)
    people = services.ledger.people
    numbers, new = await people.number(original.session_id, people_of(edited.message))
    data = {
        "entry": original.entry_id,
        "message_id": message.message_id,
        "text": edited.message.text,
        "content": frame(edited.message, numbers),
    }
    meta: dict[str, object] = parts_meta(edited.message)  # the edit may bring words of others
    if original.lane is not None:
        meta["lane"] = original.lane
    tape = services.tapes.session_tape(original.session_id).name
    entry = event(MESSAGE_EDIT, data, **meta)
    unit = Unit()
    services.ledger.inbox.take_in(
        unit, row, original.session_id, tape, entry, original.lane, "taped"
    )
    services.ledger.inbox.rewrite(unit, edited)
    people.write(unit, original.session_id, new)
    try:
        await services.store.commit(unit)
    except BaseException:
        people.forget({original.session_id})
        raise
    return edited if edited.status == "waiting" else None


async def take_deletion(services: Services, access: Access, row: InboxRow) -> InboxRow | None:
    """Record a deletion; return the row of the question that was dropped, or None."""
    found = await services.ledger.inbox.original_of(row)
    original = found[0] if found else None
    if original is None or original.entry_id is None or original.session_id is None:
        # The original message is older than the gateway, or was refused.
        await end_row(services, row, "taped")
        return None
    if original.status == "refused":
        await end_row(services, row, "refused")
        return None
    if original.message.why == ERASED:
        await _wipe(services, row)
        return None
    if (await services.ledger.inbox.head_of(original)).message.parts:
        # The deleted message is a part of a merged message, whose other parts stay.
        await take_edit(services, access, replace(row, message=replace(row.message, text="")))
        return None
    meta = {"lane": original.lane} if original.lane is not None else {}
    tape = services.tapes.session_tape(original.session_id).name
    deleted = deletion(original.entry_id, original.message.message_id, **meta)
    unit = Unit()
    services.ledger.inbox.take_in(
        unit, row, original.session_id, tape, deleted, original.lane, "taped"
    )
    ended = services.ledger.inbox.unask(unit, original)
    outcomes = await services.store.commit(unit)
    return original if outcomes[ended].changed else None


async def end_row(services: Services, row: InboxRow, status: str, why: str | None = None) -> None:
    """Mark the inbox row of a message as ended if the message gets no tape entry."""
    unit = Unit()
    services.ledger.inbox.end(unit, [row], status, why)
    await services.store.commit(unit)


async def _latest_text(services: Services, original: InboxRow, last: InboxRow) -> str:
    """Return a message's latest text, from its tape if the ledger no longer has it."""
    if not last.folded or original.session_id is None or original.entry_id is None:
        return last.message.text
    head = await services.ledger.inbox.head_of(original)
    parts = dict(head.message.parts)
    if parts:
        return parts.get(original.message.message_id, "")
    tape = services.tapes.session_tape(original.session_id)
    changes = await tape.find(kinds=(EVENT,), name=MESSAGE_EDIT, about=(original.entry_id,))
    if changes:
        return str(changes[-1].payload["data"].get("text", ""))
    said = await tape.entries([original.entry_id])
    return str(said[original.entry_id].meta.get("text", "")) if said else ""


async def _unfolded(services: Services, original: InboxRow) -> InboxRow:
    """Return the row of a message with its author's name and attachments, as its tape has them."""
    assert original.session_id is not None
    assert original.entry_id is not None
    tape = services.tapes.session_tape(original.session_id)
    said = (await tape.entries([original.entry_id])).get(original.entry_id)
    if said is None:
        return original
    meta, message = said.meta, original.message
    sender = replace(message.sender, name=str(meta.get("name", "")))
    origin = meta.get("forwarded")
    forwarded = message.forwarded
    if isinstance(origin, dict) and forwarded is not None:
        forwarded = replace(forwarded, author=str(origin.get("name", "")))
    media = tuple(Media(**one) for one in meta.get("media", ()))
    return replace(
        original, message=replace(message, sender=sender, forwarded=forwarded, media=media)
    )


async def _wipe(services: Services, row: InboxRow) -> None:
    """End the edit or deletion of an erased message, and keep nothing of it."""
    await end_row(services, row, "taped")
    await services.ledger.erasures.wipe_rows([row.id], "its message was erased")
    if isinstance(services.store, ErasingStore):
        await services.store.purge(rewrite=False)


async def _with_edit(
    services: Services, original: InboxRow, message_id: str, text: str
) -> InboxRow:
    head = await services.ledger.inbox.head_of(original)  # a merged message keeps its other parts
    parts = tuple(
        (number, text if number == message_id else old) for number, old in head.message.parts
    )
    whole = joined_text([part for _number, part in parts]) if parts else text
    return replace(head, message=replace(head.message, text=whole, parts=parts))
