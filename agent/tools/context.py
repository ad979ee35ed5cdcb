"""The tool `tape.context` gathers entries for a task, within a token budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from agent.tool import ToolContext
from agent.tool_decorator import tool
from agent.tools.chat_access import QUOTED_NOTE, tape_of
from tape.entry import content_text, event

CONSTRUCTED: Final = "context.construct"


@tool(name="tape.context", side_effects=False)
async def gather_context(
    context: ToolContext,
    task: Annotated[
        str, Field(min_length=1, max_length=2000, description="what you want to do or know")
    ],
    budget: Annotated[
        int, Field(ge=200, le=4000, description="how many tokens the answer may have")
    ] = 2000,
    chat: Annotated[
        str, Field(max_length=200, description="another chat, e.g. telegram:-100123")
    ] = "",
) -> object:
    """Gather from the tape what is worth knowing for a task, within a token budget."""
    tape = await tape_of(context, chat)
    # The turn's own lane is in its view already: a lane would keep the rest of the chat out.
    made = await tape.context_for(task, budget=budget, strategy=context.strategy)
    choices = event(CONSTRUCTED, {"tape": tape.name, "record": made.record}, **context.meta())
    await context.tape.append(choices)
    return {
        "task": task,
        "note": QUOTED_NOTE,
        "tokens": made.tokens,
        "entries": list(made.entries),
        "messages": [_shown(message) for message in made.messages],
    }


def _shown(message: Mapping[str, Any]) -> dict[str, Any]:
    shown = {"role": message.get("role"), "text": content_text(message.get("content"))}
    calls = message.get("tool_calls") or ()
    named = [(call.get("function") or {}).get("name") for call in calls]
    return {**shown, "calls": named} if named else shown
