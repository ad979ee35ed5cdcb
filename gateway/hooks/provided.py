"""Collect the tools of all plugins, without those whose names clash."""

from __future__ import annotations

from agent.tool import Tool
from gateway.hooks.runtime import BUILTIN, HookRuntime, Implementation


async def provided_tools(hooks: HookRuntime) -> list[Tool]:
    """Return every plugin's tools; the first of each name wins.

    Tools whose names differ, but not as providers see them, cannot both be offered: a builtin tool
    stays, and among plugins the one that comes first.
    """
    found: dict[str, tuple[Implementation, Tool]] = {}
    for source, tools in await hooks.contributions("provide_tools"):
        for tool in tools or ():
            found.setdefault(tool.name, (source, tool))
    chosen: dict[str, Tool] = {}
    for source, tool in sorted(found.values(), key=lambda pair: pair[0].plugin_name != BUILTIN):
        rival = chosen.setdefault(tool.wire_name, tool)
        if rival is not tool:
            source.fault(
                f"returned the tool {tool.name!r}, which looks like {rival.name!r} to providers",
                "Rename the tool: dots and other signs become underscores.",
            )
    return list(chosen.values())
