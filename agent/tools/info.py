"""The tools `tape.info` and `tape.context_summary`, which describe a tape in numbers.

They taint a view as other tools do: the names of anchors are words of people and models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.tool import ToolContext
from agent.tool_decorator import tool
from tape.entry import Entry
from tape.tokens import estimate_text
from tape.turn_events import LOOP_STEP

MAX_COUNTED_ENTRIES = 1000  # maximum newest entries to count


@tool(name="tape.info", side_effects=False, first=True)
async def tape_info(context: ToolContext) -> object:
    """How much this chat's tape holds, and what came since the last checkpoint."""
    tape = context.tape
    anchor = await tape.last_anchor(lane=context.lane)
    after = await tape.find(
        after=anchor.id if anchor else 0, lane=context.lane, limit=MAX_COUNTED_ENTRIES, newest=True
    )
    usages = [usage for entry in after if (usage := _usage(entry))]
    hits = cache_hit_rate(usages)
    info = {
        "entries": await tape.size(),
        "last_anchor": anchor.name if anchor else None,
        "last_anchor_date": anchor.date if anchor else None,
        "entries_since_anchor": len(after),
        "tokens_since_anchor": sum(estimate_text(entry.text) for entry in after),
        "last_usage": usages[-1] if usages else None,
    }
    return info if hits is None else {**info, "cache_hit_rate": hits}


def cache_hit_rate(usages: Sequence[dict[str, Any]]) -> float | None:
    """Return the share of prompt tokens that were cached, or None if none were reported."""
    known = [usage for usage in usages if "cached_tokens" in usage and usage.get("prompt_tokens")]
    if not known:
        return None
    cached = sum(int(usage["cached_tokens"]) for usage in known)
    return round(cached / sum(int(usage["prompt_tokens"]) for usage in known), 3)


def _usage(entry: Entry) -> dict[str, Any]:
    if entry.name != LOOP_STEP:
        return {}
    return dict(entry.payload["data"].get("usage") or {})


@tool(name="tape.context_summary", side_effects=False)
async def summarize_context(context: ToolContext) -> object:
    """The tape in figures: checkpoints with dates, tokens and kinds since the last one."""
    return await context.tape.context_summary()
