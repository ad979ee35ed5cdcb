"""Who may set an anchor: it decides what everybody in a conversation is shown.

In a conversation, that is whoever began it, as long as nobody else has asked in it, and admins. A
model's anchor in a view with the text of others is only the event `anchor.suggestion {name, state}`
until one of them accepts it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from agent.powers import OTHERS_LANES, TAPE_WIDE, may
from agent.taint import TAINT, author_of
from agent.tool import Role, ToolContext
from agent.turn_log import SUGGESTION
from tape.entry import ANCHOR, MESSAGE, Entry, NewEntry, event
from tape.excerpts import header_of as frame_header
from tape.handle import ForkTape, Tape

FRAMED: Final = "framed"
"""The key in `meta` of a person's anchor with the message that shows it in the gateway's views."""

ADMINS_ONLY: Final = "only admins may set an anchor here: it affects the whole group"
NOT_YOURS: Final = (
    "only an admin, or who began this conversation while nobody else has asked in it, may set an"
    " anchor here: it decides what everybody here is shown"
)


async def may_anchor(tape: Tape, lane: str | None, asker: str, role: Role, *, shared: bool) -> bool:
    """Return whether a person (`channel:id`) may set an anchor in a lane, or for the whole chat."""
    if may(TAPE_WIDE if lane is None else OTHERS_LANES, role, shared=shared):
        return True
    if lane is None or not shared:
        return not shared
    said = await tape.find(lane=lane, kinds=(MESSAGE,))
    people = [one for one in said if "author" in one.meta and "command" not in one.meta]
    asked = {author_of(one) for one in people if one.meta.get("addressed")}
    began = author_of(people[0]) if people else asker
    return began == asker and asked <= {asker}


def refusal(lane: str | None) -> str:
    """Return why a person may not set an anchor in a lane, or for the whole chat."""
    return ADMINS_ONLY if lane is None else NOT_YOURS


async def anchors_at_once(context: ToolContext, shown: Iterable[Entry]) -> bool:
    """Return whether a model's anchor counts at once, and needs nobody to accept it."""
    if isinstance(context.tape, ForkTape):
        return True  # nobody's view is built from a subagent's fork
    if context.taint or any(_is_others(entry, context.asker) for entry in shown):
        return False
    place = (context.tape, context.lane, context.asker, context.role)
    return await may_anchor(*place, shared=context.shared)


def suggestion(name: str, state: dict[str, Any]) -> NewEntry:
    return event(SUGGESTION, {"name": name, "state": state})


def _is_others(entry: Entry, asker: str) -> bool:
    return author_of(entry) not in ("", asker) or bool(entry.meta.get(TAINT))


def framed(header: str, name: str, summary: str, next_steps: str) -> str:
    """Return a person's anchor as a message of that person, below the header of the frame."""
    lines = [f"Checkpoint {name}", *summary.splitlines()]
    if next_steps:
        first, *rest = next_steps.splitlines()
        lines += [f"Next steps: {first}", *rest]
    return "\n".join([header, *(f"> {line}" for line in lines)])


def header_of(text: str) -> str:
    """Return the header of a framed message."""
    return frame_header(text) or "[a person]"


def as_said(entries: Iterable[Entry]) -> list[Entry]:
    """Return a view's entries, in which an anchor that a person gave is a message of theirs."""
    return [_said(entry) for entry in entries]


def _said(entry: Entry) -> Entry:
    text = entry.meta.get(FRAMED)
    if entry.kind != ANCHOR or not isinstance(text, str):
        return entry
    return replace(entry, kind=MESSAGE, payload={"role": "user", "content": text})
