"""Record edits and deletions of messages.

After an edit, the tape keeps the old text, and an event records the new text. A turn that takes
the message later gets the new text; if a turn has taken it, the lane's next turn shows the edit.
An edit that asks the agent is a message of its own as well (see `gateway.intake.editing.versions`).

After a deletion, the tape keeps the message, but an event hides it from views and search. A
question that no turn has taken is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from channels.message import InboundMessage, Media
from gateway.access.access import Access
from gateway.intake.albums import note_in
from gateway.intake.editing.revision import (
    changes_of,
    is_same,
    newest_of,
    revised,
    with_edit,
    without_part,
)
from gateway.intake.editing.versions import Versions, versions_of
from gateway.intake.entry_meta import parts_meta
from gateway.intake.framing import frame, people_of
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.context import MESSAGE_EDIT
from tape.deletions import deletion
from tape.entry import EVENT, NewEntry, event
from tape.handle import Tape
from tape.store import ErasingStore
from tape.taken_messages import ASKED_IN, MEDIA_FROM
from tape.unit_of_work import Unit


async def take_edit(
    services: Services, access: Access, row: InboxRow, versions: Versions
) -> InboxRow | None:
    """Record an edit; return the row with the new text, or None if the question no longer waits."""
    message = row.message
    if versions.is_erased:
        await _wipe(services, row)
        return None
    why = versions.why_not(message) if message.addressed else ""
    original, subject = versions.known, versions.subject
    if original is None or subject is None:
        # The original message is older than the gateway, or was refused.
        first = versions.original.message if versions.original is not None else message
        decision = access.decide(first if versions.was_refused else message)
        status = "taped" if decision.allowed and not versions.was_refused else "refused"
        await end_row(services, row, status, why if decision.allowed else decision.rule)
        return None
    if not (decision := access.decide(original.message)).allowed:  # the chat was closed since
        await end_row(services, row, "refused", decision.rule)
        return None
    subject = await _unfolded(services, subject) if subject.folded else subject
    before, after = revised(subject.message, message)
    parts = dict(subject.message.parts)
    is_answered = versions.asked is not None and subject.status != "waiting"
    # The preview of a link that the platform made itself, and late: that is no edit.
    is_preview = not message.edited and is_same(
        replace(before, excerpts=()), replace(after, excerpts=())
    )
    is_late = is_answered and is_preview
    if is_same(before, after) or is_late or (parts and message.message_id not in parts):
        await end_row(services, row, "taped", why)
        return None
    edited = replace(subject, message=with_edit(subject.message, message))
    changed = changes_of(before, after) if before.text == after.text else ""
    data = {"unasked": why, "changed": changed, **changed_media(subject.message, edited.message)}
    return await _record(services, row, original, edited, data)


async def take_deletion(services: Services, row: InboxRow) -> InboxRow | None:
    """Record a deletion; return the row of the question that was dropped, or None."""
    versions = await versions_of(services, row)
    original, subject = versions.known, versions.subject
    if versions.is_erased:
        await _wipe(services, row)
        return None
    if original is None or subject is None or original.session_id is None:
        # The original message is older than the gateway, or was refused.
        await end_row(services, row, "refused" if versions.original is not None else "taped")
        return None
    deleted = row.message.message_id
    if len(subject.message.parts) > 1 and deleted in dict(subject.message.parts):
        left = replace(subject, message=without_part(subject.message, deleted))
        await _record(services, row, original, left, changed_media(subject.message, left.message))
        return None
    tape = services.tapes.session_tape(original.session_id).name
    first, *also = [
        deletion(one.entry_id, original.message.message_id, **_lane(one))
        for one in _on_tape(original, subject)
        if one.entry_id is not None
    ]
    unit = Unit()
    inbox = services.ledger.inbox
    inbox.take_in(unit, row, original.session_id, tape, first, original.lane, "taped", also)
    ended = inbox.unask(unit, subject)
    outcomes = await services.store.commit(unit)
    return subject if outcomes[ended].changed else None


def edit_event(of: InboxRow, said: InboundMessage, content: str, **more: object) -> NewEntry:
    """Return the event that records what a message on the tape says now, as the model sees it."""
    data: dict[str, object] = {"entry": of.entry_id, "message_id": of.message.message_id}
    data |= {"text": said.text}
    data |= {name: value for name, value in more.items() if value != ""}
    # The edit may bring words of others.
    return event(MESSAGE_EDIT, {**data, "content": content}, **parts_meta(said), **_lane(of))


def changed_media(before: InboundMessage, after: InboundMessage) -> dict[str, str]:
    """Return where an edit's attachments are fetched from, if they are others than before."""
    return {MEDIA_FROM: after.channel} if _media_in(before) != _media_in(after) else {}


def _media_in(message: InboundMessage) -> list[Media]:
    return [*message.media, *(media for one in message.excerpts for media in one.media)]


async def _record(
    services: Services, row: InboxRow, original: InboxRow, edited: InboxRow, data: dict[str, str]
) -> InboxRow | None:
    """Record what a message says now; return its row if it waits for its turn."""
    assert original.session_id is not None
    people, inbox = services.ledger.people, services.ledger.inbox
    numbers, new = await people.number(original.session_id, people_of(edited.message))
    tape = services.tapes.session_tape(original.session_id)
    content = frame(edited.message, numbers) + await _note_of(tape, edited)
    marks = {} if edited.entry_id == original.entry_id else {ASKED_IN: edited.lane}
    first, *also = [
        edit_event(one, edited.message, content, **{**data, **more})
        for one, more in zip(_on_tape(original, edited), ({}, marks), strict=False)
    ]
    unit = Unit()
    inbox.take_in(unit, row, original.session_id, tape.name, first, original.lane, "taped", also)
    inbox.rewrite(unit, edited)
    people.write(unit, original.session_id, new)
    try:
        await services.store.commit(unit)
    except BaseException:
        people.forget({original.session_id})
        raise
    return edited if edited.status == "waiting" else None


async def _note_of(tape: Tape, row: InboxRow) -> str:
    """Return what stands in a late part of an album about those before it, or ""."""
    said = (await tape.entries([row.entry_id])).get(row.entry_id) if row.entry_id else None
    return note_in(said.text) if said is not None else ""


def _on_tape(original: InboxRow, subject: InboxRow) -> list[InboxRow]:
    """Return the rows of the entries that an edit or a deletion is about, that of the newest first.

    These are two if an earlier edit asked: it stands on the tape as well as the message.
    """
    return [subject] if subject.entry_id == original.entry_id else [subject, original]


def _lane(of: InboxRow) -> dict[str, str]:
    return {"lane": of.lane} if of.lane is not None else {}


async def end_row(services: Services, row: InboxRow, status: str, why: str | None = None) -> None:
    """Mark the inbox row of a message as ended if the message gets no tape entry."""
    unit = Unit()
    services.ledger.inbox.end(unit, [row], status, why or None)
    await services.store.commit(unit)


async def _unfolded(services: Services, row: InboxRow) -> InboxRow:
    """Return a message's row with its author's name and its newest words, as its tape has them."""
    assert row.session_id is not None
    assert row.entry_id is not None
    tape = services.tapes.session_tape(row.session_id)
    said = (await tape.entries([row.entry_id])).get(row.entry_id)
    if said is None:
        return row
    edits = await tape.find(kinds=(EVENT,), name=MESSAGE_EDIT, about=(row.entry_id,))
    meta, message = said.meta, row.message
    sender = replace(message.sender, name=str(meta.get("name", "")))
    origin, forwarded = meta.get("forwarded"), message.forwarded
    if isinstance(origin, dict) and forwarded is not None:
        forwarded = replace(forwarded, author=str(origin.get("name", "")))
    text, media = newest_of(said, edits)
    found = replace(message, text=text, sender=sender, forwarded=forwarded, media=media)
    return replace(row, message=found)


async def _wipe(services: Services, row: InboxRow) -> None:
    """End the edit or deletion of an erased message, and keep nothing of it."""
    await end_row(services, row, "taped")
    await services.ledger.erasures.wipe_rows([row.id], "its message was erased")
    if isinstance(services.store, ErasingStore):
        await services.store.purge(rewrite=False)
