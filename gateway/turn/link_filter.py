"""Filter the links of a turn's text, partial text included, while its view is tainted."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from agent.events import AgentEvent, EventKind
from agent.turn_log import TurnLog
from gateway.links.hosts import SharedHosts
from gateway.links.judge import LinkJudge
from gateway.links.stream import LinkFilter
from tape.entry import event
from tape.turn_events import LINKS_CUT

_STREAMED: Final[tuple[EventKind, ...]] = ("text", "reasoning")


class AnswerLinks:
    """Filters what one run of the agent's loop says."""

    def __init__(self, log: TurnLog, hosts: SharedHosts) -> None:
        self._log = log
        self._judge = LinkJudge(log.sources, hosts)
        self._streams: dict[EventKind, LinkFilter] = {}

    def whole(self, text: str) -> str:
        """Return a whole text as it may be shown now."""
        return LinkFilter(self._judge).whole(text) if self._log.sources.taint else text

    async def filtered(
        self, events: AsyncGenerator[AgentEvent, None]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the events of the run; before the last one, record which links were cut."""
        try:
            async with aclosing(events):
                async for happened in events:
                    for shown in self._shown(happened):
                        if shown.kind == "final":
                            self._record()
                        yield shown
        finally:
            self._record()

    def _shown(self, happened: AgentEvent) -> Iterator[AgentEvent]:
        if happened.kind in _STREAMED:
            if shown := self._delta(happened):
                yield shown
            return
        for kind, waiting in self._streams.items():
            rest = waiting.end()
            if rest and happened.kind != "reset":
                yield AgentEvent(kind, {"delta": rest})
        text = happened.data.get("text")
        if happened.kind == "final" and isinstance(text, str):
            happened = replace(happened, data={**happened.data, "text": self.whole(text)})
        yield happened

    def _delta(self, happened: AgentEvent) -> AgentEvent | None:
        """Return what may be shown by now of a text that grows."""
        if not self._log.sources.taint:
            return happened
        delta = str(happened.data["delta"])
        if happened.data.get("again"):
            delta = self.whole(delta)
        else:
            stream = self._streams.setdefault(happened.kind, LinkFilter(self._judge))
            delta = stream.feed(delta)
        return replace(happened, data={**happened.data, "delta": delta}) if delta else None

    def _record(self) -> None:
        if found := self._judge.take_cut():
            self._log.defer(event(LINKS_CUT, found))
