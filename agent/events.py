"""The events that a turn yields while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

EventKind = Literal[
    "accepted",
    "text",
    "reasoning",
    "tool_call",
    "tool_result",
    "usage",
    "reset",
    "error",
    "final",
    "abandoned",
]


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One event of a running turn.

    accepted     the message will be answered
    text         `delta`: the next part of the answer; `again` if a `reset` took back too much
    reasoning    `delta`: the next part of the model's reasoning; never shown in a chat
    tool_call    `id`, `name`, `arguments` (a JSON string)
    tool_result  `id`, `name`, `elapsed_ms`
    usage        `prompt_tokens`, `completion_tokens`, `cached_tokens`; any may be absent
    reset        `why`: discard the text so far
    error        `message`
    final        `text`: the text of the last step
    abandoned    another process goes on with the turn: what is shown stays as it is
    """

    kind: EventKind
    data: Mapping[str, Any] = field(default_factory=dict)
