"""Anchors that a model only suggested: a card asks those who may set one there.

The anchor repeats the suggestion's name and state. It counts from when it is accepted, and what
came after the suggestion is shown again after it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from agent.anchoring import may_anchor, refusal
from agent.anchors import check_name
from agent.tool import Role
from agent.tools.words import as_code
from channels.message import InboundMessage
from gateway.errors import CommandRefused
from gateway.pipeline.turn import Question
from gateway.scheduling.presses import NOT_YOURS, UNKNOWN, Settled
from gateway.services import Services
from gateway.storage.ledger.cards import Card
from gateway.turn.suggestion_card import ACCEPT, PURPOSE, suggestion_of
from tape.context import LATEST, view_entries
from tape.entry import MESSAGE, Entry, handoff
from tape.handle import Tape
from tape.turn_events import TurnRetake
from tape.unit_of_work import Unit

DECLINED: Final = "No checkpoint was set."


async def open_suggestion(services: Services, question: Question) -> Card | None:
    """Return the newest card of the question's conversation that nobody has answered."""
    now = services.clock.now()
    cards = await services.ledger.cards.open(PURPOSE, now, question.session_id)
    own = [card for card in cards if card.data["lane"] == question.lane]
    return own[-1] if own else None


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Sets a suggested anchor once somebody who may has accepted it."""

    _services: Services
    _role: Callable[[InboundMessage], Awaitable[Role]]

    async def settle(self, card: Card, choice: str, by: InboundMessage) -> Settled:
        if await self._services.pipeline.resolve_session(by) != card.session_id:
            raise CommandRefused(NOT_YOURS)  # in another chat, a person may have another role
        tape, lane = self._services.tapes.tape(card.data["tape"]), card.data["lane"]
        asker, shared = f"{by.channel}:{by.sender.id}", by.chat_kind == "group"
        if not await may_anchor(tape, lane, asker, await self._role(by), shared=shared):
            raise CommandRefused(refusal(lane))
        if choice != ACCEPT:
            return Settled(DECLINED)
        suggested = await suggestion_of(tape, card.data["turn"])
        if suggested is None:
            raise CommandRefused(UNKNOWN)
        data = suggested.payload["data"]
        name = check_name(str(data["name"]))
        meta = {**suggested.meta, "suggested": suggested.id, "accepted_by": asker}
        since = TurnRetake(str(meta["turn"]), await _since(tape, lane, suggested)).to_entry()
        unit = Unit()
        entries = [replace(entry, meta=meta) for entry in handoff(name, data["state"])]
        again = replace(since, meta={key: meta[key] for key in ("turn", "lane") if key in meta})
        unit.append(tape.name, [*entries, again], key=f"suggestion:{card.card_id}")
        return Settled(f"I've set the checkpoint {as_code(name)}.", unit=unit)


async def _since(tape: Tape, lane: str | None, suggested: Entry) -> tuple[int, ...]:
    """Return the messages that the conversation's view shows after a suggestion."""
    shown = await view_entries(tape, LATEST, lane)
    messages = [entry.id for entry in shown if entry.kind == MESSAGE]
    return tuple(number for number in messages if number > suggested.id)
