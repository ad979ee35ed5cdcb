"""How a turn is written down: its begin, what it takes along, and its three ends.

Each is one transaction over the tape and the ledger. The ends begin with the fence: what a process
has lost to another, it cannot commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import anyio.to_thread

from agent.turn_log import TurnLog
from channels.message import InboundMessage, OutboundMessage
from gateway.context.selection import Selection
from gateway.hooks.messages import address_of
from gateway.pipeline.turn import Question, Turn
from gateway.services import Services
from gateway.storage.ledger.rows import OutboxRow, new_turn_id, with_place
from tape.entry import EVENT, MESSAGE, NewEntry, error, event, message, utc_iso
from tape.handle import Tape
from tape.turn_events import OUTBOUND, TURN_END, TURN_RESUME, TurnRetake, is_take, read_take
from tape.unit_of_work import Unit

EASY: Final = 4_000
"""A shorter text is cut where it is: that is quicker than another thread."""


async def begin(services: Services, asked: Question, takes: Selection) -> Turn:
    """Claim the session, take the messages, and write the turn's first entry."""
    turn_id = asked.turn_id or new_turn_id()
    tape = services.tapes.tape(asked.tape)
    log = TurnLog(tape, turn_id, asked.lane)
    if asked.turn_id:
        first = event(TURN_RESUME, {"turn": turn_id, "attempt": asked.rows[0].attempts + 1})
    else:
        first = takes.start(turn_id).to_entry()
    unit = Unit()
    claimed = services.ledger.leases.claim(unit, asked.session_id, asked.tape)
    services.ledger.inbox.take(unit, asked.rows, turn_id)
    attempt = asked.rows[0].attempts + 1
    unit.append(asked.tape, [log.stamp(first)], key=f"turn:{turn_id}:start:{attempt}")
    outcomes = await services.store.commit(unit)
    epoch = int(outcomes[claimed].rows[0]["epoch"])
    own = (row for row in asked.rows if row.entry_id and _pictured(row.message))
    pictured = (*takes.pictured, *(row.entry_id for row in own if row.entry_id))
    return Turn(turn_id, asked, tape, log, epoch, took=list(asked.rows), pictured=pictured)


def _pictured(said: InboundMessage) -> bool:
    return any(media.kind == "image" for media in said.media)


async def take_also(services: Services, turn: Turn, asked: Question) -> None:
    """Take a question that came later into a running turn."""
    unit = Unit()
    services.ledger.inbox.take(unit, asked.rows, turn.id)
    retake = TurnRetake(turn.id, tuple(asked.entry_ids), steered=True).to_entry()
    key = f"turn:{turn.id}:take:{asked.rows[0].id}"
    unit.append(turn.asked.tape, [turn.log.stamp(retake)], key=key)
    await services.store.commit(unit)
    turn.took.extend(asked.rows)


async def commit_done(services: Services, turn: Turn, output: str) -> list[OutboxRow]:
    """End a turn with its answer; returns what is to be sent."""
    final = turn.final_text if turn.final_text is not None else output
    sends = [outbound for outbound in turn.outbound if outbound.text.strip()]
    entries: list[NewEntry] = [*turn.log.deferred]
    if final.strip():
        entries.append(turn.log.stamp(message("assistant", final, final=True)))
    entries += [_outbound_event(turn, send, final) for send in sends]
    return await _end(services, turn, "done", entries, sends)


async def commit_failed(
    services: Services, turn: Turn, told: OutboundMessage, reason: dict[str, Any]
) -> list[OutboxRow]:
    """End a turn with the sentence that tells of its failure."""
    entries = [
        *turn.log.deferred,
        turn.log.stamp(error(reason["error"], error_id=reason["error_id"])),
        _outbound_event(turn, told, None),
    ]
    return await _end(services, turn, "failed", entries, [told], reason)


async def commit_stopped(
    services: Services, turn: Turn, told: OutboundMessage | None
) -> list[OutboxRow]:
    """End a turn that somebody stopped."""
    entries = [*turn.log.deferred]
    sends = [told] if told else []
    entries += [_outbound_event(turn, send, None) for send in sends]
    return await _end(services, turn, "stopped", entries, sends, turn.stopped_by)


async def begun_before(tape: Tape, asked: Question) -> str:
    """Return the turn that has taken a question on a tape ahead of the ledger; "" for none."""
    wanted = set(asked.entry_ids)
    if not wanted:
        return ""
    events = await tape.find(after=min(wanted), kinds=(EVENT,))
    for start in reversed([entry for entry in events if is_take(entry)]):
        take = read_take(start)
        if wanted.intersection(take.takes):
            own = await tape.find(turn=take.turn, kinds=(EVENT,), name=TURN_END)
            return "" if own else take.turn
    return ""


async def commit_again(services: Services, turn: Turn) -> list[OutboxRow] | None:
    """End a turn as its tape tells that it ended; None: it did not.

    Only a tape outside the ledger's database can be ahead of it: the process was lost in between.
    """
    if services.store.one_transaction:
        return None
    own = await turn.tape.find(turn=turn.id)
    ends = [entry for entry in own if entry.name == TURN_END]
    if not ends:
        return None
    finals = [entry.text for entry in own if entry.kind == MESSAGE and entry.meta.get("final")]
    sends = [
        _sent_as_told(turn, entry.payload["data"], finals)
        for entry in own
        if entry.name == OUTBOUND
    ]
    return await _end(services, turn, ends[0].payload["data"]["status"], [], sends)


def _sent_as_told(turn: Turn, told: Mapping[str, Any], finals: Sequence[str]) -> OutboundMessage:
    address = address_of(turn.message)
    if (told["channel"], told["chat"]) != (address["channel"], address["chat_id"]):
        address = {"channel": told["channel"], "chat_id": told["chat"]}
    part = str(told["idem"]).rpartition(":")[2]
    return OutboundMessage(
        **address,
        text=told.get("text", finals[-1] if finals else ""),
        idem=told["idem"],
        kind=told["kind"],
        turn=turn.id,
        part=int(part) if part.isdigit() else 0,
    )


async def _end(
    services: Services,
    turn: Turn,
    status: str,
    entries: list[NewEntry],
    sends: Sequence[OutboundMessage],
    more: dict[str, Any] | None = None,
) -> list[OutboxRow]:
    end = event(TURN_END, {"turn": turn.id, "status": status, **(more or {})})
    unit = Unit()
    services.ledger.leases.fence(unit, turn.session_id, turn.epoch)
    unit.append(turn.asked.tape, [*entries, turn.log.stamp(end)], key=f"turn:{turn.id}:end")
    services.ledger.inbox.end(unit, turn.took, status)
    if not any(send.part == 0 for send in sends):
        services.ledger.outbox.drop_draft(unit, turn.id)
    return await commit_with_sends(services, unit, sends, turn.session_id, turn.lane)


async def commit_with_sends(
    services: Services,
    unit: Unit,
    sends: Sequence[OutboundMessage],
    session_id: str,
    lane: str | None,
) -> list[OutboxRow]:
    """Commit a unit together with messages for the outbox; returns their rows."""
    unit = Unit(list(unit.steps))
    moment = utc_iso(services.clock.now())
    dated = [
        replace(piece, date=moment) for send in sends for piece in await _pieces(services, send)
    ]
    steps = [services.ledger.outbox.send_later(unit, send, session_id, lane) for send in dated]
    outcomes = await services.store.commit(unit)
    rows = []
    for step, send in zip(steps, dated, strict=True):
        written = outcomes[step].rows
        if written:
            place = written[0]["platform_id"]
            rows.append(
                OutboxRow(
                    id=written[0]["id"],
                    session_id=session_id,
                    turn_id=send.turn,
                    lane=lane,
                    status="pending",
                    attempts=0,
                    message=with_place(send, place),
                    platform_id=place,
                    drafted=written[0]["op"] == "place",
                )
            )
    return rows


async def _pieces(services: Services, send: OutboundMessage) -> list[OutboundMessage]:
    """Cut a message into what its platform takes at once; each piece is a send of its own."""
    channel = services.router.channel(send.channel)
    texts = [send.text]
    if channel is not None and len(send.text) < EASY:
        texts = channel.split(send.text)
    elif channel is not None:  # a model may write what is hard to cut: nobody else waits for it
        texts = await anyio.to_thread.run_sync(channel.split, send.text)
    first, *rest = texts or [send.text]
    return [
        replace(send, text=first),
        *(
            replace(send, text=text, piece=number, idem=f"{send.idem}.{number}", reply_to=None)
            for number, text in enumerate(rest, start=1)
        ),
    ]


def _outbound_event(turn: Turn, send: OutboundMessage, final: str | None) -> NewEntry:
    """Tell what is said to the chat; a text that is the final message's is not told twice."""
    return turn.log.stamp(outbound_event(send, final))


def outbound_event(send: OutboundMessage, final: str | None = None) -> NewEntry:
    """Make the event that tells of a message to the chat."""
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
