"""Retry a model whose answer breaks off."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent.errors import AnswerBroken
from agent.model import ChatModel, ModelRequest, Piece, ResetPiece, TextPiece


class RetryingModel:
    """Asks a model again when its answer breaks off, and discards the broken text.

    The model itself retries calls that fail before an answer begins.
    """

    def __init__(self, model: ChatModel, retries: int) -> None:
        self._model = model
        self._retries = retries
        self.name = model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        for left in range(self._retries, -1, -1):
            spoke = False
            try:
                async with aclosing(self._model.stream(request)) as pieces:
                    async for piece in pieces:
                        spoke = spoke or isinstance(piece, TextPiece)
                        yield piece
                return
            except AnswerBroken as cause:
                if not left:
                    raise
                if spoke:
                    yield ResetPiece(f"{self.name}: {cause}")

    async def aclose(self) -> None:
        await self._model.aclose()
