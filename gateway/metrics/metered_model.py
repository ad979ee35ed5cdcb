"""A model wrapper that counts requests, and a count of what prompts consist of."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from agent.errors import ModelBusy
from agent.model import ChatModel, ModelRequest, Piece
from gateway.metrics import catalog
from gateway.metrics.meters import Meters
from tape.entry import dump
from tape.tokens import estimate_message, estimate_text

ORIGINS: Final = {
    "system": catalog.SYSTEM_TOKENS,
    "assistant": catalog.AGENT_TOKENS,
    "tool": catalog.TOOL_TOKENS,
    "user": catalog.PEOPLE_TOKENS,
}


class MeteredModel:
    """A model whose every request is counted; it stands below whatever repeats them."""

    def __init__(self, model: ChatModel, meters: Meters) -> None:
        self.name = model.name
        self._model = model
        self._meters = meters

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        outcome = "cancelled"
        try:
            async with aclosing(self._model.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
            outcome = "ok"
        except ModelBusy:
            outcome = "rate_limited"
            raise
        except Exception:
            outcome = "error"
            raise
        finally:
            self._meters.add(catalog.MODEL_CALLS, self.name, outcome)

    async def aclose(self) -> None:
        await self._model.aclose()


def count_prompt(meters: Meters, request: ModelRequest) -> None:
    """Count the estimated tokens of a prompt by who wrote them."""
    for message in request.messages:
        meters.add(
            ORIGINS.get(message["role"], catalog.PEOPLE_TOKENS), by=estimate_message(message)
        )
    if request.tools:
        meters.add(catalog.SCHEMA_TOKENS, by=estimate_text(dump(list(request.tools))))
