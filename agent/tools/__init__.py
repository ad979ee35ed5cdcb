"""The tools that come with Tapeway.

tape_tools    tape.info, tape.search, tape.anchors, tape.handoff
help          names the tools, and offers the model more of them
"""

from agent.tool import Tool
from agent.tools.help import HELP
from agent.tools.tape_tools import TAPE_TOOLS

BUILTIN_TOOLS: tuple[Tool, ...] = (HELP, *TAPE_TOOLS)

__all__ = ["BUILTIN_TOOLS"]
