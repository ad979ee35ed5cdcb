"""What people think of answers: each thumb up or down, and each one taken back, is an event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from channels.errors import InboundRefused
from channels.message import Reactions
from gateway.services import Services
from tape.entry import MESSAGE, Entry, event
from tape.handle import Tape
from tape.turn_events import OUTBOUND

REACTION: Final = "answer.reaction"
VALUES: Final = ("up", "down", "")
MAX_CHANGES: Final = 20
"""Maximum events of one person about one answer: each is kept for good."""

TOO_OFTEN: Final = "You have changed this too often."


def reactions_in(entries: Sequence[Entry]) -> dict[str, Reactions]:
    """Return what people think now of the answers that events among entries are about, by id."""
    by: dict[str, dict[str, str]] = defaultdict(dict)
    newest: dict[str, int] = {}
    for entry in entries:
        answer, author, value = _read(entry)
        if answer and author and value in VALUES:
            by[answer][author] = value
            newest[answer] = entry.id
    return {
        answer: Reactions({who: value for who, value in own.items() if value}, newest[answer])
        for answer, own in by.items()
    }


async def react(
    services: Services, tape: Tape, answer: str, person: str, value: str
) -> Reactions | None:
    """Record what a person thinks of an answer; return what all think, or None if it is none.

    The value is `up`, `down`, or "" to take it back. Raises InboundRefused for too many changes.
    """
    turn = answer.rpartition(":")[0]
    own = await tape.find(turn=turn) if turn else []
    sent = next((entry for entry in own if _is_answer(entry, answer)), None)
    if sent is None:
        return None
    known = reactions_in(own).get(answer, Reactions())
    if known.by.get(person, "") == value:
        return known
    if sum(_read(entry)[:2] == (answer, person) for entry in own) >= MAX_CHANGES:
        raise InboundRefused(TOO_OFTEN)
    final = next((one for one in own if one.kind == MESSAGE and one.meta.get("final")), sent)
    data = {"entry": final.id, "answer": answer, "author": person, "value": value}
    lane = {"lane": final.meta["lane"]} if "lane" in final.meta else {}
    said = event(REACTION, data, turn=turn, **lane)
    await services.guard.once(lambda: tape.append(said))
    return reactions_in(await tape.find(turn=turn)).get(answer, known)


def _is_answer(entry: Entry, answer: str) -> bool:
    data = entry.payload.get("data")
    if entry.name != OUTBOUND or not isinstance(data, dict):
        return False
    return data.get("kind") == "answer" and data.get("idem") == answer


def _read(entry: Entry) -> tuple[str, str, str]:
    """Return an event's answer, person and value; "" for what it has not."""
    data = entry.payload.get("data") if entry.name == REACTION else None
    found = data if isinstance(data, dict) else {}
    answer, author, value = (str(found.get(one, "")) for one in ("answer", "author", "value"))
    return answer, author, value
