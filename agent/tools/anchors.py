"""The tools `tape.anchors` and `tape.handoff`: the checkpoints of a tape."""

from __future__ import annotations

from pydantic import Field

from agent.anchors import check_name, rests_on, shown_since, state_of
from agent.errors import ToolRefused
from agent.tool import Arguments, Tool, ToolContext


class AnchorsArguments(Arguments):
    """The number of anchors."""

    limit: int = Field(20, ge=1, le=100, description="how many of the newest")


class HandoffArguments(Arguments):
    """The anchor to set."""

    name: str = Field(min_length=1, max_length=100, description="e.g. task/done or phase:review")
    summary: str = Field("", max_length=4000, description="what to know from here on")
    next_steps: str = Field("", max_length=2000, description="what remains to be done")


async def run_anchors(arguments: AnchorsArguments, context: ToolContext) -> object:
    """List the newest anchors, the oldest first."""
    anchors = await context.tape.anchors(arguments.limit)
    return {
        "anchors": [
            {
                "id": entry.id,
                "name": entry.name,
                "date": entry.date,
                "state": entry.payload["state"],
            }
            for entry in anchors
        ]
    }


async def run_handoff(arguments: HandoffArguments, context: ToolContext) -> object:
    """Set an anchor; from the next turn on, only search finds the entries before it."""
    if not context.sets_anchors:
        raise ToolRefused("only admins may set an anchor here: it affects the whole group")
    name = check_name(arguments.name)
    shown = await shown_since(context.tape, context.lane, context.turn)
    state = state_of(arguments.summary, arguments.next_steps, rests_on(shown))
    anchor = await context.tape.handoff(name, state, **context.meta())
    return {"anchor": anchor.name, "id": anchor.id}


ANCHORS = Tool(
    name="tape.anchors",
    description="List the checkpoints of this chat.",
    arguments=AnchorsArguments,
    run=run_anchors,
    repeatable=True,
)

HANDOFF = Tool(
    name="tape.handoff",
    description="Set a checkpoint with a summary when a task is done or the subject changes.",
    arguments=HandoffArguments,
    run=run_handoff,
    first=True,
)
