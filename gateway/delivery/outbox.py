"""Put messages into the outbox, in the transaction that decides to send them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import anyio.to_thread

from channels.commands import with_choices
from channels.message import OutboundMessage
from gateway.services import Services
from gateway.storage.ledger.rows import OutboxRow, with_place
from tape.entry import Entry, NewEntry, event, utc_iso
from tape.turn_events import OUTBOUND
from tape.unit_of_work import Unit

MAX_INLINE_CHARACTERS: Final = 4_000
"""Maximum characters of a text that is split on the event loop; a thread splits longer texts."""


async def commit_with_sends(
    services: Services,
    unit: Unit,
    sends: Sequence[OutboundMessage],
    session_id: str,
    lane: str | None,
    first_text_at: str | None = None,
    wrote: list[Entry] | None = None,
) -> list[OutboxRow]:
    """Commit a unit of work with messages for the outbox; return the rows to send.

    `first_text_at` is when the first text of the turn that ends came from its model. The entries
    that are on tapes now are added to `wrote`.
    """
    unit = replace(unit, steps=list(unit.steps), for_sessions=set(unit.for_sessions))
    moment = utc_iso(services.clock.now())
    clean = [replace(send, text=services.redactor.clean(send.text)) for send in sends]
    dated = [
        replace(piece, date=moment) for send in clean for piece in await _pieces(services, send)
    ]
    outbox = services.ledger.outbox
    steps = [outbox.send_later(unit, send, session_id, lane, first_text_at) for send in dated]
    outcomes = await services.store.commit(unit)
    if wrote is not None:
        wrote += (entry for outcome in outcomes for entry in outcome.entries)
    rows = []
    for step, send in zip(steps, dated, strict=True):
        written = outcomes[step].rows
        if written:
            draft = written[0]["platform_id"]
            rows.append(
                OutboxRow(
                    id=written[0]["id"],
                    session_id=session_id,
                    turn_id=send.turn,
                    lane=lane,
                    status="pending",
                    attempts=0,
                    message=with_place(send, draft),
                    platform_id=draft,
                    drafted=written[0]["op"] == "place",
                )
            )
    return rows


async def _pieces(services: Services, send: OutboundMessage) -> list[OutboundMessage]:
    """Split a message to fit the limits of its platform; each part is sent by itself."""
    channel = services.router.channels.get(send.channel)
    if send.buttons and (channel is None or "buttons" not in channel.capabilities):
        send = replace(send, text=with_choices(send.text, send.buttons), buttons=())
    texts = [send.text]
    if channel is not None and len(send.text) < MAX_INLINE_CHARACTERS:
        texts = channel.split(send.text)
    elif channel is not None:  # some Markdown takes long to split: other chats must not wait
        texts = await anyio.to_thread.run_sync(channel.split, send.text)
    first, *rest = texts or [send.text]
    pieces = [replace(send, text=first, buttons=())]
    for number, text in enumerate(rest, start=1):
        idem = f"{send.idem}.{number}"
        pieces.append(replace(send, text=text, piece=number, idem=idem, reply_to=None, buttons=()))
    pieces[-1] = replace(pieces[-1], buttons=send.buttons)  # the buttons stand below the whole text
    return pieces


def outbound_event(send: OutboundMessage, final: str | None = None) -> NewEntry:
    """Return the event that records a message, without its text if the text equals `final`."""
    data: dict[str, Any] = {
        "idem": send.idem,
        "kind": send.kind,
        "channel": send.channel,
        "chat": send.chat_id,
        "reply_to": send.reply_to,
    }
    if send.text != final:
        data["text"] = send.text
    return event(OUTBOUND, data)
