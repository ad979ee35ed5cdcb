"""Any server with OpenAI's chat completions API.

The SDK makes the connection and retries it until a stream starts.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

import aiohttp
import httpx2
import openai
import orjson
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
from agent.models.openai_stream import StreamReader, is_overflow
from agent.settings import AgentSettings, fits_a_header


class OpenAIModel:
    """One model of one server."""

    def __init__(self, name: str, settings: AgentSettings) -> None:
        self.name = name
        # A local server often needs no key, but the SDK insists on one.
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
            # The SDK's own transport needs more CPU than aiohttp.
            http_client=DefaultAioHttpClient(),
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        # As plain arguments, the SDK would walk the messages and tools in Python.
        body: dict[str, Any] = {
            "messages": request.messages,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = request.tools
        reader = StreamReader(self.name)
        try:
            async with self._client.chat.completions.with_streaming_response.create(
                model=self.name, messages=[], stream=True, extra_body=body
            ) as response:
                if "json" in response.headers.get("content-type", ""):
                    for piece in reader.chunk(_completion(await response.read())):
                        yield piece
                else:
                    async for line in _lines(response.iter_bytes(), self._patience):
                        for piece in reader.line(line):
                            yield piece
        except (openai.OpenAIError, httpx2.HTTPError, aiohttp.ClientError) as cause:
            raise as_model_error(cause, self._key) from None
        except ModelError as cause:
            raise _without(self._key, cause) from None
        yield reader.reply()

    async def aclose(self) -> None:
        await self._client.close()


async def _lines(chunks: AsyncIterator[bytes], patience: float) -> AsyncGenerator[str, None]:
    """Split a stream into lines; raises AnswerBroken after `patience` seconds of silence."""
    # Not with splitlines(): text may contain U+2028 or U+0085.
    rest = b""
    while (chunk := await _next(chunks, patience)) is not None:
        *lines, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


async def _next(chunks: AsyncIterator[bytes], patience: float) -> bytes | None:
    # The transport has the same limit, but loses it when the framing of a stream breaks.
    try:
        async with asyncio.timeout(patience):
            return await anext(chunks, None)
    except TimeoutError:
        raise AnswerBroken(f"the answer stopped for {patience:g} seconds") from None


def as_model_error(cause: Exception, key: str = "") -> ModelError:
    """Translate an error of the SDK or its transport; its text doesn't contain the key."""
    return _without(key, _translate(cause))


def _without(key: str, error: ModelError) -> ModelError:
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


def _completion(raw: bytes) -> Mapping[str, Any]:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise AnswerBroken(f"the server's answer is not a completion: {raw[:200]!r}")
    return body


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
