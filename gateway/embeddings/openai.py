"""Embeddings from any server that has OpenAI's API."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

import aiohttp
import httpx2
import openai
from openai import AsyncOpenAI

from agent.models.http_client import broken_proxy, http_client
from agent.models.network import PUBLIC
from agent.models.redirects import moved_to
from gateway.errors import SettingsError
from gateway.settings import Settings
from tape.errors import EmbedderFailed
from tape.search.embedder import Vector

MODEL: Final = "text-embedding-3-small"
SECONDS: Final = 30.0


class OpenAIEmbedder:
    """Computes embeddings with one model on one server."""

    def __init__(self, model: str, base_url: str, key: str, dimensions: int = 0) -> None:
        self.name = f"openai {model} {dimensions}"
        self.dimensions = dimensions
        self._model = model
        self._client = AsyncOpenAI(
            api_key=key or "none",
            base_url=base_url or None,
            timeout=httpx2.Timeout(SECONDS, connect=10),
            max_retries=1,
            http_client=http_client(base_url or PUBLIC),
        )

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        try:
            answer = await self._client.embeddings.create(
                model=self._model,
                input=list(texts),
                dimensions=self.dimensions or openai.omit,
                encoding_format="float",
            )
        except openai.APIStatusError as cause:
            if (address := moved_to(cause.response, "/embeddings")) is not None:
                raise EmbedderFailed(
                    "the embedding server redirects, which is not followed: set"
                    f" TAPEWAY_SEARCH__BASE_URL to {address or 'its new address'}"
                ) from None
            # The server's message is left out, because it may repeat the input.
            raise EmbedderFailed(
                f"the embedding server answered {cause.status_code} for the model"
                f" {self._model}: check TAPEWAY_SEARCH__MODEL, __BASE_URL and __API_KEY"
            ) from None
        except (openai.OpenAIError, httpx2.HTTPError, aiohttp.ClientError, ValueError) as cause:
            if why := broken_proxy(cause, str(self._client.base_url)):
                raise EmbedderFailed(why) from None
            raise EmbedderFailed(
                f"the embedding server cannot be reached ({type(cause).__name__}):"
                " check TAPEWAY_SEARCH__BASE_URL"
            ) from None
        found = sorted(answer.data or (), key=lambda one: one.index)
        return [one.embedding for one in found]

    async def aclose(self) -> None:
        await self._client.close()


def make_openai_embedder(settings: Settings) -> OpenAIEmbedder:
    """Return the configured embedder; raises SettingsError if the API key is missing."""
    own, agent = settings.search, settings.model()
    key = own.api_key.get_secret_value()
    base_url = own.base_url
    if not base_url:
        base_url = agent.base_url or os.environ.get("OPENAI_BASE_URL", "")
        key = key or agent.key() or os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and not base_url:
        raise SettingsError(
            "TAPEWAY_SEARCH__EMBEDDER is openai, but no key is set; for example"
            " TAPEWAY_SEARCH__API_KEY=sk-..., or TAPEWAY_SEARCH__BASE_URL for a server of your own"
        )
    return OpenAIEmbedder(own.model or MODEL, base_url, key, own.dimensions)
