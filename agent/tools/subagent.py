"""The tool `subagent` gives a task to a second run of the agent's loop, on a fork of the tape."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from agent.errors import ToolRefused
from agent.tool import ToolContext
from agent.tool_decorator import tool

TIMEOUT_SECONDS: Final = 600.0


@tool(name="subagent", taints="", timeout=TIMEOUT_SECONDS)
async def give_task(
    context: ToolContext,
    task: Annotated[
        str, Field(min_length=1, max_length=8000, description="everything that is needed to do it")
    ],
) -> object:
    """Give a task to a helper that can search this tape; its answer comes back."""
    if context.give is None:
        raise ToolRefused("a subagent is not available here: do it yourself")
    return await context.give(task)
