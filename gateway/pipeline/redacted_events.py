"""The events of a turn without the gateway's own secrets, also where two deltas share one."""

from __future__ import annotations

from collections.abc import Iterator

from agent.events import AgentEvent
from gateway.redaction.redactor import RedactedStream, Redactor


class RedactedEvents:
    """Cleans the events of one turn; text that may become a secret waits for the next event."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._streams = {kind: RedactedStream(redactor) for kind in ("reasoning", "text")}

    def take(self, event: AgentEvent) -> Iterator[AgentEvent]:
        """Yield what may be shown now that this event has come."""
        data, stream = event.data, self._streams.get(event.kind)
        if stream is not None and not data.get("again"):
            if delta := stream.push(str(data.get("delta", ""))):
                yield AgentEvent(event.kind, {**data, "delta": delta})
            return
        for kind, waiting in self._streams.items():
            delta = waiting.rest()
            if delta and event.kind != "reset":
                yield AgentEvent("text" if kind == "text" else "reasoning", {"delta": delta})
        yield AgentEvent(event.kind, self._redactor.value(data)) if data else event
