"""A model wrapper that replaces image references with data URLs just before the request."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from agent.image_parts import has_images, without_images
from agent.model import ChatModel, ModelRequest, Piece
from agent.models.offline import OFFLINE
from gateway.context.images import with_bytes
from gateway.sharing.files import KeptFiles


class VisionModel:
    """Shows images to a model; the offline model gets notes instead."""

    def __init__(self, inner: ChatModel, files: KeptFiles) -> None:
        self.name = inner.name
        self._inner = inner
        self._files = files

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        if has_images(request.messages):
            return self._with_images(request)
        return self._inner.stream(request)

    async def _with_images(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        if self.name == OFFLINE:
            messages = without_images(request.messages)
        else:
            messages = await with_bytes(request.messages, self._files)
        async with aclosing(self._inner.stream(replace(request, messages=messages))) as pieces:
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
