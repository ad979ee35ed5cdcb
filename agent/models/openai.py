"""Models on servers that offer OpenAI's chat completions API."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from hashlib import sha256
from typing import Any, Final, cast

import aiohttp
import httpx2
import openai
from openai import AsyncOpenAI

from agent.errors import (
    AnswerBroken,
    KeyMissing,
    KeyRefused,
    ModelDown,
    ModelError,
    ModelSlow,
    ModelUnreachable,
    ProxyDown,
    RequestRejected,
    ServerMoved,
    UnknownModel,
    WrongAddress,
)
from agent.model import ModelReply, ModelRequest, Piece
from agent.model_settings import NO_KEY, ModelSettings, checked_address, fits_a_header
from agent.models.http_client import broken_proxy, http_client
from agent.models.learned import Learned, is_lasting, suspect
from agent.models.network import PUBLIC
from agent.models.openai_stream import StreamReader
from agent.models.overflow import by_wording
from agent.models.reasoning import InlineReasoning
from agent.models.redirects import moved_to
from agent.models.request_body import build_body, refused_in
from agent.models.waits import named_wait

MAX_SECONDS_AFTER_END: Final = 5.0
"""Maximum wait for the token counts after a finished answer, if the server leaves it open."""

ANSWERS: Final = "/chat/completions"
BEGINS_OPEN: Final = "inline_reasoning"
MIN_SECRET: Final = 6  # characters
HELD_BACK: Final = (
    "begins its answers inside reasoning, so text is held back until the closing tag; set"
    ' `reasoning = "open"` to have that from the first answer'
)


class OpenAIModel:
    """One model on one server; what the server refuses is left out once a repeat succeeded."""

    def __init__(self, name: str, settings: ModelSettings, learned: Learned | None = None) -> None:
        self.name = name
        self._settings = settings
        self._learned = learned or Learned()
        address, key = _connection(name, settings)
        self._key = "" if key == NO_KEY else key
        self.has_key = self._key != ""
        self.date = ""
        headers = {name: value.get_secret_value() for name, value in settings.headers.items()}
        # A shorter one is no secret, and would mask parts of words.
        self._secrets = [one for one in (self._key, *headers.values()) if len(one) >= MIN_SECRET]
        self._client = AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=address or None,
            default_headers=headers,
            max_retries=0,  # RetryingModel counts the calls
            timeout=httpx2.Timeout(settings.read_timeout, connect=settings.connect_timeout),
            http_client=http_client(address or PUBLIC),
        )
        # Both may hold secrets.
        self.server = str(self._client.base_url.copy_with(userinfo=b"", query=None))
        self.identity = sha256(f"{self.server}\n{name}\n{self._key}".encode()).hexdigest()
        self._reasoning = InlineReasoning(
            settings.reasoning,
            [tag.strip() for tag in settings.reasoning_tags.split(",")],
            known=BEGINS_OPEN in self._learned.about(self.server, name),
            learned=self._learn_reasoning,
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        known = refused_in(self._settings) | self._learned.about(self.server, self.name)
        lessons: list[str] = []
        while True:
            body = build_body(request, self._settings, known)
            begun = False
            try:
                async with aclosing(self._answer(body)) as pieces:
                    async for piece in pieces:
                        begun = True
                        if isinstance(piece, ModelReply):
                            for lesson in lessons:
                                self._learned.learn(self.server, self.name, lesson)
                        yield piece
                return
            except ModelError as cause:
                blamed = "" if begun else suspect(body, cause, known, self._settings.body)
                if not blamed or blamed in known:
                    raise
                known |= {blamed}
                if is_lasting(blamed, cause):
                    lessons.append(blamed)

    async def _answer(self, body: dict[str, Any]) -> AsyncGenerator[Piece, None]:
        reader = StreamReader(self.name, self.server, self._reasoning)
        patience = self._settings.read_timeout
        try:
            # By its generated method, the SDK would walk and copy the messages and tools in Python.
            response = await self._client.post(
                ANSWERS,
                cast_to=httpx2.Response,
                body={"model": self.name, "stream": True, **body},
                stream=True,
                stream_cls=openai.AsyncStream[Any],
            )
            async with aclosing(cast(httpx2.Response, response)) as answer:
                chunks = answer.aiter_bytes()
                while (chunk := await _next(chunks, reader, patience)) is not None:
                    for piece in reader.read(chunk):
                        yield piece
                for piece in reader.end():
                    yield piece
            reply = reader.reply()
        except (openai.OpenAIError, httpx2.HTTPError, aiohttp.ClientError) as cause:
            raise _without(self._secrets, _translate(cause, self.server, ANSWERS)) from None
        except ModelError as cause:
            raise _without(self._secrets, cause) from None
        yield reply

    def _learn_reasoning(self, begins_open: bool) -> None:
        if begins_open:
            self._learned.learn(self.server, self.name, BEGINS_OPEN, HELD_BACK)

    async def get(self, path: str) -> bytes:
        """Return the body at a path of the server; raises ModelError."""
        try:
            response = await self._client.get(path, cast_to=httpx2.Response)
            self.date = response.headers.get("date", "")
            return response.content
        except (openai.OpenAIError, httpx2.HTTPError, aiohttp.ClientError) as cause:
            if isinstance(cause, openai.APIStatusError):
                self.date = cause.response.headers.get("date", "")
            raise _without(self._secrets, _translate(cause, self.server, path)) from None

    async def aclose(self) -> None:
        await self._client.close()


def _connection(name: str, settings: ModelSettings) -> tuple[str, str]:
    """Return a model's server and key, each empty if none is set; raises KeyMissing."""
    address, key = settings.base_url, settings.key()
    if not address:
        try:
            address = checked_address(os.environ.get("OPENAI_BASE_URL", ""))
        except ValueError as cause:
            raise KeyMissing(f"OPENAI_BASE_URL: {cause}") from None
    # Local servers often need no key, but the SDK requires one.
    key = key or os.environ.get("OPENAI_API_KEY", "").strip()
    if not fits_a_header(key):
        raise KeyMissing(
            "OPENAI_API_KEY isn't a key: it may contain only ASCII letters, digits and signs"
        )
    if not key and not address:
        raise KeyMissing(
            f"the model {name} needs a key: set TAPEWAY_AGENT__API_KEY (or OPENAI_API_KEY), or"
            " TAPEWAY_AGENT__BASE_URL for a server of your own"
        )
    return address, key


async def _next(
    chunks: AsyncIterator[bytes], reader: StreamReader, patience: float
) -> bytes | None:
    # The transport has the same limit, but ignores it when the framing of a stream breaks.
    limit = min(patience, MAX_SECONDS_AFTER_END) if reader.closed else patience
    try:
        async with asyncio.timeout(limit):
            return await anext(chunks, None)
    except (TimeoutError, httpx2.ReadTimeout):
        if not reader.begun:
            raise ModelSlow(f"no answer came within {patience:g} seconds") from None
        if not reader.finished:
            raise AnswerBroken(f"the answer stopped for {patience:g} seconds") from None
    except (httpx2.HTTPError, aiohttp.ClientError):
        if not reader.finished:
            raise
    return None


def _without(secrets: Sequence[str], error: ModelError) -> ModelError:
    # A server's error may repeat a secret, and hold halves of surrogate pairs.
    error.args = tuple(_masked(arg, secrets) if isinstance(arg, str) else arg for arg in error.args)
    return error


def _masked(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return text.encode("utf-8", "replace").decode()


def _translate(cause: Exception, server: str, path: str) -> ModelError:
    if isinstance(cause, openai.APIStatusError):
        if (address := moved_to(cause.response, path)) is not None:
            return ServerMoved(server, address)
        error = _status_error(cause)
        error.retry_after = named_wait(cause.response.headers, cause.body, str(error))
        return error
    if isinstance(cause.__cause__, httpx2.ReadTimeout):
        return ModelSlow("no answer came in time")
    if why := broken_proxy(cause, server):
        return ProxyDown(why)
    if isinstance(cause, (openai.APITimeoutError, openai.APIConnectionError)):
        return ModelUnreachable(f"{cause} ({cause.__cause__})")
    if isinstance(cause, (httpx2.HTTPError, aiohttp.ClientError)):
        return AnswerBroken(f"{type(cause).__name__}: {cause}")
    return ModelError(str(cause))


def _status_error(cause: openai.APIStatusError) -> ModelError:
    message = str(cause)
    # The SDK leaves out an error that is a list (Gemini) or has another key (FastAPI's `detail`).
    if not isinstance(cause.body, dict) or not cause.body.get("message"):
        message = f"{message}: {cause.response.text[:2000]}"
    elif isinstance(raw := _upstream(cause.body), str):
        message = f"{message}: {raw[:2000]}"
    code = f"{cause.code} {cause.type}"
    if (named := by_wording(cause.status_code, code, message)) is not None:
        return named
    if isinstance(cause, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return KeyRefused(message)
    if isinstance(cause, openai.NotFoundError):
        bare = cause.request.url.path == ANSWERS and "model" not in message
        return WrongAddress(message) if bare else UnknownModel(message)
    if cause.status_code >= 500 or cause.status_code in (408, 409):
        return ModelDown(message)
    return RequestRejected(message)


def _upstream(body: dict[str, Any]) -> object:
    # OpenRouter says "Provider returned error", and quotes the provider beside it.
    metadata = body.get("metadata")
    return metadata.get("raw") if isinstance(metadata, dict) else None
