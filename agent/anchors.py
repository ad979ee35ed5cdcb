"""The names and states of the anchors that the agent sets.

A state has `summary`, `next_steps` and `rests_on`: the ids of the messages and results shown in the
view since the previous anchor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from agent.errors import ToolRefused
from agent.names import shown_name
from tape.context import LATEST, view_entries
from tape.entry import ANCHOR, MESSAGE, TOOL_RESULT, Entry
from tape.handle import Tape
from tape.lanes import shown_in

RESERVED: Final = ("session/", "context:", "auto_handoff/")
"""Prefixes of anchor names that only the gateway may set."""

MAX_NAME_CHARACTERS: Final = 100
MAX_RESTED_ON: Final = 100
"""Maximum ids in a state, since a state is part of every prompt that begins at its anchor."""

MAX_PERSON_CHARACTERS: Final = 60
EXCERPT_CHARACTERS: Final = 200
MAX_EXCERPTS: Final = 8
HINT: Final = "hint"  # the key in `meta` that marks a message as a system hint


def check_name(name: str) -> str:
    """Return an anchor's name, stripped; raises ToolRefused if the name is not allowed."""
    name = name.strip()
    if not name or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        raise ToolRefused(
            f"the name of an anchor is one line of 1 to {MAX_NAME_CHARACTERS} characters, such as"
            " task/done or phase:review"
        )
    if name.casefold().startswith(RESERVED):
        raise ToolRefused(
            f"only the gateway sets the anchor {name}: use a name such as task/done or phase:review"
        )
    return name


def state_of(summary: str, next_steps: str, rests_on: Sequence[int]) -> dict[str, Any]:
    """Return an anchor's state without empty fields."""
    state = {"summary": summary, "next_steps": next_steps, "rests_on": list(rests_on)}
    return {name: value for name, value in state.items() if value}


async def shown_since(tape: Tape, lane: str | None, turn: str) -> list[Entry]:
    """Return the anchor at which a turn's view starts, then the view's messages and results.

    Without a turn (for a command), the newest messages and results since the anchor follow.
    """
    if turn:
        entries = await view_entries(tape, LATEST, lane, turn)
    else:
        entries = await _newest_since(tape, lane)
    return [
        entry
        for entry in entries
        if entry.kind in (ANCHOR, MESSAGE, TOOL_RESULT) and not {HINT, "command"} & set(entry.meta)
    ]


async def _newest_since(tape: Tape, lane: str | None) -> list[Entry]:
    anchor = await tape.last_anchor(lane=lane)
    found = await tape.find(
        after=anchor.id if anchor else 0,
        lane=lane,
        kinds=(MESSAGE, TOOL_RESULT),
        limit=MAX_RESTED_ON,
        newest=True,
    )
    found = [entry for entry in found if shown_in(entry, lane)]
    return [anchor, *found] if anchor else found


def rests_on(shown: Iterable[Entry]) -> list[int]:
    """Return the ids for an anchor's `rests_on`, the newest ones if there are too many."""
    return [entry.id for entry in shown if entry.kind != ANCHOR][-MAX_RESTED_ON:]


def excerpts(shown: Sequence[Entry]) -> str:
    """Return excerpts of the agent's answers, to use as the summary of an automatic anchor."""
    # Leave out people's words: a summary would still show them after they are deleted.
    lines: list[str] = []
    to = "somebody"
    for entry in shown:
        if entry.kind == ANCHOR:
            earlier = (entry.payload.get("state") or {}).get("summary")
            lines = (
                [f"Before that: {_cut(str(earlier), 2 * EXCERPT_CHARACTERS)}"] if earlier else []
            )
        elif entry.meta.get("author"):
            to = who(entry)
        elif entry.payload.get("role") == "assistant" and entry.text.strip():
            lines.append(f"I answered {to}: {_cut(entry.text, EXCERPT_CHARACTERS)}")
    return "\n".join([*lines[:1], *lines[1:][-MAX_EXCERPTS:]])


def who(entry: Entry) -> str:
    """Return the short number and the name of an entry's author, or the id in older entries."""
    number = entry.meta.get("number")
    if isinstance(number, int):
        return shown_name(str(entry.meta.get("name") or ""), number)
    return f"{shown_name(str(entry.meta.get('name') or ''), None)} (id {entry.meta['author']})"


def bare_text(entry: Entry) -> str:
    """Return the text of an entry without the frame for the model."""
    text = entry.meta.get("text")
    return text if isinstance(text, str) and text else entry.text


def _cut(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[:limit]}..."
