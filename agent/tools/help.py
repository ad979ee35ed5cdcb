"""The tool `help` lists the tools, and offers the model more of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agent.tool import ToolContext, wire_name
from agent.tool_decorator import tool


@tool(name="help", side_effects=False, taints="", first=True)
async def offer_tools(
    context: ToolContext,
    tools: Annotated[
        list[str],
        Field(default_factory=list, description="names of tools to make callable in this turn"),
    ],
) -> object:
    """List all tools; name some to make them callable."""
    known = context.known or {}
    listed = {name: tool.description for name, tool in known.items()}
    if not tools:
        return {"tools": listed}
    added = context.offer(tools)
    found = {wire_name(name) for name in added}
    unknown = [name for name in tools if wire_name(name) not in found]
    return {"added": added, "unknown": unknown, "tools": listed if unknown else {}}
