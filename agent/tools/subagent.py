"""The tool `subagent`: give a task to a second loop of the agent, on a fork of the tape."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from agent.errors import ToolRefused
from agent.tool import Arguments, Tool, ToolContext

TIMEOUT_SECONDS: Final = 600.0


class SubagentArguments(Arguments):
    """The task."""

    task: str = Field(
        min_length=1, max_length=8000, description="everything that is needed to do it"
    )


async def run_subagent(arguments: SubagentArguments, context: ToolContext) -> object:
    """Give a task to a subagent and return its answer."""
    if context.give is None:
        raise ToolRefused("only the model can use a subagent, at most two levels deep")
    return await context.give(arguments.task)


SUBAGENT = Tool(
    name="subagent",
    description="Give a task to a helper that can search this tape; its answer comes back.",
    arguments=SubagentArguments,
    run=run_subagent,
    timeout=TIMEOUT_SECONDS,
)
