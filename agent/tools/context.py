"""The tool `tape.context` gathers entries for a task, within a token budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import Field

from agent.powers import OTHERS_RESULTS, may
from agent.tool import ToolContext
from agent.tool_decorator import tool
from agent.tools.chat_access import QUOTED_NOTE, tape_of
from tape.construct import ByRules, Candidate, Choice, Strategy
from tape.entry import content_text, event
from tape.handle import Tape

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
    strategy = context.strategy
    if not may(OTHERS_RESULTS, context.role, shared=context.shared):
        strategy = _OwnResults(strategy or ByRules(), tape, context.lane)
    made = await tape.context_for(task, budget=budget, strategy=strategy)
    choices = event(CONSTRUCTED, {"tape": tape.name, "record": made.record}, **context.meta())
    await context.tape.append(choices)
    return {
        "task": task,
        "note": QUOTED_NOTE,
        "tokens": made.tokens,
        "entries": list(made.entries),
        "messages": [_shown(message) for message in made.messages],
    }


class _OwnResults:
    """Leaves the results of tools in other conversations out of a strategy's choice."""

    def __init__(self, strategy: Strategy, tape: Tape, lane: str | None) -> None:
        self.name = strategy.name
        self._strategy = strategy
        self._tape = tape
        self._lane = lane

    async def choose(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        calls = [one.ids[0] for one in candidates if len(one.ids) > 1]
        found = await self._tape.entries(calls) if calls else {}
        others = {number for number in calls if found[number].meta.get("lane") != self._lane}
        kept = [one for one in candidates if one.ids[0] not in others]
        return await self._strategy.choose(task, kept, budget)


def _shown(message: Mapping[str, Any]) -> dict[str, Any]:
    shown = {"role": message.get("role"), "text": content_text(message.get("content"))}
    calls = message.get("tool_calls") or ()
    named = [(call.get("function") or {}).get("name") for call in calls]
    return {**shown, "calls": named} if named else shown
