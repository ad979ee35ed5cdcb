"""The transactions that begin a turn, steer a question into it, and end it in one of three ways.

Each transaction covers the tape and the ledger. A transaction that ends a turn starts with the
fence, so that a process cannot end a turn that another process has taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agent.turn_log import TurnLog
from channels.message import OutboundMessage
from gateway.context.selection import Selection
from gateway.delivery.outbox import commit_with_sends, outbound_event
from gateway.hooks.messages import address_of
from gateway.pipeline.pipeline import TurnResult
from gateway.pipeline.turn import Question, TextSoFar, Turn
from gateway.services import Services
from gateway.storage.kept_files import all_media
from gateway.storage.ledger.cards import Card
from gateway.storage.ledger.rows import OutboxRow
from gateway.turn.budgets import spend
from gateway.turn.confirm_card import confirm_card, placed
from gateway.turn.suggestion_card import ask
from gateway.turn.usage import count_usage, record_usage
from tape.entry import EVENT, MESSAGE, NewEntry, error, event, message, utc_iso
from tape.handle import Tape
from tape.turn_events import (
    OUTBOUND,
    TURN_END,
    TURN_RESUME,
    TurnRetake,
    day_line,
    is_take,
    read_take,
)
from tape.unit_of_work import Unit


async def begin(
    services: Services,
    question: Question,
    selection: Selection,
    steered: list[Question],
    turn_id: str,
    *,
    again: bool = False,
) -> Turn:
    """Begin a turn: claim its session, mark its messages as taken, and write its first entry.

    `again` says that an attempt before this one may have been written: it counts once. Raise
    UnitFailed if one of the messages has ended, or its author's budget is used up.
    """
    tape = services.tapes.tape(question.tape)
    log = TurnLog(tape, turn_id, question.lane)
    log.sources.asker = question.asker
    log.sources.said = question.own_words
    attempt = question.rows[0].attempts + 1
    if question.turn_id:
        first = event(TURN_RESUME, {"turn": turn_id, "attempt": attempt})
    else:
        first = selection.start(turn_id).to_entry()
    unit = Unit()
    claimed = services.ledger.leases.claim(unit, question.session_id, question.tape)
    if not (again and await services.ledger.inbox.was_taken(question.rows[0], turn_id)):
        services.ledger.inbox.take(unit, question.rows, turn_id)
        spend(services, unit, question)
    unit.append(question.tape, [log.stamp(first)], key=f"turn:{turn_id}:start:{attempt}")
    outcomes = await services.store.commit(unit)
    pictured = {*selection.pictured, *_pictured(question)}
    shown = (*selection.include, *selection.takes) or question.entry_ids
    return Turn(
        turn_id,
        question,
        tape,
        log,
        epoch=int(outcomes[claimed].rows[0]["epoch"]),
        pictured=tuple(number for number in shown if number in pictured),
        took=list(question.rows),
        steered=steered,
        said=TextSoFar(begun=None if question.turn_id else _first_text(services, question)),
    )


def _pictured(question: Question) -> Iterable[int]:
    for row in question.rows:
        if row.entry_id and any(media.kind == "image" for media in all_media(row.message)):
            yield row.entry_id


def _first_text(services: Services, question: Question) -> Callable[[], str]:
    asked = question.rows[-1]

    def begun() -> str:
        services.meters.first_text(asked.received_at, asked.message.channel)
        return utc_iso(services.clock.now())

    return begun


async def take_also(services: Services, turn: Turn, question: Question) -> None:
    """Add a later question to a running turn."""
    unit = Unit()
    services.ledger.inbox.take(unit, question.rows, turn.id)
    day = day_line(question.message.date)
    dates = (day,) if day != day_line(turn.took[-1].message.date) else ()
    ids = tuple(question.entry_ids)
    retake = TurnRetake(turn.id, ids, steered=True, dates=dates).to_entry()
    key = f"turn:{turn.id}:take:{question.rows[0].id}"
    unit.append(turn.question.tape, [turn.log.stamp(retake)], key=key)
    await services.store.commit(unit)
    turn.took.extend(question.rows)
    turn.log.sources.said += f"\n{question.own_words}"


async def commit_done(services: Services, turn: Turn, result: TurnResult) -> list[OutboxRow]:
    """End a turn with its answer; return the outbox rows to send."""
    final = final_of(result)
    sends = [outbound for outbound in result.unsent if outbound.text.strip()]
    answer = message("assistant", final, final=True, **turn.log.answer_meta)
    entries = [answer] if final.strip() else []
    entries += [outbound_event(send, final) for send in sends]
    if turn.log.waiting is None:
        return await _end(services, turn, "done", entries, sends)
    card, asks = confirm_card(services, turn, turn.log.waiting)
    asks = placed(asks, sends)
    entries += [message("assistant", asks.text, final=True), outbound_event(asks, asks.text)]
    more = {"waits": turn.log.waiting.name}
    return await _end(services, turn, "done", entries, [*sends, asks], more, card)


def final_of(result: TurnResult) -> str:
    """Return the text of a turn's final message."""
    return result.model_output if result.final_text is None else result.final_text


async def commit_failed(
    services: Services, turn: Turn, notice: OutboundMessage, reason: dict[str, Any]
) -> list[OutboxRow]:
    """End a turn with a notice that it failed; return the outbox rows to send."""
    entries = [error(reason["error"], error_id=reason["error_id"]), outbound_event(notice)]
    return await _end(services, turn, "failed", entries, [notice], reason)


async def commit_stopped(
    services: Services, turn: Turn, sends: Sequence[OutboundMessage], final: str | None
) -> list[OutboxRow]:
    """End a stopped turn; `final` is the text so far, or None if only a notice is sent."""
    by = {name: turn.stopped_by[name] for name in ("by", "name") if name in turn.stopped_by}
    said = [] if final is None else [message("assistant", final, final=True, stopped=by)]
    entries = [*said, *(outbound_event(send, final) for send in sends)]
    return await _end(services, turn, "stopped", entries, sends, turn.stopped_by)


async def begun_before(tape: Tape, question: Question) -> str:
    """Return the id of an open turn that has taken the question on its tape, or ""."""
    wanted = set(question.entry_ids)
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
    """End a turn in the ledger as it ended on its tape; return None if the tape has no end.

    After a crash between two commits, only a tape outside the ledger's database can be ahead.
    """
    if services.store.one_transaction:
        return None
    own = await turn.tape.find(turn=turn.id)
    ends = [entry for entry in own if entry.name == TURN_END]
    if not ends:
        return None
    finals = [entry.text for entry in own if entry.kind == MESSAGE and entry.meta.get("final")]
    sends = [
        _recorded_send(turn, entry.payload["data"], finals)
        for entry in own
        if entry.name == OUTBOUND
    ]
    return await _end(services, turn, ends[0].payload["data"]["status"], [], sends)


def _recorded_send(turn: Turn, data: Mapping[str, Any], finals: Sequence[str]) -> OutboundMessage:
    address = address_of(turn.message)
    if (data["channel"], data["chat"]) != (address["channel"], address["chat_id"]):
        address = {"channel": data["channel"], "chat_id": data["chat"]}
    part = str(data["idem"]).rpartition(":")[2]
    return OutboundMessage(
        **address,
        text=data.get("text", finals[-1] if finals else ""),
        idem=data["idem"],
        kind=data["kind"],
        turn=turn.id,
        part=int(part) if part.isdigit() else 0,
    )


async def _end(
    services: Services,
    turn: Turn,
    status: str,
    entries: list[NewEntry],
    sends: Sequence[OutboundMessage],
    more: Mapping[str, Any] | None = None,
    card: Card | None = None,
) -> list[OutboxRow]:
    end = event(TURN_END, {"turn": turn.id, "status": status, **(more or {})})
    unit = Unit()
    question = turn.question
    services.ledger.leases.fence(unit, question.session_id, turn.epoch)
    asked = await ask(services, unit, turn) if status == "done" else []
    entries = [*entries, *map(outbound_event, asked), end]
    stamped = [turn.log.stamp(entry) for entry in entries]
    unit.append(question.tape, [*turn.log.deferred, *stamped], key=f"turn:{turn.id}:end")
    services.ledger.inbox.end(unit, turn.took, status)
    if card is not None:
        services.ledger.cards.issue(unit, card)
    prices = turn.chosen[-1] if turn.chosen else services.settings
    used = await record_usage(services, unit, question, turn.id, prices, turn.log)
    if not any(send.part == 0 for send in sends):
        services.ledger.outbox.drop_draft(unit, turn.id)
    sends = [*sends, *asked]
    rows = await commit_with_sends(
        services, unit, sends, question.session_id, question.lane, turn.said.first_at, turn.wrote
    )
    newest = question.rows[-1]
    services.meters.turn_ended(newest.message.channel, status, turn.id, newest.received_at)
    count_usage(services.meters, used)
    return rows
