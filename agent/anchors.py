"""The anchors that the agent sets: their names and their state.

A state has `summary`, `next_steps` and `rests_on`: the ids of the messages and results that the
view showed since the previous anchor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from agent.errors import ToolRefused
from tape.context import LATEST, view_entries
from tape.entry import ANCHOR, MESSAGE, TOOL_RESULT, Entry
from tape.handle import Tape

RESERVED: Final = ("session/", "context:", "auto_handoff/")
"""Prefixes of the anchors that only the gateway sets."""

MAX_NAME_CHARACTERS: Final = 100
MAX_RESTED_ON: Final = 100
"""Maximum ids in a state, which is part of every prompt that begins at its anchor."""

MAX_PERSON_CHARACTERS: Final = 60
EXCERPT_CHARACTERS: Final = 200
MAX_EXCERPTS: Final = 8
HINT: Final = "hint"
"""The key in `meta` that marks a message as a system hint."""


def check_name(name: str) -> str:
    """Return the name of an anchor, stripped; raises ToolRefused for one that is not allowed."""
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
    """Return the state of an anchor without its empty fields."""
    state = {"summary": summary, "next_steps": next_steps, "rests_on": list(rests_on)}
    return {name: value for name, value in state.items() if value}


async def shown_since(tape: Tape, lane: str | None, turn: str) -> list[Entry]:
    """Return the anchor of a turn's view, then the messages and results that it shows.

    Without a turn (for a command), the newest ones since the anchor.
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
    return [anchor, *found] if anchor else found


def rests_on(shown: Iterable[Entry]) -> list[int]:
    """Return the ids that an anchor rests on, the newest if there are too many."""
    return [entry.id for entry in shown if entry.kind != ANCHOR][-MAX_RESTED_ON:]


def excerpts(shown: Sequence[Entry]) -> str:
    """Return excerpts of the agent's answers, as the summary of an automatic anchor."""
    # People's words stay out: a summary would keep them in view after they are deleted.
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
    """Return the author of an entry in one line."""
    # People choose their names: one may be long, or hold line breaks.
    name = _cut(str(entry.meta.get("name") or "somebody"), MAX_PERSON_CHARACTERS)
    return f"{name} (id {entry.meta['author']})"


def bare_text(entry: Entry) -> str:
    """Return the text of an entry without its frame."""
    text = entry.meta.get("text")
    return text if isinstance(text, str) and text else entry.text


def _cut(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[:limit]}..."
