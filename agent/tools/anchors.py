"""The tools `tape.anchors` and `tape.handoff`, which list and set checkpoints of a tape."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agent.anchors import check_name, rests_on, shown_since, state_of
from agent.errors import ToolRefused
from agent.tool import ToolContext
from agent.tool_decorator import tool


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


@tool(name="tape.handoff", first=True)
async def hand_off(
    context: ToolContext,
    name: Annotated[
        str, Field(min_length=1, max_length=100, description="e.g. task/done or phase:review")
    ],
    summary: Annotated[str, Field(max_length=4000, description="what to know from here on")] = "",
    next_steps: Annotated[str, Field(max_length=2000, description="what remains to be done")] = "",
) -> object:
    """Set a checkpoint with a summary when a task is done or the subject changes."""
    if not context.sets_anchors:
        raise ToolRefused("only admins may set an anchor here: it affects the whole group")
    name = check_name(name)
    shown = await shown_since(context.tape, context.lane, context.turn)
    state = state_of(summary, next_steps, rests_on(shown))
    anchor = await context.tape.handoff(name, state, **context.meta())
    return {"anchor": anchor.name, "id": anchor.id}
