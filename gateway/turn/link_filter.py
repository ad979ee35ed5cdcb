"""Filter the links of a turn's text, partial text included, while its view is tainted."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Final

import anyio.to_thread

from agent.events import AgentEvent, EventKind
from agent.turn_log import TurnLog
from gateway.links.hosts import SharedHosts
from gateway.links.judge import LinkJudge
from gateway.links.stream import LinkFilter
from tape.entry import event
from tape.turn_events import LINKS_CUT

MAX_INLINE_CHARACTERS: Final = 4_000
_MAYBE: Final = re.compile(r"[.:/@&]\S|\]\(")
_STREAMED: Final[tuple[EventKind, ...]] = ("text", "reasoning")


class AnswerLinks:
    """Filters what one run of the agent's loop says."""

    def __init__(self, log: TurnLog, hosts: SharedHosts) -> None:
        self._log = log
        self._judge = LinkJudge(log.sources, hosts)
        self._streams: dict[EventKind, LinkFilter] = {}

    async def whole(self, text: str) -> str:
        """Return a whole text as it may be shown now."""
        if not self._log.sources.taint:
            return text
        stream = LinkFilter(self._judge)
        return await self._run(lambda: stream.whole(text), text, len(text))

    async def _run(
        self, work: Callable[[], str], text: str, size: int, *, waits: bool = False
    ) -> str:
        """Filter a text; what may take long leaves the event loop to others.

        It `waits` if something before it has to be looked at as well.
        """
        may_be_long = size >= MAX_INLINE_CHARACTERS or not self._judge.has_read
        if may_be_long and (waits or _MAYBE.search(text)):
            return await anyio.to_thread.run_sync(work)
        return work()

    async def filtered(
        self, events: AsyncGenerator[AgentEvent, None]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the events of the run; before the last one, record which links were cut."""
        try:
            async with aclosing(events):
                async for happened in events:
                    for shown in await self._shown(happened):
                        if shown.kind == "final":
                            self._record()
                        yield shown
        finally:
            self._record()

    async def _shown(self, happened: AgentEvent) -> list[AgentEvent]:
        if happened.kind in _STREAMED:
            return await self._delta(happened)
        rests = [
            (kind, await self._run(waiting.end, waiting.rest, len(waiting)))
            for kind, waiting in self._streams.items()
        ]
        shown = [AgentEvent(kind, {"delta": rest}) for kind, rest in rests if rest]
        text = happened.data.get("text")
        if happened.kind == "final" and isinstance(text, str):
            happened = replace(happened, data={**happened.data, "text": await self.whole(text)})
        return [happened] if happened.kind == "reset" else [*shown, happened]

    async def _delta(self, happened: AgentEvent) -> list[AgentEvent]:
        """Return what may be shown by now of a text that grows."""
        if not self._log.sources.taint:
            return [happened]
        delta = str(happened.data["delta"])
        if happened.data.get("again"):
            delta = await self.whole(delta)
        else:
            stream = self._streams.setdefault(happened.kind, LinkFilter(self._judge))
            given = delta
            size = len(stream) + len(given)
            delta = await self._run(lambda: stream.feed(given), given, size, waits=stream.waits)
        return [replace(happened, data={**happened.data, "delta": delta})] if delta else []

    def _record(self) -> None:
        if found := self._judge.take_cut():
            self._log.defer(event(LINKS_CUT, found))
