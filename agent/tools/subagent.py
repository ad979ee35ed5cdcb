"""The tool `subagent`: a task of its own for a second loop of the agent, on a fork of the tape."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from agent.errors import ToolRefused
from agent.tool import Arguments, Tool, ToolContext

SECONDS: Final = 600.0


class SubagentArguments(Arguments):
    """The task."""

    task: str = Field(
        min_length=1, max_length=8000, description="everything that is needed to do it"
    )


async def run_subagent(arguments: SubagentArguments, context: ToolContext) -> object:
    """Give a task to a subagent; its answer is the result."""
    if context.give is None:
        raise ToolRefused("a subagent can be had only in an answer of the model, and not deeper")
    return await context.give(arguments.task)


SUBAGENT = Tool(
    name="subagent",
    description="Give a task to a helper that can search this tape; its answer comes back.",
    arguments=SubagentArguments,
    run=run_subagent,
    timeout=SECONDS,
)
