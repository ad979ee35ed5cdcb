"""The tool `help`: list the tools, and offer more of them."""

from __future__ import annotations

from pydantic import Field

from agent.tool import Arguments, Tool, ToolContext, wire_name


class HelpArguments(Arguments):
    """The tools to add."""

    tools: list[str] = Field(
        default_factory=list, description="names of tools to make callable in this turn"
    )


async def run_help(arguments: HelpArguments, context: ToolContext) -> object:
    """List every tool, and offer the named ones in this turn."""
    known = context.known or {}
    listed = {name: tool.description for name, tool in known.items()}
    if not arguments.tools:
        return {"tools": listed}
    added = context.offer(arguments.tools)
    found = {wire_name(name) for name in added}
    unknown = [name for name in arguments.tools if wire_name(name) not in found]
    return {"added": added, "unknown": unknown, "tools": listed if unknown else {}}


HELP = Tool(
    name="help",
    description="List all tools; name some to make them callable.",
    arguments=HelpArguments,
    run=run_help,
    repeatable=True,
    first=True,
)
