"""Models on servers that offer OpenAI's chat completions API."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import aiohttp
import httpx2
import openai
from openai import AsyncOpenAI, DefaultAioHttpClient

from agent.errors import (
    AnswerBroken,
    ContextOverflow,
    KeyMissing,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelUnreachable,
    RequestRejected,
    UnknownModel,
)
from agent.model import ModelRequest, Piece
from agent.model_settings import ModelSettings, fits_a_header
from agent.models.openai_stream import StreamReader, is_overflow


class OpenAIModel:
    """One model on one server; the SDK connects, and retries until a stream starts."""

    def __init__(self, name: str, settings: ModelSettings) -> None:
        self.name = name
        # Local servers often need no key, but the SDK requires one.
        key = settings.key() or os.environ.get("OPENAI_API_KEY", "").strip()
        if not fits_a_header(key):
            raise KeyMissing(
                "OPENAI_API_KEY isn't a key: it may contain only ASCII letters, digits and signs"
            )
        if not key and not (settings.base_url or os.environ.get("OPENAI_BASE_URL")):
            raise KeyMissing(
                f"the model {name} needs a key: set TAPEWAY_AGENT__API_KEY (or OPENAI_API_KEY), or"
                " TAPEWAY_AGENT__BASE_URL for a server of your own"
            )
        self._key = key
        self._patience = settings.read_timeout
        self._client = AsyncOpenAI(
            api_key=key or "none",
            base_url=settings.base_url or None,
            max_retries=settings.retries,
            timeout=httpx2.Timeout(settings.read_timeout, connect=settings.connect_timeout),
            # The SDK's own transport uses more CPU than aiohttp.
            http_client=DefaultAioHttpClient(),
        )
        self.server = str(self._client.base_url.copy_with(userinfo=b""))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        # If these were plain arguments, the SDK would walk the messages and tools in Python.
        body: dict[str, Any] = {
            "messages": request.messages,
            "stream_options": {"include_usage": True},
            **request.options,
        }
        if request.tools:
            body["tools"] = request.tools
            if request.tool_choice:
                body["tool_choice"] = request.tool_choice
        reader = StreamReader(self.name, self.server)
        try:
            async with self._client.chat.completions.with_streaming_response.create(
                model=self.name, messages=[], stream=True, extra_body=body
            ) as response:
                if "json" in response.headers.get("content-type", ""):
                    for piece in reader.chunk(await response.read()):
                        yield piece
                else:
                    chunks = response.iter_bytes()
                    while (chunk := await _next(chunks, self._patience)) is not None:
                        for piece in reader.read(chunk):
                            yield piece
                    for piece in reader.read(b"\n"):
                        yield piece
        except (openai.OpenAIError, httpx2.HTTPError, aiohttp.ClientError) as cause:
            raise _without(self._key, _translate(cause)) from None
        except ModelError as cause:
            raise _without(self._key, cause) from None
        yield reader.reply()

    async def aclose(self) -> None:
        await self._client.close()


async def _next(chunks: AsyncIterator[bytes], patience: float) -> bytes | None:
    # The transport has the same limit, but ignores it when the framing of a stream breaks.
    try:
        async with asyncio.timeout(patience):
            return await anext(chunks, None)
    except TimeoutError:
        raise AnswerBroken(f"the answer stopped for {patience:g} seconds") from None


def _without(key: str, error: ModelError) -> ModelError:
    # A server's error may repeat the key.
    if key:
        error.args = tuple(
            arg.replace(key, "***") if isinstance(arg, str) else arg for arg in error.args
        )
    return error


def _translate(cause: Exception) -> ModelError:
    if isinstance(cause, openai.RateLimitError):
        return ModelBusy(str(cause), _retry_after(cause))
    if isinstance(cause, openai.APIStatusError):
        return _status_error(cause)
    if isinstance(cause, (openai.APITimeoutError, openai.APIConnectionError)):
        return ModelUnreachable(f"{cause} ({cause.__cause__})")
    if isinstance(cause, (httpx2.HTTPError, aiohttp.ClientError)):
        return AnswerBroken(f"{type(cause).__name__}: {cause}")
    return ModelError(str(cause))


def _status_error(cause: openai.APIStatusError) -> ModelError:
    message = str(cause)
    if isinstance(cause, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return KeyRefused(message)
    if is_overflow(cause.code, message):
        return ContextOverflow(message)
    if isinstance(cause, openai.NotFoundError):
        return UnknownModel(message)
    if cause.status_code >= 500:
        return ModelDown(message)
    return RequestRejected(message)


def _retry_after(cause: openai.RateLimitError) -> float | None:
    try:
        return float(cause.response.headers["retry-after"])
    except (KeyError, ValueError):
        return None
