"""Anchors that the agent sets: their names, their state, and what an automatic one says.

A state has `summary`, `next_steps` and `rests_on`: the ids of the messages and results that the
view showed since the anchor before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from agent.errors import ToolRefused
from tape.context import LATEST, view_entries
from tape.entry import ANCHOR, MESSAGE, TOOL_RESULT, Entry
from tape.handle import Tape

RESERVED: Final = ("session/", "context:", "auto_handoff/")
"""Anchors by which the gateway knows where a tape begins and what a turn has had."""

LONGEST_NAME: Final = 100
MOST_RESTED_ON: Final = 100
"""The state stands in every prompt that begins at its anchor: more ids would cost too much."""

LONGEST_PERSON: Final = 60
EXCERPT: Final = 200
MOST_EXCERPTS: Final = 8
HINT: Final = "hint"
"""The key in the meta of a message that is the gateway's own word to the model."""


def check_name(name: str) -> str:
    """Return the name of an anchor as it is written; raises ToolRefused with what is wrong."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ToolRefused(
            f"the name of an anchor is one line of 1 to {LONGEST_NAME} characters, such as"
            " task/done or phase:review"
        )
    if name.casefold().startswith(RESERVED):
        raise ToolRefused(
            f"the anchor {name} is set by the gateway only: use a name such as task/done or"
            " phase:review"
        )
    return name


def state_of(summary: str, next_steps: str, rests_on: Sequence[int]) -> dict[str, Any]:
    """Return the state of an anchor; what is empty is left out."""
    state = {"summary": summary, "next_steps": next_steps, "rests_on": list(rests_on)}
    return {name: value for name, value in state.items() if value}


async def shown_since(tape: Tape, lane: str | None, turn: str) -> list[Entry]:
    """Return what a turn's view shows since its anchor: that first, then messages and results.

    Without a turn (a person's line) nothing is shown: the newest of what was said since then.
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
        limit=MOST_RESTED_ON,
        newest=True,
    )
    return [anchor, *found] if anchor else found


def rests_on(shown: Iterable[Entry]) -> list[int]:
    """Return the ids on which an anchor rests, the newest of them where there are many."""
    return [entry.id for entry in shown if entry.kind != ANCHOR][-MOST_RESTED_ON:]


def excerpts(shown: Sequence[Entry]) -> str:
    """Return what the agent has answered, as the summary of an anchor that it wrote none for.

    Nobody else's words: those must leave every view when they are deleted.
    """
    lines: list[str] = []
    to = "somebody"
    for entry in shown:
        if entry.kind == ANCHOR:
            earlier = (entry.payload.get("state") or {}).get("summary")
            lines = [f"Before that: {_cut(str(earlier), 2 * EXCERPT)}"] if earlier else []
        elif entry.meta.get("author"):
            to = who(entry)
        elif entry.payload.get("role") == "assistant" and entry.text.strip():
            lines.append(f"I answered {to}: {_cut(entry.text, EXCERPT)}")
    return "\n".join([*lines[:1], *lines[1:][-MOST_EXCERPTS:]])


def who(entry: Entry) -> str:
    """Name who wrote an entry, in one line: a name is what somebody calls themselves."""
    name = _cut(str(entry.meta.get("name") or "somebody"), LONGEST_PERSON)
    return f"{name} (id {entry.meta['author']})"


def bare_text(entry: Entry) -> str:
    """Return what was said without the frame around it."""
    text = entry.meta.get("text")
    return text if isinstance(text, str) and text else entry.text


def _cut(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]}..."
