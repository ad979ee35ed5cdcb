"""The protocol of a model, which streams the parts of an answer, then the complete reply."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model.

    messages     OpenAI chat messages, the system message first; function names have no dots
    tools        OpenAI function tools
    tool_choice  "none" forbids calls although tools are offered; None leaves it to the model
    shortened    whether the prompt was shortened after a model found it too long
    options      more fields of OpenAI's request body, for example `max_tokens`
    """

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str | None = None
    shortened: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A part of the answer."""

    delta: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """A part of the model's reasoning."""

    delta: str


@dataclass(frozen=True, slots=True)
class ResetPiece:
    """Discards the parts so far, because the answer starts over."""

    why: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model's request to call a tool.

    arguments  a JSON string
    extra      what the provider put beside the call, verbatim
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def as_openai(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete answer.

    model          the model's name as the server reports it
    usage          the token counts that the provider reported, at most three
    finish_reason  why the answer ended: "length" and "content_filter" cut it off
    extra          what the provider put beside the message's text and calls, verbatim
    refusal        the model's own words for why it refuses, if it does beside a text
    server         the address of the server, without credentials
    requested      the model's name as the request had it
    """

    model: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    finish_reason: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    refusal: str = ""
    server: str = ""
    requested: str = ""


Piece = TextPiece | ReasoningPiece | ResetPiece | ModelReply


class ChatModel(Protocol):
    """A model; `name` is the model's name in the settings."""

    name: str

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Yield the parts of an answer, then exactly one ModelReply; raises ModelError."""

    async def aclose(self) -> None: ...
