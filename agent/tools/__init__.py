"""The tools that come with Tapeway.

info      tape.info, tape.context_summary
search    tape.search
anchors   tape.anchors, tape.handoff
context   tape.context
subagent  subagent
help      lists the tools, and offers the model more of them
"""

from agent.tool import Tool
from agent.tools.anchors import ANCHORS, HANDOFF
from agent.tools.context import CONTEXT
from agent.tools.help import HELP
from agent.tools.info import CONTEXT_SUMMARY, INFO
from agent.tools.search import SEARCH
from agent.tools.subagent import SUBAGENT

TAPE_TOOLS: tuple[Tool, ...] = (INFO, SEARCH, ANCHORS, HANDOFF, CONTEXT, CONTEXT_SUMMARY)

BUILTIN_TOOLS: tuple[Tool, ...] = (HELP, *TAPE_TOOLS, SUBAGENT)

__all__ = ["BUILTIN_TOOLS", "TAPE_TOOLS"]
