"""The model protocol: a request goes in, pieces come out as they arrive, the whole reply last."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked.

    messages  OpenAI chat messages, the system message first; names of functions without dots
    tools     OpenAI function tools
    """

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the answer."""

    delta: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """A piece of the model's reasoning."""

    delta: str


@dataclass(frozen=True, slots=True)
class ResetPiece:
    """The pieces so far do not count: another model begins again."""

    why: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for; `arguments` is the JSON text that it wrote."""

    id: str
    name: str
    arguments: str

    def as_openai(self) -> dict[str, Any]:
        """Return the call in the form of OpenAI's tool_calls."""
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The whole of an answer; `usage` has those of the three token counts that were told."""

    model: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    finish_reason: str | None = None


Piece = TextPiece | ReasoningPiece | ResetPiece | ModelReply


class ChatModel(Protocol):
    """A model; `name` is the one that people set."""

    name: str

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Answer a request: pieces, then exactly one ModelReply; raises ModelError."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...
