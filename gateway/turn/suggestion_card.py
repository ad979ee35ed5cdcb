"""The card that asks whether an anchor is set which a turn could only suggest."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from agent.tools.words import as_code
from agent.turn_log import SUGGESTION
from channels.message import OutboundMessage
from gateway.hooks.messages import address_of
from gateway.pipeline.turn import Turn
from gateway.services import Services
from gateway.storage.ledger.cards import Card, new_card_id
from gateway.turn.confirm_card import fenced, visible
from tape.entry import EVENT, Entry
from tape.handle import Tape
from tape.unit_of_work import Unit

PURPOSE: Final = "suggestion"
ACCEPT: Final = "yes"
OPEN_FOR: Final = timedelta(days=7)
ASKS: Final = (
    "I suggest setting the checkpoint {name} here. Of what came before, I would then see {what}"
    "\n\nWhoever began this conversation may accept it, unless others have asked in it since; an"
    " admin always may."
)


async def suggestion_of(tape: Tape, turn: str) -> Entry | None:
    """Return the newest anchor that a turn suggested."""
    found = await tape.find(turn=turn, kinds=(EVENT,), name=SUGGESTION, limit=1, newest=True)
    return found[0] if found else None


async def ask(services: Services, unit: Unit, turn: Turn) -> list[OutboundMessage]:
    """Add the card of a turn's suggestion, if it made one, to the unit that ends the turn."""
    made = turn.log.suggestion
    suggested = made or (await suggestion_of(turn.tape, turn.id) if turn.question.turn_id else None)
    if suggested is None:
        return []
    data = suggested.payload["data"]
    card = Card(
        new_card_id(),
        PURPOSE,
        channel=turn.message.channel,
        person="",
        session_id=turn.question.session_id,
        data={"tape": turn.tape.name, "turn": turn.id, "lane": turn.question.lane},
        expires_at=services.clock.now() + OPEN_FOR,
    )
    services.ledger.cards.issue(unit, card)
    # Whoever accepts it must have seen all of it: it is what everybody here is shown later.
    words = [str(data["state"].get(key, "")) for key in ("summary", "next_steps")]
    lines = [visible(line) for line in "\n".join(filter(None, words)).splitlines()]
    shown = "\n".join(lines)
    what = f"only this:\n\n{fenced(shown)}" if lines else "nothing."
    text = ASKS.format(name=as_code(data["name"]), what=what)
    buttons = (card.button("Set it", ACCEPT), card.button("No", "no"))
    address = {**address_of(turn.message), "answers": None}
    idem = f"n-suggestion:{turn.id}"
    return [OutboundMessage(**address, text=text, kind="notice", idem=idem, buttons=buttons)]
