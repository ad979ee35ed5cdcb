"""The tool `tape.context`: gather entries for a task, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from agent.tool import Arguments, Tool, ToolContext
from agent.tools.chat_access import QUOTED_NOTE, tape_of
from tape.entry import content_text, event

CONSTRUCTED: Final = "context.construct"


class ContextArguments(Arguments):
    """The task and its budget."""

    task: str = Field(min_length=1, max_length=2000, description="what you want to do or know")
    budget: int = Field(2000, ge=200, le=4000, description="how many tokens the answer may have")
    chat: str = Field("", max_length=200, description="another chat, e.g. telegram:-100123")


async def run_context(arguments: ContextArguments, context: ToolContext) -> object:
    """Return anchors, messages and search hits that may matter for a task."""
    tape = await tape_of(context, arguments.chat)
    lane = context.lane if tape.name == context.tape.name else None
    made = await tape.context_for(arguments.task, budget=arguments.budget, lane=lane)
    choices = event(CONSTRUCTED, {"tape": tape.name, "record": made.record}, **context.meta())
    await context.tape.append(choices)
    return {
        "task": arguments.task,
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


CONTEXT = Tool(
    name="tape.context",
    description="Gather from the tape what is worth knowing for a task, within a token budget.",
    arguments=ContextArguments,
    run=run_context,
    repeatable=True,
)
