"""A model that is shown images: their bytes go in just before the call.

Whether a model can see is found out by showing it one: where its server refuses the request and
takes it without, images are told of instead from then on.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from agent.errors import ModelDown, RequestRejected, UnknownModel
from agent.model import ChatModel, ModelRequest, Piece
from agent.offline_model import OFFLINE
from gateway.images import has_images, with_bytes, without_images
from gateway.logs import get_log


class SeeingModel:
    """Shows a model the images of its messages."""

    def __init__(self, inner: ChatModel, home: Path) -> None:
        self.name = inner.name
        self._inner = inner
        self._home = home
        self._blind = inner.name == OFFLINE

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Answer a request; see `ChatModel`."""
        if not has_images(request.messages):
            async with aclosing(self._inner.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        told = replace(request, messages=without_images(request.messages))
        if not self._blind:
            messages = await anyio.to_thread.run_sync(with_bytes, request.messages, self._home)
            begun = False
            try:
                async with aclosing(
                    self._inner.stream(replace(request, messages=messages))
                ) as pieces:
                    async for piece in pieces:
                        begun = True
                        yield piece
                return
            except (RequestRejected, UnknownModel, ModelDown) as refused:
                if begun:
                    raise
                why = str(refused)
        async with aclosing(self._inner.stream(told)) as pieces:
            async for piece in pieces:
                yield piece
        if not self._blind:
            self._blind = True
            get_log().warning("model.cannot_see", model=self.name, why=why)

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._inner.aclose()
