"""The tools that come with Tapeway.

info      tape.info, tape.context_summary
search    tape.search
anchors   tape.anchors, tape.handoff
context   tape.context
subagent  subagent
web_fetch web.fetch
help      lists the tools, and offers the model more of them
"""

from agent.powers import by_the_table
from agent.tool import Tool
from agent.tools.anchors import hand_off, list_anchors
from agent.tools.context import gather_context
from agent.tools.help import offer_tools
from agent.tools.info import summarize_context, tape_info
from agent.tools.search import search_tape
from agent.tools.subagent import give_task
from agent.tools.web_fetch import fetch_page

TAPE_TOOLS: tuple[Tool, ...] = tuple(
    by_the_table(tool)
    for tool in (tape_info, search_tape, list_anchors, hand_off, gather_context, summarize_context)
)

BUILTIN_TOOLS: tuple[Tool, ...] = (
    by_the_table(offer_tools),
    *TAPE_TOOLS,
    by_the_table(give_task),
    by_the_table(fetch_page),
)

__all__ = ["BUILTIN_TOOLS", "TAPE_TOOLS"]
