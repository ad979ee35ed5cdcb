"""Open the configured embedder, and the semantic index that uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gateway.logs import get_log
from gateway.settings import Settings
from tape.search.embedder import Embedder
from tape.search.semantic import SemanticIndex
from tape.search.vector_file import drop_vectors
from tape.search.vectors import VectorStore
from tape.store import TapeStore

EMBEDDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "openai": "gateway.embeddings.openai:make_openai_embedder",
        "local": "gateway.embeddings.local:make_local_embedder",
    }
)
"""Maps settings to embedders; an SDK is imported only if its embedder is configured."""


def make_embedder(settings: Settings) -> Embedder | None:
    name = settings.search.embedder
    if not name:
        return None
    module, _, attribute = EMBEDDERS[name].partition(":")
    make: Callable[[Settings], Embedder] = getattr(import_module(module), attribute)
    return make(settings)


def open_meaning(settings: Settings, store: TapeStore) -> SemanticIndex | None:
    """Open the semantic index, or return None if no embedder is configured.

    A file of vectors is removed if the store keeps them itself.
    """
    if isinstance(store, VectorStore):
        drop_unused_vectors(settings)
    embedder = make_embedder(settings)
    if embedder is None:
        return None
    return SemanticIndex(store, embedder, _database(settings), notify=_warn)


def drop_unused_vectors(settings: Settings) -> None:
    """Remove the file of vectors, which nobody uses: it may have the meaning of erased words."""
    drop_vectors(_database(settings))


def _database(settings: Settings) -> Path:
    scheme, _, rest = settings.tape_url.partition(":")
    path = rest.removeprefix("//").split("?")[0]
    own = scheme == "sqlite" and path
    return Path(path) if own else settings.home_path / "tapeway.db"


def _warn(problem: str) -> None:
    get_log().warning("search.embedder_failed", problem=problem)
