"""The tape's own tools: what it holds, finding old things, anchors, handing off."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent.errors import ToolRefused
from agent.tool import Arguments, NoArguments, Tool, ToolContext
from tape.entry import Entry
from tape.tokens import estimate_text

EXCERPT = 300
RESERVED = ("session/", "context:overflow", "auto_handoff/")
"""Anchors by which the gateway knows where a tape begins and what a turn has had."""


class SearchArguments(Arguments):
    """What to look for."""

    query: str = Field(min_length=1, max_length=500, description="words that were said")
    limit: int = Field(10, ge=1, le=50, description="how many, newest first")


class AnchorsArguments(Arguments):
    """How many."""

    limit: int = Field(20, ge=1, le=100, description="how many of the newest")


class HandoffArguments(Arguments):
    """The anchor to set."""

    name: str = Field(min_length=1, max_length=100, description="e.g. task/done or phase:review")
    summary: str = Field("", max_length=4000, description="what to know from here on")
    next_steps: str = Field("", max_length=2000, description="what remains to be done")


async def run_info(_arguments: NoArguments, context: ToolContext) -> object:
    """Tell how much is on the tape, and what came since its last anchor."""
    tape = context.tape
    anchor = await tape.last_anchor(lane=context.lane)
    after = await tape.find(
        after=anchor.id if anchor else 0, lane=context.lane, limit=1000, newest=True
    )
    return {
        "entries": await tape.size(),
        "last_anchor": anchor.name if anchor else None,
        "last_anchor_date": anchor.date if anchor else None,
        "entries_since_anchor": len(after),
        "tokens_since_anchor": sum(estimate_text(entry.text) for entry in after),
        "last_usage": _last_usage(after),
    }


def _last_usage(entries: list[Entry]) -> dict[str, Any] | None:
    for entry in reversed(entries):
        if entry.name == "loop.step" and entry.payload["data"].get("usage"):
            return dict(entry.payload["data"]["usage"])
    return None


async def run_search(arguments: SearchArguments, context: ToolContext) -> object:
    """Find what was said, newest first."""
    hits = await context.tape.search(arguments.query, limit=arguments.limit)
    return {"query": arguments.query, "hits": [_hit(entry) for entry in hits]}


def _hit(entry: Entry) -> dict[str, Any]:
    text = entry.text
    return {
        "id": entry.id,
        "date": entry.date,
        "kind": entry.kind,
        "text": text if len(text) <= EXCERPT else f"{text[:EXCERPT]}...",
    }


async def run_anchors(arguments: AnchorsArguments, context: ToolContext) -> object:
    """List the newest anchors, oldest of them first."""
    anchors = await context.tape.anchors(arguments.limit)
    return {
        "anchors": [
            {
                "id": entry.id,
                "name": entry.name,
                "date": entry.date,
                "state": entry.payload["state"],
            }
            for entry in anchors
        ]
    }


async def run_handoff(arguments: HandoffArguments, context: ToolContext) -> object:
    """Set an anchor: from the next turn on, what came before it is reached by search only."""
    if arguments.name.startswith(RESERVED):
        raise ToolRefused(
            f"the anchor {arguments.name} is set by the gateway only: use a name such as task/done"
            " or phase:review"
        )
    state = {"summary": arguments.summary, "next_steps": arguments.next_steps}
    told = {name: text for name, text in state.items() if text}
    anchor = await context.tape.handoff(arguments.name, told, **context.meta())
    return {"anchor": anchor.name, "id": anchor.id}


TAPE_TOOLS: tuple[Tool, ...] = (
    Tool(
        name="tape.info",
        description="How much this chat's tape holds, and what came since the last anchor.",
        arguments=NoArguments,
        run=run_info,
        repeatable=True,
        first=True,
    ),
    Tool(
        name="tape.search",
        description="Find earlier messages of this chat by words.",
        arguments=SearchArguments,
        run=run_search,
        repeatable=True,
        first=True,
    ),
    Tool(
        name="tape.anchors",
        description="List the checkpoints of this chat.",
        arguments=AnchorsArguments,
        run=run_anchors,
        repeatable=True,
    ),
    Tool(
        name="tape.handoff",
        description="Set a checkpoint with a summary when a task is done or the subject changes.",
        arguments=HandoffArguments,
        run=run_handoff,
        first=True,
    ),
)
