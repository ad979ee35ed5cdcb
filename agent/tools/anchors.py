"""The tools `tape.anchors` and `tape.handoff`, which list and set checkpoints of a tape."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from agent.anchoring import FRAMED, anchors_at_once, framed, may_anchor, refusal, suggestion
from agent.anchors import check_name, rests_on, shown_since, state_of
from agent.errors import ToolRefused
from agent.tool import ToolContext
from agent.tool_decorator import tool
from tape.entry import handoff

SUGGESTED: Final = (
    "Others have written in this view, so this is only a suggestion: whoever began the"
    " conversation, or an admin, is asked with a button. Answer as usual."
)


@tool(name="tape.anchors", side_effects=False)
async def list_anchors(
    context: ToolContext,
    limit: Annotated[int, Field(ge=1, le=100, description="how many of the newest")] = 20,
) -> object:
    """List the checkpoints of this chat."""
    anchors = await context.tape.anchors(limit)
    return {
        "anchors": [
            {
                "id": entry.id,
                "name": entry.name,
                "date": entry.date,
                "state": entry.payload.get("state"),
            }
            for entry in anchors
        ]
    }


@tool(name="tape.handoff", taints="", first=True)
async def hand_off(
    context: ToolContext,
    name: Annotated[
        str, Field(min_length=1, max_length=100, description="e.g. task/done or phase:review")
    ],
    summary: Annotated[str, Field(max_length=4000, description="what to know from here on")] = "",
    next_steps: Annotated[str, Field(max_length=2000, description="what remains to be done")] = "",
) -> object:
    """Set a checkpoint with a summary when a task is done or the subject changes."""
    name = check_name(name)
    shown = await shown_since(context.tape, context.lane, context.turn)
    state = state_of(summary, next_steps, rests_on(shown))
    if context.given:
        return await _given(context, name, state)
    if await anchors_at_once(context, shown):
        anchor = await context.tape.handoff(name, state, **context.meta())
        return {"anchor": anchor.name, "id": anchor.id}
    if context.record is None:
        raise ToolRefused(refusal(context.lane))
    await context.record(suggestion(name, state))
    return {"suggested": name, "note": SUGGESTED}


async def _given(context: ToolContext, name: str, state: dict[str, Any]) -> object:
    """Set the anchor that a person gives by a command."""
    place = (context.tape, context.lane, context.asker, context.role)
    if not await may_anchor(*place, shared=context.shared):
        raise ToolRefused(refusal(context.lane))
    words = (str(state.get(key, "")) for key in ("summary", "next_steps"))
    text = framed(str(context.given[FRAMED]), name, *words)
    meta = {**context.meta(), **context.given, FRAMED: text}
    entries = [replace(entry, meta=meta) for entry in handoff(name, state)]
    anchor, _event = await context.tape.append(*entries)
    return {"anchor": anchor.name, "id": anchor.id}
