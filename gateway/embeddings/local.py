"""Embeddings from a small static model on this machine; needs the extra `semantic`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import anyio.to_thread

from gateway.errors import SettingsError
from gateway.settings import Settings
from tape.errors import EmbedderFailed
from tape.search.embedder import Vector

MODEL: Final = "minishlab/potion-multilingual-128M"
PACKAGE: Final = "model2vec"


class LocalEmbedder:
    """Computes embeddings with one model, loaded from a folder or downloaded by name."""

    def __init__(self, model: str, dimensions: int = 0) -> None:
        self.name = f"local {model} {dimensions}"
        self.dimensions = dimensions
        self._path = model
        self._model: Any = None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return await anyio.to_thread.run_sync(self._embed, list(texts))

    async def aclose(self) -> None:
        self._model = None

    def _embed(self, texts: list[str]) -> list[Vector]:
        try:
            if self._model is None:
                package = import_module(PACKAGE)
                self._model = package.StaticModel.from_pretrained(
                    self._path, dimensionality=self.dimensions or None, force_download=False
                )
            found: list[Vector] = self._model.encode(texts).tolist()
        except Exception as cause:
            raise EmbedderFailed(
                f"the embedding model {self._path} cannot be used ({type(cause).__name__}):"
                " set TAPEWAY_SEARCH__MODEL to its folder, or allow its download"
            ) from cause
        return found


def make_local_embedder(settings: Settings) -> LocalEmbedder:
    """Return the configured embedder; raises SettingsError if the extra `semantic` is missing."""
    if find_spec(PACKAGE) is None:
        raise SettingsError(
            f"TAPEWAY_SEARCH__EMBEDDER is local, but the package {PACKAGE} is not installed:"
            " install tapeway with the extra `semantic`, or set TAPEWAY_SEARCH__EMBEDDER=openai"
        )
    return LocalEmbedder(settings.search.model or MODEL, settings.search.dimensions)
