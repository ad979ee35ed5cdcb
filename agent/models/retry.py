"""Models around others: they ask again, or the next model, when an answer fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agent.errors import AnswerBroken, ContextOverflow, ModelError
from agent.model import ChatModel, ModelRequest, Piece, ResetPiece, TextPiece


class RetryingModel:
    """Asks a model again when its answer breaks off.

    The model itself retries calls that fail before an answer begins.
    """

    def __init__(self, model: ChatModel, retries: int) -> None:
        self._model = model
        self._retries = retries
        self.name = model.name

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        return _first_answer([self._model] * (self._retries + 1), request, AnswerBroken)

    async def aclose(self) -> None:
        await self._model.aclose()


class FallbackModel:
    """Asks the first model, and after an error the next; a prompt that is too long is an error."""

    def __init__(self, models: Sequence[ChatModel]) -> None:
        self._models = tuple(models)
        self.name = self._models[0].name

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        return _first_answer(self._models, request, ModelError)

    async def aclose(self) -> None:
        for model in self._models:
            await model.aclose()


async def _first_answer(
    models: Sequence[ChatModel], request: ModelRequest, failure: type[ModelError]
) -> AsyncGenerator[Piece, None]:
    """Ask models until one doesn't fail; a ResetPiece discards the text of a failed one."""
    for position, model in enumerate(models, 1):
        spoke = False
        try:
            async with aclosing(model.stream(request)) as pieces:
                async for piece in pieces:
                    spoke = spoke or isinstance(piece, TextPiece)
                    yield piece
            return
        except ContextOverflow:
            raise
        except failure as cause:
            if position == len(models):
                raise
            if spoke:
                yield ResetPiece(f"{model.name}: {cause}")
