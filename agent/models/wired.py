"""A model wrapper that prepares messages for one server, just before the request."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from agent.errors import RequestRejected
from agent.model import ChatModel, ModelRequest, Piece
from agent.wire import How, WireFields


class ServedModel(ChatModel, Protocol):
    """A model on a server; `server` is the server's address."""

    server: str


class WiredModel:
    """Puts back what the provider had put beside messages.

    A request that the server rejects because of these fields is repeated once.
    """

    def __init__(self, model: ServedModel) -> None:
        self.name = model.name
        self._model = model
        self._fields = WireFields(model.server, model.name)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        try:
            async with aclosing(self._ask(request, "fields")) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except RequestRejected as refused:
            how = self._fields.learn(request.messages, str(refused))
            if how is None:
                raise
        async with aclosing(self._ask(request, how)) as pieces:
            async for piece in pieces:
                yield piece
        self._fields.learned(how)

    def _ask(self, request: ModelRequest, how: How) -> AsyncGenerator[Piece, None]:
        messages = self._fields.restore(request.messages, how)
        return self._model.stream(replace(request, messages=messages))

    async def aclose(self) -> None:
        await self._model.aclose()
