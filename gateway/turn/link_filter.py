"""Filter the links of a turn's text, partial text included, while its view is tainted."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from agent.events import AgentEvent
from agent.links import LinkFilter, without_new_links
from agent.taint import Sources


async def plain_links(
    events: AsyncGenerator[AgentEvent, None], sources: Sources
) -> AsyncGenerator[AgentEvent, None]:
    """Yield a turn's events; in a tainted view, links that are new become plain text."""
    pending: LinkFilter | None = None
    async with aclosing(events):
        async for happened in events:
            if happened.kind == "text" and sources.taint:
                delta = str(happened.data["delta"])
                if happened.data.get("again"):
                    delta = without_new_links(delta, sources)
                else:
                    pending = pending or LinkFilter(sources)
                    delta = pending.feed(delta)
                if delta:
                    yield replace(happened, data={**happened.data, "delta": delta})
                continue
            if happened.kind == "reset":
                pending = None
            elif pending is not None and happened.kind != "reasoning":
                if rest := pending.end():
                    yield AgentEvent("text", {"delta": rest})
                pending = None
            text = happened.data.get("text")
            if happened.kind == "final" and sources.taint and isinstance(text, str):
                happened = AgentEvent(
                    "final", {**happened.data, "text": without_new_links(text, sources)}
                )
            yield happened
