"""Models that wrap others: when an answer fails, they ask the model again, or the next one."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final

import anyio

from agent.errors import (
    AnswerBroken,
    ContextOverflow,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelUnreachable,
    PlanLimit,
    ReasoningOnly,
)
from agent.model import ChatModel, ModelRequest, Piece, ResetPiece, TextPiece
from tape.tokens import estimate

REPEATABLE: Final = (AnswerBroken, ModelBusy, ModelDown, ModelUnreachable)
FIRST_WAIT_SECONDS: Final = 0.5
MAX_WAIT_SECONDS: Final = 8.0
MAX_RETRY_AFTER_SECONDS: Final = 60.0
"""Maximum wait that a provider may ask for; beyond it, the error is raised instead."""


class RetryingModel:
    """Asks a model again when a call fails or its answer breaks off: 1 + `retries` calls at most.

    Nothing below retries, so calls never multiply. `sleep` waits before a call is repeated.
    """

    def __init__(
        self,
        model: ChatModel,
        retries: int,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._model = model
        self._retries = retries
        self._sleep = sleep
        self.name = model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        for attempt in range(self._retries + 1):
            spoke = False
            try:
                async with aclosing(self._model.stream(request)) as pieces:
                    async for piece in pieces:
                        spoke = spoke or isinstance(piece, TextPiece)
                        yield piece
                return
            except REPEATABLE as cause:
                wait = _wait(cause, attempt)
                last = min(self._retries, 1) if isinstance(cause, ReasoningOnly) else self._retries
                if attempt >= last or wait > MAX_RETRY_AFTER_SECONDS:
                    raise
                if spoke:
                    yield ResetPiece(f"{self.name}: {cause}")
            await self._sleep(wait)

    async def aclose(self) -> None:
        await self._model.aclose()


def _wait(cause: ModelError, attempt: int) -> float:
    if isinstance(cause, PlanLimit):
        return math.inf
    if cause.retry_after is not None:
        return max(0.0, cause.retry_after)
    if isinstance(cause, AnswerBroken):
        return 0.0
    return min(FIRST_WAIT_SECONDS * 2.0**attempt, MAX_WAIT_SECONDS)


class FallbackModel:
    """Asks the first model and, after an error, the next.

    A prompt that is too long goes to no other model; once it was shortened and is still too long,
    it goes to models with a larger context window. `windows` are the models' windows, 0 if unknown.
    """

    def __init__(self, models: Sequence[ChatModel], windows: Sequence[int] = ()) -> None:
        self._models = tuple(models)
        self._windows = tuple(windows) or (0,) * len(self._models)
        self.name = self._models[0].name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        waiting = list(zip(self._models, self._windows, strict=True))
        while waiting:
            model, window = waiting.pop(0)
            spoke = False
            try:
                async with aclosing(model.stream(request)) as pieces:
                    async for piece in pieces:
                        spoke = spoke or isinstance(piece, TextPiece)
                        yield piece
                return
            except ModelError as cause:
                if isinstance(cause, ContextOverflow):
                    least = window or estimate(request.messages)
                    larger = [one for one in waiting if one[1] > least]
                    waiting = larger if request.shortened else []
                if not waiting:
                    raise
                if spoke:
                    yield ResetPiece(f"{model.name}: {cause}")

    async def aclose(self) -> None:
        for model in self._models:
            await model.aclose()
