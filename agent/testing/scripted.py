"""A model that answers from a script, which needs no network."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from anyio.lowlevel import checkpoint

from agent.model import ModelReply, ModelRequest, Piece, TextPiece, ToolCall

Step = str | ToolCall | BaseException | Sequence[Piece | BaseException]


class ScriptedModel:
    """A ChatModel that answers each request with the next step of a script.

    A step is a text, a tool call, an error to raise, or a list of answer parts and errors in order.
    `requests` records what the model was sent. Raises AssertionError after the last step.
    """

    def __init__(self, *steps: Step, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self.closed = False
        self._steps = deque(steps)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        self.requests.append(request)
        if not self._steps:
            raise AssertionError(f"the script of {self.name} has no step {len(self.requests)}")
        for piece in _pieces(self._steps.popleft()):
            await checkpoint()
            if isinstance(piece, BaseException):
                raise piece
            yield piece

    async def aclose(self) -> None:
        self.closed = True


def says(text: str, **more: Any) -> list[Piece]:
    """Return an answer of one part; `more` sets fields of its ModelReply."""
    return [TextPiece(text), ModelReply("scripted", text, finish_reason="stop", **more)]


def asks(*calls: ToolCall, text: str = "") -> list[Piece]:
    """Return an answer that asks for tool calls, with optional text before them."""
    spoken: list[Piece] = [TextPiece(text)] if text else []
    return [*spoken, ModelReply("scripted", text, calls)]


def call(name: str = "echo", call_id: str = "c1", arguments: str = "{}") -> ToolCall:
    """Return a tool call; `arguments` is a JSON string."""
    return ToolCall(call_id, name, arguments)


def _pieces(step: Step) -> Sequence[Piece | BaseException]:
    if isinstance(step, str):
        return says(step)
    if isinstance(step, ToolCall):
        return asks(step)
    return [step] if isinstance(step, BaseException) else step
