"""Using a tool by its name, on a real tape."""

from __future__ import annotations

from typing import Any

from agent.tool import Role, Tool, ToolContext
from agent.tools import BUILTIN_TOOLS
from tape.handle import Tape

TOOLS: dict[str, Tool] = {tool.name: tool for tool in BUILTIN_TOOLS}


async def use(tape: Tape, called: str, lane: str | None = None, /, **arguments: Any) -> Any:
    """Run a tool in a member's turn `t-1`."""
    return await use_in(ToolContext(tape, Role.MEMBER, lane, "t-1"), called, **arguments)


async def use_in(context: ToolContext, called: str, /, **arguments: Any) -> Any:
    """Run a tool in a turn of one's own making."""
    tool = TOOLS[called]
    return await tool.run(tool.check(arguments), context)
