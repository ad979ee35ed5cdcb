"""The protocol of a model, which streams the parts of an answer, then the complete reply."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model.

    messages  OpenAI chat messages, the system message first; function names have no dots
    tools     OpenAI function tools
    """

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()


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
    """The model's request to call a tool; `arguments` is a JSON string."""

    id: str
    name: str
    arguments: str

    def as_openai(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete answer; `usage` has the token counts that the provider reported, at most three."""

    model: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    finish_reason: str | None = None


Piece = TextPiece | ReasoningPiece | ResetPiece | ModelReply


class ChatModel(Protocol):
    """A model; `name` is the model's name in the settings."""

    name: str

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Yield the parts of an answer, then exactly one ModelReply; raises ModelError."""

    async def aclose(self) -> None: ...
