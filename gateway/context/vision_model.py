"""A model wrapper that replaces image references with data URLs just before the request.

It learns whether a model has vision: if the server refuses a request with images but accepts the
same request without them, later requests describe images instead.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio.to_thread

from agent.errors import ModelDown, RequestRejected, UnknownModel
from agent.model import ChatModel, ModelRequest, Piece
from agent.models.offline import OFFLINE
from gateway.context.images import has_images, with_bytes, without_images
from gateway.logs import get_log

BLIND_SECONDS: Final = 600.0
_SIGHT: Final = re.compile(
    r"vision|multi-?modal|image[_ ](input|url)s?\b.{0,60}\b(not|un)|(not|un)\w*\b.{0,60}\bimages?\b"
    r"|content.{0,40}\b(string|array|list|type)",
    re.IGNORECASE | re.DOTALL,
)
"""Phrases with which servers say that a model accepts no images."""

FOREVER: Final = float("inf")


class VisionModel:
    """Shows images to a model that has vision."""

    def __init__(self, inner: ChatModel, home: Path) -> None:
        self.name = inner.name
        self._inner = inner
        self._home = home
        self._blind_until = FOREVER if inner.name == OFFLINE else 0.0

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        if has_images(request.messages):
            return self._with_images(request)
        return self._inner.stream(request)

    async def _with_images(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        described = replace(request, messages=without_images(request.messages))
        blind = time.monotonic() < self._blind_until
        if not blind:
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
                why = refused
        async with aclosing(self._inner.stream(described)) as pieces:
            async for piece in pieces:
                yield piece
        if not blind:
            # That a server cannot read one picture says nothing about other pictures.
            if _SIGHT.search(str(why)):
                self._blind_until = time.monotonic() + BLIND_SECONDS
            get_log().warning("model.images_refused", model=self.name, why=str(why))

    async def aclose(self) -> None:
        await self._inner.aclose()
