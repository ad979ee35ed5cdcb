"""The model protocol: a request in; pieces out as they arrive, the whole reply last."""

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
    """A piece of the answer."""

    delta: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """A piece of the model's reasoning."""

    delta: str


@dataclass(frozen=True, slots=True)
class ResetPiece:
    """Discard the pieces so far: the answer starts over."""

    why: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model; `arguments` is its JSON text."""

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
    """A complete answer; `usage` has up to three token counts, as far as the provider gave them."""

    model: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    finish_reason: str | None = None


Piece = TextPiece | ReasoningPiece | ResetPiece | ModelReply


class ChatModel(Protocol):
    """A model; `name` is its name in the settings."""

    name: str

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Yield the pieces of an answer, then exactly one ModelReply; raises ModelError."""

    async def aclose(self) -> None: ...
