"""Models that wrap others: when an answer fails, they ask the model again, or the next one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agent.errors import AnswerBroken, ContextOverflow, ModelError
from agent.model import ChatModel, ModelRequest, Piece, ResetPiece, TextPiece


class RetryingModel:
    """Asks a model again when its answer is cut off.

    The wrapped model itself retries calls that fail before an answer begins.
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
    """Asks the first model and, after an error, the next; ContextOverflow is raised at once."""

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
    """Ask models in order until one succeeds; a ResetPiece discards the text of a failed one."""
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
