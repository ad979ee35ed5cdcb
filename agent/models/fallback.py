"""Several models as one: when a model fails, the next one is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agent.errors import ContextOverflow, ModelError
from agent.model import ChatModel, ModelRequest, Piece, ResetPiece, TextPiece


class FallbackModel:
    """Asks the first model, and after an error the next; a prompt that is too long is an error."""

    def __init__(self, models: Sequence[ChatModel]) -> None:
        self._models = tuple(models)
        self.name = self._models[0].name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Answer with the first model that can; a ResetPiece discards the text of a failed one."""
        for position, model in enumerate(self._models):
            spoke = False
            try:
                async with aclosing(model.stream(request)) as pieces:
                    async for piece in pieces:
                        spoke = spoke or isinstance(piece, TextPiece)
                        yield piece
            except ContextOverflow:
                raise
            except ModelError as cause:
                if position + 1 == len(self._models):
                    raise
                if spoke:
                    yield ResetPiece(f"{model.name}: {cause}")
            else:
                return

    async def aclose(self) -> None:
        for model in self._models:
            await model.aclose()
